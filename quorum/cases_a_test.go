package quorum_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/internal/simnet"
	"incumbent/quorum"
	"incumbent/single"
)

// One master after another restarts empty: each is given the lease again, and
// nobody notices.
func TestA01_RestartedEmptyMasterIsGivenTheLeaseAgain(t *testing.T) {
	for _, n := range []int{3, 5} {
		inWorld(t, 1, n, func(t *testing.T, w *world) {
			var rec recorder
			e := w.elector("a", rec.on)
			term := lead(t, e)
			for i, m := range w.masters {
				m.Crash()
				time.Sleep(1100 * time.Millisecond) // one renewal misses it
				m.Restart(true)
				time.Sleep(2100 * time.Millisecond) // two renewals
				if v, _ := m.Get(leaseKey); w.holders(v) != n {
					t.Errorf("after the restart of master %d: %d of %d hold %q", i, w.holders(v), n, v)
				}
				if m.HGetAll(recordKey)["token"] != fmt.Sprint(term.Token()) {
					t.Errorf("master %d has the record %v, want token %d", i, m.HGetAll(recordKey), term.Token())
				}
			}
			if !term.Valid() || len(rec.of(election.TermStarted, election.TermStopping)) != 1 {
				t.Errorf("valid %t, events %v", term.Valid(), rec.of(election.TermStarted, election.TermStopping))
			}
			down, up := 0, 0
			for _, ev := range rec.of(election.Renewed) {
				switch {
				case ev.Held == n-1 && up == down:
					down++
				case ev.Held == n && up < down:
					up++
				}
			}
			if down != n || up != n {
				t.Errorf("the number of holders fell %d times and rose %d times, want %d", down, up, n)
			}
			shut(t, e)
		})
	}
}

// A leader that was frozen for longer than its lease, with no rival about, does
// not find its term alive again.
func TestA02_FrozenLeaderDoesNotReviveItsLease(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		e := w.elector("a")
		term := lead(t, e)
		w.Freeze("a")
		time.Sleep(6 * time.Second)
		w.Thaw("a")
		time.Sleep(time.Second)
		if term.Valid() || term.Loss() == nil {
			t.Error("the lapsed term is valid")
		}
		for _, m := range w.masters {
			if v, ok := m.Get(leaseKey); ok {
				t.Errorf("the lease is there again: %q", v)
			}
		}
		if again := lead(t, e); again.Token() <= term.Token() {
			t.Errorf("token %d after %d", again.Token(), term.Token())
		}
		shut(t, e)
	})
}

// Fewer than a majority hold our value: lost, and nothing is put back.
func TestA02_RenewWithoutTheLeaseIsLost(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		e := w.elector("a")
		term := lead(t, e)
		w.deleteLease(len(w.masters))
		if err := lossOf(t, term, time.Second); !errors.Is(err, election.ErrExpired) {
			t.Errorf("cause %v", err)
		}
		if w.holders("") != len(w.masters) {
			t.Error("the lease was put back")
		}
		if again := lead(t, e); again.Token() <= term.Token() {
			t.Errorf("token %d after %d", again.Token(), term.Token())
		}
		shut(t, e)
	})
}

// What remains is never more than what the masters keep, whatever the network
// does (A04, A27).
func TestA04_RemainingIsNeverMoreThanTheServersTime(t *testing.T) {
	for _, delay := range []time.Duration{0, 200 * time.Millisecond, 350 * time.Millisecond, 1200 * time.Millisecond} {
		eachMode(t, func(t *testing.T, w *world) {
			e := w.elector("a")
			term := lead(t, e)
			for i, m := range w.masters {
				w.Slow("a", m, delay/2+time.Duration(i)*time.Millisecond)
			}
			for range 600 {
				time.Sleep(10 * time.Millisecond)
				var keep []time.Duration
				for _, m := range w.masters {
					keep = append(keep, m.PTTL(leaseKey))
				}
				if r, most := term.Remaining(), kth(keep, w.need()); r > most {
					t.Fatalf("delay %s: %s remain, the masters keep %v", delay, r, keep)
				}
			}
			for _, m := range w.masters {
				w.Slow("a", m, 0)
			}
			shut(t, e)
		})
	}
}

