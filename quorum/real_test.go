package quorum_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/internal/blackhole"
)

// onEachMode runs f on fresh servers for single, quorum of 3 and of 5.
func onEachMode(t *testing.T, f func(t *testing.T, s *servers)) {
	t.Helper()
	for _, n := range modes {
		t.Run(fmt.Sprintf("masters=%d", n), func(t *testing.T) {
			t.Parallel()
			f(t, startServers(t, n))
		})
	}
}

// Real servers without persistence restart one after the other.
func TestA01_RestartedServersAreGivenTheLeaseAgain(t *testing.T) {
	t.Parallel()
	s := startServers(t, 3)
	var rec recorder
	e := s.elector(t, s.store(t, nil), "a", rec.on)
	term := lead(t, e)
	for i, srv := range s.all {
		if err := srv.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := len(rec.of(election.Renewed))
		await(t, 10*time.Second, "two renewals after a restart", func() bool { return len(rec.of(election.Renewed)) >= before+2 })
		value, _ := s.do(t, (i+1)%3, "GET", leaseKey).(string)
		await(t, 2*time.Second, "the lease at the restarted server", func() bool { return s.do(t, i, "GET", leaseKey) == value && value != "" })
		if got := s.do(t, i, "HGET", recordKey, "token"); got != fmt.Sprint(term.Token()) {
			t.Errorf("server %d has token %v, the term %d", i, got, term.Token())
		}
	}
	if !term.Valid() || len(rec.of(election.TermStarted, election.TermStopping)) != 1 {
		t.Errorf("valid %t, %v", term.Valid(), rec.of(election.TermStarted, election.TermStopping))
	}
}

// await polls until f is true.
func await(t *testing.T, limit time.Duration, what string, f func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(limit); !f(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", limit, what)
		}
	}
}

// One of three servers is stopped: acquire, renew and release keep to the time of
// the other two, also with a client of default options, and nothing accumulates.
func TestB14_StoppedServer(t *testing.T) {
	for name, change := range map[string]func(*redis.Options){"strict": nil, "defaults": defaults} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServers(t, 3)
			clients := s.clients(t, change)
			st := newStore(t, clients, "job", quietOptions)
			times := func(rounds int) (all [3][]time.Duration) {
				for range rounds {
					cycle(t, st, &all)
					settle(t, st)
				}
				return all
			}
			times(10)
			healthy := times(40)
			if err := s.all[1].Pause(); err != nil {
				t.Fatal(err)
			}
			stopped := times(8)
			base := runtime.NumGoroutine()
			const slack = 20 * time.Millisecond // the machine's, not the protocol's
			for i, op := range []string{"acquire", "renew", "release"} {
				h, p := median(healthy[i]), median(stopped[i])
				t.Logf("%s: median %s healthy, %s with one of three stopped", op, h, p)
				if p > 2*h+slack {
					t.Errorf("%s takes %s with one of three stopped, %s before", op, p, h)
				}
			}
			g := win(t, st, bid("a", 5*time.Second))
			for i := range 100 {
				if _, err := st.Renew(t.Context(), g); err != nil {
					t.Fatalf("renewal %d: %v", i, err)
				}
			}
			if n := clients[1].PoolStats().TotalConns; n > 10 {
				t.Errorf("%d connections to the stopped server", n)
			}
			settle(t, st)
			await(t, 5*time.Second, "goroutines go back to what they were", func() bool { return runtime.NumGoroutine() <= base+40 })
			if err := s.all[1].Resume(); err != nil {
				t.Fatal(err)
			}
			if _, err := st.Release(t.Context(), g); err != nil {
				t.Error(err)
			}
			settle(t, st)
		})
	}
}

