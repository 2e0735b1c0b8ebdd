package single_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/internal/redisproc"
	"incumbent/single"
)

// campaign runs Campaign in the background, and says when it returned.
func campaign(t *testing.T, e election.Elector) <-chan time.Time {
	t.Helper()
	won := make(chan time.Time, 1)
	go func() {
		if _, err := e.Campaign(t.Context()); err != nil {
			t.Errorf("campaign: %v", err)
		}
		won <- time.Now()
	}()
	return won
}

// B01: SIGTERM to a process that leads with a TTL of 30 s hands over at once.
func TestB01_SIGTERMHandsOver(t *testing.T) {
	t.Parallel()
	s := startServer(t, redisproc.Options{})
	const ttl = 30 * time.Second
	p := startLeader(t, s.Addr(), ttl, "calm")
	var stands sync.Once
	standing := make(chan struct{})
	e := elector(t, s.store(t), "b", func(o *election.Options) {
		o.TTL = ttl
		o.Observer = func(ev election.Event) {
			if ev.Kind == election.BidRefused {
				stands.Do(func() { close(standing) })
			}
		}
	})
	won := campaign(t, e)
	<-standing
	await(t, 10*time.Second, "the standby listens", func() bool { return s.do(t, "PUBSUB", "NUMSUB", "incumbent:{job}:released").([]any)[1] == int64(1) })
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	at := <-won
	t.Logf("handed over after %s", at.Sub(start))
	if took := at.Sub(start); took > ttl/6 { // a busy machine is slow; a lease that is waited out takes 25 s
		t.Errorf("handed over after %s", took)
	}
	for range p.lines {
	}
	if err := <-p.ended; err != nil {
		t.Errorf("the process ended with %v", err)
	}
}

// B02: the parent context ends while a renewal is on its way to a real server: when
// Run returns the lease is gone, each time.
func TestB02_ParentEndsOnAServer(t *testing.T) {
	t.Parallel()
	s := startServer(t, redisproc.Options{})
	c := client(t, s.Addr())
	renewal := make(chan struct{})
	c.AddHook(notice{func(cmd redis.Cmder) {
		if cmd.Name() == "evalsha" && cmd.Args()[2] == 2 && isRenewal(cmd) {
			select {
			case renewal <- struct{}{}:
			default: // nobody waits for it
			}
		}
	}})
	e := elector(t, newStore(t, c), "a", func(o *election.Options) { o.TTL, o.Renew = 10*time.Second, 5*time.Millisecond })
	for i := range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- election.Run(ctx, e, func(ctx context.Context, _ *election.Term) error { <-ctx.Done(); return nil })
		}()
		<-renewal
		pass(time.Duration(i%20) * 10 * time.Microsecond)
		cancel()
		start := time.Now()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if v := s.do(t, "GET", leaseKey); v != nil || time.Since(start) > 5*time.Second {
			t.Fatalf("round %d: after %s the lease is %v", i, time.Since(start), v)
		}
	}
}

// isRenewal tells the script of a renewal by its arguments: value, TTL, token and
// how long the record is kept.
func isRenewal(cmd redis.Cmder) bool { return len(cmd.Args()) == 3+2+4 }

// notice is a hook that sees each command before it is sent.
type notice struct{ f func(redis.Cmder) }

func (n notice) DialHook(next redis.DialHook) redis.DialHook { return next }
func (n notice) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		n.f(cmd)
		return next(ctx, cmd)
	}
}
func (n notice) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// B05, D06: a server with a large append-only file is killed and started again, and
// says LOADING for a while: the leader ends by its deadline, the candidate says that
// the store is loading and nothing else, and leads soon after.
func TestB05_LoadingServer(t *testing.T) {
	t.Parallel()
	s := startServer(t, redisproc.Options{Persistence: redisproc.AOF, AcceptLoading: true, Args: []string{
		"appendfsync", "no", "key-load-delay", "200", "loading-process-events-interval-bytes", "1024"}})
	const ttl = 1500 * time.Millisecond
	var log lockedBuffer
	a := elector(t, s.store(t), "a")
	b := elector(t, s.store(t), "b", func(o *election.Options) { o.Logger = log.logger() })
	fill(t, s, 25_000) // 5 s at least
	term := lead(t, a)
	won := campaign(t, b)
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-term.Context().Done()
	if err := context.Cause(term.Context()); errors.Is(err, election.ErrTaken) || errors.Is(err, election.ErrExpired) {
		t.Errorf("cause %v", err)
	}
	probe := client(t, s.Addr())
	var up time.Time
	loading := 0
	await(t, time.Minute, "the end of loading", func() bool {
		err := probe.Get(t.Context(), leaseKey).Err()
		up = time.Now()
		if err != nil && strings.HasPrefix(err.Error(), "LOADING") {
			loading++
			return false
		}
		return errors.Is(err, redis.Nil) || err == nil
	})
	at := <-won
	t.Logf("loading was seen %d times; elected %s after its end", loading, at.Sub(up))
	if took := at.Sub(up); loading == 0 || took > ttl+2*ttl/3+time.Second { // what the lease had left, two retries, and the machine's
		t.Errorf("loading was seen %d times; elected %s after its end", loading, took)
	}
	if !strings.Contains(log.String(), election.ErrLoading.Error()) || strings.Count(log.String(), "LOADING") > 2 {
		t.Errorf("log:\n%s", &log)
	}
}