// kth is the k-th largest.
func kth(d []time.Duration, k int) time.Duration {
	best := time.Duration(-1)
	for _, x := range d {
		n := 0
		for _, y := range d {
			if y >= x {
				n++
			}
		}
		if n >= k && x > best {
			best = x
		}
	}
	return best
}

// All masters grant, but slowly: a typed error that names the time, and nothing
// is left behind.
func TestA06_SlowGrantsAreNotUsed(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st := w.store("a")
		for _, m := range w.masters {
			w.Slow("a", m, 2*time.Second)
		}
		_, err := st.Acquire(t.Context(), bid("a", 3*time.Second))
		if err == nil || heldByOther(err) || errors.Is(err, election.ErrContended) || !errors.Is(err, election.ErrUnreachable) {
			t.Errorf("acquire over a slow network: %v", err)
		}
		for _, m := range w.masters {
			w.Slow("a", m, 0)
		}
		settle(t, st)
		time.Sleep(5 * time.Second) // all that was late has come by now
		if w.holders("") != len(w.masters) {
			t.Error("a lease that nobody owns was left behind")
		}
	})
}

func TestA07_RenewOfAnExpiredLeaseTakesNothing(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st := w.store("a")
		g := win(t, st, bid("a", time.Second))
		time.Sleep(1100 * time.Millisecond)
		if _, err := st.Renew(t.Context(), g); !errors.Is(err, election.ErrExpired) {
			t.Errorf("renew: %v", err)
		}
		settle(t, st)
		if w.holders("") != len(w.masters) {
			t.Error("renew took the lease again")
		}
	})
}

func TestA09_FirstHandleServesTheWholeTerm(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st := w.store("a")
		g := win(t, st, bid("a", time.Second))
		for range 5 {
			time.Sleep(400 * time.Millisecond)
			if _, err := st.Renew(t.Context(), g); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := st.Release(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		settle(t, st)
		if w.holders("") != len(w.masters) {
			t.Error("the lease is still there")
		}
	})
}

func TestA10_ReleaseOfAnExpiredLeaseSaysSo(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		e, thief := w.elector("a"), w.store("b")
		term := lead(t, e)
		w.Isolate("a")
		time.Sleep(4 * time.Second)
		rival := win(t, thief, bid("b", 3*time.Second))
		settle(t, thief)
		w.Rejoin("a")
		if err := term.Resign(t.Context()); !errors.Is(err, election.ErrExpired) && !errors.Is(err, election.ErrTaken) {
			t.Errorf("resign of a lapsed term: %v", err)
		}
		shut(t, e)
		if w.holders(rival.Value) != len(w.masters) {
			t.Error("the rival lost its lease")
		}
	})
}

// The masters apply the bid and their answers are lost: the bid is undone, and
// somebody else leads long before a TTL has passed.
func TestA11_UnansweredBidIsUndone(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		a, b := w.store("a"), w.elector("b", ttl(time.Minute))
		g := win(t, a, bid("a", time.Minute)) // scripts are loaded, connections are open
		if _, err := a.Release(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		settle(t, a)
		for _, m := range w.masters {
			m.DropReply("a", "EVALSHA", 1, simnet.Stall)
		}
		lost := bid("a", time.Minute)
		start := time.Now()
		result := make(chan error, 1)
		go func() { _, err := a.Acquire(t.Context(), lost); result <- err }()
		time.Sleep(20 * time.Millisecond)
		if w.holders(lost.Value) != len(w.masters) {
			t.Fatal("the bid did not arrive")
		}
		term := lead(t, b)
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("somebody else leads only after %s", took)
		}
		if err := <-result; !errors.Is(err, election.ErrUnreachable) || heldByOther(err) {
			t.Errorf("the unanswered bid: %v", err)
		}
		settle(t, a)
		if !term.Valid() {
			t.Error("the clean-up ended the rival's term")
		}
		shut(t, b)
	})
}