// cycle is one acquire, renew and release; what each took is added to all.
func cycle(t *testing.T, st election.Store, all *[3][]time.Duration) {
	t.Helper()
	at := time.Now()
	took := func(i int) { all[i] = append(all[i], time.Since(at)); at = time.Now() }
	g := win(t, st, bid("a", 2*time.Second))
	took(0)
	if _, err := st.Renew(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	took(1)
	if _, err := st.Release(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	took(2)
}

func median(d []time.Duration) time.Duration {
	d = slices.Clone(d)
	slices.Sort(d)
	return d[len(d)/2]
}

// No term is lost in 100 renewals while one of three servers is stopped.
func TestB14_NoTermIsLost(t *testing.T) {
	t.Parallel()
	s := startServers(t, 3)
	var rec recorder
	e := s.elector(t, s.store(t, defaults), "a", rec.on, ttl(1500*time.Millisecond), func(o *election.Options) { o.Renew = 100 * time.Millisecond })
	term := lead(t, e)
	if err := s.all[2].Pause(); err != nil {
		t.Fatal(err)
	}
	await(t, 30*time.Second, "100 renewals", func() bool { return len(rec.of(election.Renewed)) >= 100 || !term.Valid() })
	if !term.Valid() {
		t.Errorf("after %d renewals: %v", len(rec.of(election.Renewed)), term.Loss())
	}
	if err := s.all[2].Resume(); err != nil {
		t.Fatal(err)
	}
}

// Behind proxies that go dark: the term ends before the store ends the lease.
func TestC01_BlackHoledLeaderOnServers(t *testing.T) {
	onEachMode(t, func(t *testing.T, s *servers) {
		var proxies []*blackhole.Proxy
		var clients []redis.UniversalClient
		for _, srv := range s.all {
			p, err := blackhole.New(srv.Addr())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = p.Close() })
			proxies = append(proxies, p)
			clients = append(clients, s.client(t, p.Addr(), defaults))
		}
		e := s.elector(t, newStore(t, clients, "job", quietOptions), "a", ttl(time.Second))
		for range 3 {
			term := lead(t, e)
			pass(500 * time.Millisecond)
			for _, p := range proxies {
				p.Cut()
			}
			await(t, 10*time.Second, "the end of the term", func() bool {
				held := 0
				for i := range s.all {
					if v := s.do(t, i, "GET", leaseKey); v != nil {
						held++
					}
				}
				// Asked after the servers were: what is true now was true then.
				valid, live := term.Valid(), term.Context().Err() == nil
				if held <= len(s.all)/2 && (valid || live) {
					t.Errorf("only %d of %d servers keep the lease; valid %t, context alive %t", held, len(s.all), valid, live)
				}
				return !valid
			})
			if err := context.Cause(term.Context()); !errors.Is(err, election.ErrLostContact) {
				t.Errorf("cause %v", err)
			}
			for _, p := range proxies {
				p.Heal()
			}
		}
	})
}

// All servers are stopped: each call keeps to its context of 100 ms, with
// go-redis' default options.
func TestD01_StoppedServers(t *testing.T) {
	onEachMode(t, func(t *testing.T, s *servers) {
		st := s.store(t, func(o *redis.Options) { *o = redis.Options{Addr: o.Addr} })
		g := win(t, st, bid("a", time.Minute))
		settle(t, st)
		for _, srv := range s.all {
			if err := srv.Pause(); err != nil {
				t.Fatal(err)
			}
		}
		for op, call := range map[string]func(context.Context) error{
			"acquire": func(ctx context.Context) error { _, err := st.Acquire(ctx, bid("b", time.Minute)); return err },
			"renew":   func(ctx context.Context) error { _, err := st.Renew(ctx, g); return err },
			"release": func(ctx context.Context) error { _, err := st.Release(ctx, g); return err },
		} {
			best := time.Hour // of several tries: the machine may be busy with others
			for try := 0; try < 10 && best > 150*time.Millisecond; try++ {
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				start := time.Now()
				err := call(ctx)
				best = min(best, time.Since(start))
				cancel()
				if !errors.Is(err, election.ErrUnreachable) || heldByOther(err) {
					t.Errorf("%s: %v", op, err)
				}
			}
			t.Logf("%s: %s", op, best)
			if best > 150*time.Millisecond {
				t.Errorf("%s takes %s with a context of 100ms", op, best)
			}
		}
		for _, srv := range s.all {
			if err := srv.Resume(); err != nil {
				t.Fatal(err)
			}
		}
		settle(t, st)
	})
}

// What a standby costs by the servers' own count.
func TestStandbyCostOnServers(t *testing.T) {
	onEachMode(t, func(t *testing.T, s *servers) {
		const d, terms = 2 * time.Second, 3
		var rec recorder
		lead(t, s.elector(t, s.store(t, nil), "a", ttl(d), rec.on))
		ctx, cancel := context.WithCancel(t.Context())
		standby := campaign(ctx, s.elector(t, s.store(t, nil), "b", ttl(d)))
		pass(d)
		sent := 1e9 // in the quietest of several windows: a late renewal costs a look more
		for window := 0; window < 4 && sent > maxStandbyCost*terms+1; window++ {
			leaders, before := len(rec.of(election.Renewed, election.RenewFailed)), s.calls(t)
			pass(terms * d)
			after := s.calls(t)
			leaders = len(rec.of(election.Renewed, election.RenewFailed)) - leaders
			sent = min(sent, float64(after-before)/float64(len(s.all))-float64(leaders))
		}
		cancel()
		<-standby
		t.Logf("%.2f commands a TTL and master", sent/terms)
		if sent > maxStandbyCost*terms+1 { // the edges may split a renewal's commands
			t.Errorf("a standby sends %.1f commands a master in %d TTLs", sent, terms)
		}
	})
}

// calls counts the commands of clients so far, but for those of scripts and ours.
func (s *servers) calls(t *testing.T) (n int) {
	t.Helper()
	for i := range s.all {
		info, _ := s.do(t, i, "INFO", "commandstats").(string)
		for line := range strings.Lines(info) {
			name, rest, _ := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":")
			var calls int
			if _, err := fmt.Sscanf(rest, "calls=%d", &calls); err != nil {
				continue
			}
			switch name {
			case "evalsha", "eval", "ping", "subscribe", "hello":
				n += calls
			}
		}
	}
	return n
}