// fill writes so many keys.
func fill(t *testing.T, s *server, n int) {
	t.Helper()
	_, err := s.admin.Pipelined(t.Context(), func(p redis.Pipeliner) error {
		for i := range n {
			p.Set(t.Context(), "filler:"+strconv.Itoa(i), "x", 0)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// D08: a real server evicts lease and record under allkeys-lru: the loss is noticed
// within a renewal, as expired, and the next token is larger.
func TestD08_Evicted(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"allkeys-lru", "allkeys-random", "volatile-ttl"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, redisproc.Options{Args: []string{"maxmemory-policy", policy}})
			e := elector(t, s.store(t), "a")
			term := lead(t, e)
			used, _ := strconv.Atoi(parsed(s.do(t, "INFO", "memory").(string), "used_memory"))
			s.do(t, "CONFIG", "SET", "maxmemory", used+1<<20)
			value := strings.Repeat("x", 10<<10)
			for i := 0; s.do(t, "GET", leaseKey) != nil; i++ {
				s.do(t, "SET", fmt.Sprint("filler:", i), value, "EX", 3600)
				if i > 100_000 {
					t.Fatal("the lease is not evicted")
				}
			}
			start := time.Now()
			<-term.Context().Done()
			if err := context.Cause(term.Context()); !errors.Is(err, election.ErrExpired) {
				t.Errorf("cause %v", err)
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("noticed after %s", took)
			}
			s.do(t, "CONFIG", "SET", "maxmemory", "0")
			if next := lead(t, e); next.Token() <= term.Token() {
				t.Errorf("token %d after %d", next.Token(), term.Token())
			}
		})
	}
}

// parsed is a field of INFO.
func parsed(info, field string) string {
	_, rest, _ := strings.Cut(info, "\r\n"+field+":")
	value, _, _ := strings.Cut(rest, "\r\n")
	return value
}

// D12: without SCRIPT nothing is missing; without EVAL or EVALSHA, whichever way that
// was done, nothing is acquired and one line says why.
func TestD12_WaysToDisableScripts(t *testing.T) {
	t.Parallel()
	s := startServer(t, redisproc.Options{})
	user := func(name, rules string) *single.Store {
		args := []any{"ACL", "SETUSER", name, "on", ">pw", "~*", "&*", "+@all"}
		for word := range strings.FieldsSeq(rules) {
			args = append(args, word)
		}
		s.do(t, args...)
		return s.store(t, func(o *redis.Options) { o.Username, o.Password = name, "pw" })
	}
	if err := lead(t, elector(t, user("noscript", "-script"), "a")).Resign(t.Context()); err != nil {
		t.Error(err)
	}
	s.do(t, "FLUSHALL")
	for i, rules := range []string{"-eval", "-evalsha", "-@scripting", "-eval -evalsha -script"} {
		s.do(t, "SCRIPT", "FLUSH")
		_, err := elector(t, user(fmt.Sprint("u", i), rules), "a").Campaign(t.Context())
		typed(t, err, election.ErrScriptsDisabled, true)
		if !election.Permanent(err) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: permanent %t: %v", rules, election.Permanent(err), err)
		}
	}
	if n := s.do(t, "DBSIZE"); n != int64(0) {
		t.Errorf("%v keys were written", n)
	}
}

// D20: a process with one processor, which the work and the garbage collector burn for
// ten TTLs, and which gets none at all for two of them: it never says that it leads
// after the server has been seen without its lease; how late its renewals are is told.
func TestD20_BusyProcess(t *testing.T) {
	t.Parallel()
	s := startServer(t, redisproc.Options{})
	const ttl = 600 * time.Millisecond
	p := startLeader(t, s.Addr(), ttl, "busy", "GOMAXPROCS=1", "GOGC=20")
	signal := func(sig syscall.Signal) func() {
		return func() {
			if err := p.Process.Signal(sig); err != nil {
				t.Errorf("%s: %v", sig, err)
			}
		}
	}
	time.AfterFunc(6*ttl, signal(syscall.SIGSTOP))
	time.AfterFunc(8*ttl, signal(syscall.SIGCONT))
	gone := s.watch(t, 10*ttl)
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	valid, lags := 0, 0
	for line := range p.lines {
		words := strings.Fields(line)
		switch words[0] {
		case "renewed":
			lags++
		case "valid":
			valid++
			at, err := strconv.ParseInt(words[2], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			if end, ended := gone[words[1]]; ended && at > end.UnixNano() {
				t.Errorf("term %s was valid %s after its lease had gone", words[1], time.Duration(at-end.UnixNano()))
			}
		}
	}
	t.Logf("%d terms lost, valid %d times, %d renewals", len(gone), valid, lags)
	if valid < 10 || lags == 0 || len(gone) == 0 {
		t.Errorf("%d terms lost, valid %d times, %d renewals", len(gone), valid, lags)
	}
}

// watch looks at the lease all the time for so long, and says for each term when it
// was first seen to be gone.
func (s *server) watch(t *testing.T, d time.Duration) (gone map[string]time.Time) {
	t.Helper()
	gone = map[string]time.Time{}
	holder := ""
	for end := time.Now().Add(d); time.Now().Before(end); pass(time.Millisecond) {
		token := ""
		if s.do(t, "EXISTS", leaseKey) == int64(1) {
			token, _ = s.do(t, "HGET", recordKey, "token").(string) // of this lease, or of a later one
		}
		if holder != "" && token != holder {
			gone[holder] = time.Now()
		}
		holder = token
	}
	return gone
}

// lockedBuffer is a log that a test can read.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