// The first reply is swallowed and the connection closed, under a client with
// go-redis' default retries: no candidate loses to itself.
func TestA12_LostReplyIsNotALostBid(t *testing.T) {
	retries := func(o *redis.Options) { o.MaxRetries, o.ContextTimeoutEnabled = 3, false }
	eachMode(t, func(t *testing.T, w *world) {
		st := w.store("a", retries)
		for _, m := range w.masters {
			m.DropReply("a", "EVALSHA", 1, simnet.Reset)
			m.DropReply("a", "EVAL", 1, simnet.Reset)
		}
		start := time.Now()
		var rec recorder
		e := w.electorOn("a", st, ttl(time.Minute), rec.on)
		term := lead(t, e)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("leads only after %s", took)
		}
		for _, ev := range rec.of(election.BidRefused) {
			if heldByOther(ev.Err) && !strings.Contains(ev.Err.Error(), "unknown") {
				t.Errorf("a bid lost to itself: %v", ev.Err)
			}
		}
		if !term.Valid() {
			t.Error("not valid")
		}
		shut(t, e)
	})
}

// One script a master does it all; a candidate that dies at any point of its bid
// leaves no lease without an expiry.
func TestA14_DeathAtAnyPointLeavesNoLeaseForEver(t *testing.T) {
	for _, n := range modes {
		for point := 1; point <= 2*n+2; point++ {
			inWorld(t, 1, n, func(t *testing.T, w *world) {
				dieAt(t, w, point)
			})
		}
	}
}

func dieAt(t *testing.T, w *world, point int) {
	st := w.store("a")
	seen := 0
	w.OnCommand(func(c simnet.Command) {
		switch name := strings.ToUpper(c.Args[0]); name {
		case "HELLO", "CLIENT", "INFO", "SUBSCRIBE":
		case "EVALSHA", "EVAL":
			if seen++; seen == point {
				w.Isolate(c.Host)
			}
		default:
			t.Errorf("a bid sends %q", c.Args)
		}
	})
	_, _ = st.Acquire(t.Context(), bid("a", 3*time.Second)) // it may win or fail
	for i, m := range w.masters {
		if m.PTTL(leaseKey) == simnet.NoExpiry {
			t.Errorf("dead after %d scripts: master %d keeps the lease for ever", point, i)
		}
	}
	w.OnCommand(nil)
	start := time.Now()
	e := w.elector("b")
	lead(t, e)
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("dead after %d scripts: the next leader came after %s", point, took)
	}
	shut(t, e)
	w.Rejoin("a")
	settle(t, st)
}

// Nobody can ask for no attempt at all: there is no number of tries to set, and
// zero options mean working defaults.
func TestA17_ZeroOptionsMakeOneAttempt(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		w.opt = single.Options{AssumeNew: true}
		win(t, w.store("a"), bid("a", time.Second))
	})
	for _, o := range []single.Options{{Timeout: -1}, {Timeout: time.Microsecond}, {Retention: -1}, {Retention: time.Minute}} {
		c := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
		if _, err := single.New(c, "job", o); err == nil || !strings.Contains(err.Error(), "option ") {
			t.Errorf("single with %+v: %v", o, err)
		}
		if _, err := quorum.New([]redis.UniversalClient{c, c, c}, "job", o); err == nil || !strings.Contains(err.Error(), "option ") {
			t.Errorf("quorum with %+v: %v", o, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestA18_StoreDownAtStart(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		w.opt.GuardsOff = election.AllGuards
		for _, m := range w.masters {
			m.Crash()
		}
		var rec recorder
		e := w.elector("a", rec.on)
		c := campaign(t.Context(), e)
		time.Sleep(time.Second)
		for _, m := range w.masters {
			m.Restart(true)
		}
		up := time.Now()
		r := <-c
		if r.err != nil || r.at.Sub(up) > 2*time.Second {
			t.Errorf("won %s after the store came up: %v", r.at.Sub(up), r.err)
		}
		for _, ev := range rec.of(election.BidRefused) {
			if !errors.Is(ev.Err, election.ErrUnreachable) || heldByOther(ev.Err) {
				t.Errorf("refused with %v", ev.Err)
			}
		}
		shut(t, e)
	})
}

func TestA20_GivingUpMatchesBothErrors(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		a, b := w.elector("a"), w.elector("b")
		lead(t, a)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		for ctx, want := range map[context.Context]error{ended: context.Canceled, short: context.DeadlineExceeded} {
			if _, err := b.Campaign(ctx); !errors.Is(err, want) || !errors.Is(err, election.ErrNotAcquired) {
				t.Errorf("%v", err)
			}
		}
		shut(t, b, a)
	})
}

// Gone, taken and unreachable are three reasons, in error and word alike.
func TestA21_LossesAreToldApart(t *testing.T) {
	for _, tt := range []struct {
		word   string
		reason error
		harm   func(t *testing.T, w *world)
	}{
		{"expired", election.ErrExpired, func(t *testing.T, w *world) { w.deleteLease(len(w.masters)) }},
		{"taken", election.ErrTaken, func(t *testing.T, w *world) {
			w.opt.GuardsOff = election.AllGuards
			w.deleteLease(len(w.masters))
			win(t, w.store("thief"), bid("thief", time.Minute))
		}},
		{"unreachable", election.ErrLostContact, func(t *testing.T, w *world) { w.Isolate("a") }},
	} {
		eachMode(t, func(t *testing.T, w *world) {
			e := w.elector("a")
			term := lead(t, e)
			tt.harm(t, w)
			err := lossOf(t, term, 3*time.Second)
			for _, reason := range []error{election.ErrExpired, election.ErrTaken, election.ErrLostContact, election.ErrRefused} {
				if errors.Is(err, reason) != (reason == tt.reason) {
					t.Errorf("%s: cause %v", tt.word, err)
				}
			}
			if w := term.Loss().Word(); w != tt.word {
				t.Errorf("word %q, want %q", w, tt.word)
			}
			w.Rejoin("a")
			shut(t, e)
		})
	}
}

// Rapid cycles of winning, cancelling and giving back: afterwards silence.
func TestA22_NothingIsSentAfterARelease(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		e := w.elector("a")
		for range 100 {
			ctx, cancel := context.WithCancel(t.Context())
			term, err := e.Campaign(ctx)
			cancel()
			if err != nil {
				t.Fatal(err)
			}
			if err := term.Resign(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		shut(t, e)
		before := w.commands("")
		time.Sleep(3 * time.Second)
		if n := w.commands("") - before; n != 0 {
			t.Errorf("%d commands after the last release", n)
		}
		if w.holders("") != len(w.masters) {
			t.Error("a lease without a holder")
		}
	})
}

// A late answer of a slow master to a renewal must not lead to a re-seat after
// the term was given back.
func TestA22_NothingIsHealedAfterARelease(t *testing.T) {
	inWorld(t, 1, 3, func(t *testing.T, w *world) {
		st := w.store("a")
		g := win(t, st, bid("a", 10*time.Second))
		settle(t, st)
		slow := w.masters[2]
		w.Slow("a", slow, 50*time.Millisecond)
		slow.Evict(leaseKey)
		if _, err := st.Renew(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		if _, err := st.Release(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		settle(t, st)
		if w.holders("") != 3 {
			t.Error("a lease was put back after the release")
		}
	})
}

// A term whose renewal failed once does not spoil the next one.
func TestA23_NextTermIsRenewed(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		var rec recorder
		e := w.elector("a", rec.on)
		term := lead(t, e)
		w.Isolate("a")
		time.Sleep(2 * time.Second)
		w.Rejoin("a")
		time.Sleep(300 * time.Millisecond)
		if len(rec.of(election.RenewFailed)) == 0 {
			t.Fatal("no renewal failed")
		}
		if err := term.Resign(t.Context()); err != nil {
			t.Errorf("resign: %v", err)
		}
		term = lead(t, e)
		before := len(rec.of(election.Renewed))
		for range 150 {
			time.Sleep(100 * time.Millisecond)
			for i, m := range w.masters {
				if left := m.PTTL(leaseKey); left < time.Second {
					t.Fatalf("master %d: %s left", i, left)
				}
			}
		}
		if n := len(rec.of(election.Renewed)) - before; n < 10 || !term.Valid() {
			t.Errorf("%d renewals in 5 TTL, valid %t", n, term.Valid())
		}
		shut(t, e)
	})
}

func TestA24_ShortOutageCostsNothing(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		var rec recorder
		e := w.elector("a", rec.on)
		term := lead(t, e)
		for range 5 {
			time.Sleep(2 * time.Second)
			for _, m := range w.masters {
				m.Hang()
			}
			time.Sleep(1200 * time.Millisecond) // 0.4 TTL
			for _, m := range w.masters {
				m.Resume()
			}
		}
		time.Sleep(time.Second)
		if !term.Valid() || len(rec.of(election.TermStarted, election.TermStopping)) != 1 || len(rec.of(election.RenewFailed)) == 0 {
			t.Errorf("valid %t, %d failed renewals, %v", term.Valid(), len(rec.of(election.RenewFailed)), term.Loss())
		}
		shut(t, e)
	})
}

func TestA26_TenQuietMinutes(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		for _, h := range []string{"a", "b"} {
			for _, m := range w.masters {
				w.SetLatency(h, m, simnet.Latency{Min: 20 * time.Millisecond, Max: 30 * time.Millisecond})
			}
		}
		var rec recorder
		defaults := func(o *election.Options) { o.TTL = 0 }
		a, b := w.elector("a", rec.on, defaults), w.elector("b", rec.on, defaults)
		term := lead(t, a)
		standby := campaign(t.Context(), b)
		time.Sleep(10 * time.Minute)
		if !term.Valid() || len(rec.of(election.TermStarted, election.TermStopping)) != 1 || len(rec.of(election.RenewFailed)) != 0 {
			t.Errorf("valid %t, transitions %v", term.Valid(), rec.of(election.TermStarted, election.TermStopping))
		}
		shut(t, b, a)
		<-standby
	})
}

// Each renewal's reply is held for 0.8 TTL: trust ends before the lease does.
func TestA27_SlowRepliesDoNotStretchTrust(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		e := w.elector("a")
		term := lead(t, e)
		for _, m := range w.masters {
			w.Slow("a", m, 1200*time.Millisecond)
		}
		for term.Valid() {
			time.Sleep(5 * time.Millisecond)
			n := 0
			for _, m := range w.masters {
				if m.PTTL(leaseKey) > 0 {
					n++
				}
			}
			if term.Valid() && n < w.need() {
				t.Fatal("valid after the lease had ended")
			}
		}
		for _, m := range w.masters {
			w.Slow("a", m, 0)
		}
		shut(t, e)
	})
}

func TestA28_ReleaseCanBeRepeated(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		e := w.elector("a")
		term := lead(t, e)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := term.Resign(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("resign with an ended context: %v", err)
		}
		if err := term.Resign(t.Context()); err != nil {
			t.Errorf("resign after that: %v", err)
		}
		shut(t, e)
		if w.holders("") != len(w.masters) {
			t.Error("the lease is still there")
		}
	})
}

// A campaign is cancelled at every instant around its win: whoever never led
// reports nothing, and no lease stays behind.
func TestA30_CancelAtEveryInstantOfABid(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		for i := range 50 {
			var rec recorder
			e := w.elector("a", rec.on)
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*50*time.Microsecond)
			term, err := e.Campaign(ctx)
			cancel()
			if err == nil && !term.Valid() {
				t.Error("won a term that is not valid")
			}
			shut(t, e)
			time.Sleep(10 * time.Millisecond)
			starts, stops := len(rec.of(election.TermStarted)), len(rec.of(election.TermEnded))
			if starts != stops || (starts == 1) != (err == nil) {
				t.Errorf("cancelled after %d: %d starts, %d ends, %v", i, starts, stops, err)
			}
			if w.holders("") != len(w.masters) {
				t.Fatalf("cancelled after %d: a lease that nobody owns", i)
			}
		}
	})
}

// Clean-up that arrives late, while a rival holds the lease, touches nothing, and
// no key is ever deleted outside of the script that compares.
func TestA33_LoserDeletesNothingOfTheWinner(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		w.OnCommand(func(c simnet.Command) {
			if name := strings.ToUpper(c.Args[0]); name == "DEL" || name == "UNLINK" {
				t.Errorf("%s sends %q", c.Host, c.Args)
			}
		})
		a, b := w.store("a"), w.elector("b")
		lost := bid("a", 3*time.Second)
		win(t, a, lost)
		settle(t, a)
		w.Isolate("a") // what it sends from now on arrives later
		for range 3 {
			_, _ = a.Acquire(t.Context(), bid("a", 3*time.Second)) // unreachable; its clean-up is under way
		}
		term := lead(t, b)
		w.Rejoin("a")
		settle(t, a)
		time.Sleep(500 * time.Millisecond)
		if !term.Valid() {
			t.Error("the winner lost its term")
		}
		value, _ := w.masters[0].Get(leaseKey)
		if w.holders(value) < w.need() {
			t.Error("the winner lost its lease")
		}
		w.OnCommand(nil)
		shut(t, b)
	})
}

// The caller gives up at every instant of a bid: what the bid still wins is
// undone.
func TestA11_AbandonedBidIsUndone(t *testing.T) {
	for _, n := range []int{3, 5} {
		inWorld(t, 1, n, func(t *testing.T, w *world) {
			st := w.store("a")
			abandoned := 0
			for i := range 80 {
				ctx, cancel := context.WithCancel(t.Context())
				stop := time.AfterFunc(time.Duration(i)*25*time.Microsecond, cancel).Stop
				g, err := st.Acquire(ctx, bid("a", time.Minute))
				stop()
				cancel()
				settle(t, st)
				if err == nil {
					if _, err := st.Release(t.Context(), g); err != nil {
						t.Error(err)
					}
					settle(t, st)
				} else if abandoned++; !errors.Is(err, context.Canceled) {
					t.Errorf("given up at %d: %v", i, err)
				}
				if w.holders("") != n {
					t.Fatalf("given up at %d: a lease that nobody owns", i)
				}
			}
			if abandoned < 20 || abandoned == 80 {
				t.Errorf("%d of 80 bids were given up", abandoned)
			}
		})
	}
}

// Clean-up never overtakes the vote that it undoes (R10): a vote that is slow to
// arrive is waited for.
func TestA11_UndoWaitsForTheVote(t *testing.T) {
	inWorld(t, 1, 3, func(t *testing.T, w *world) {
		a, b := w.store("a"), w.store("b")
		g := win(t, a, bid("a", time.Minute))
		settle(t, a)
		if _, err := b.Acquire(t.Context(), bid("b", time.Minute)); !heldByOther(err) { // opens its connections
			t.Fatal(err)
		}
		settle(t, b)
		slow := w.masters[2]
		slow.Evict(leaseKey)
		w.Slow("b", slow, 80*time.Millisecond)
		if _, err := b.Acquire(t.Context(), bid("b", time.Minute)); !heldByOther(err) {
			t.Fatal(err)
		}
		w.Slow("b", slow, 0) // what is sent from now on arrives first
		settle(t, b)
		if v, ok := slow.Get(leaseKey); ok {
			t.Errorf("the vote that was refused elsewhere stands: %q", v)
		}
		if _, err := a.Renew(t.Context(), g); err != nil {
			t.Error(err)
		}
		settle(t, a)
		if w.holders(g.Value) != 3 {
			t.Error("the leader was not given its vote back")
		}
	})
}
