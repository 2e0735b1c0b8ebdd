package redisproc_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

// patience bounds every wait; no test that passes comes near it.
const patience = 30 * time.Second

func client(t *testing.T, s *redisproc.Server, change ...func(*redis.Options)) *redis.Client {
	t.Helper()
	o := &redis.Options{Addr: s.Addr(), MaxRetries: -1, ContextTimeoutEnabled: true, Protocol: 2, DisableIdentity: true}
	for _, f := range change {
		f(o)
	}
	c := redis.NewClient(o)
	t.Cleanup(func() { c.Close() })
	return c
}

func ctx(t *testing.T) context.Context {
	t.Helper()
	c, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return c
}

func noErr(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func state(t *testing.T, s *redisproc.Server) string {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.PID()))
	noErr(t, err)
	return strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))[0]
}

func refused(addr string) bool {
	c, err := net.Dial("tcp", addr)
	if err == nil {
		c.Close()
	}
	return err != nil
}

func wait(t *testing.T, what string, ch <-chan struct{}) {
	t.Helper()
	select {
	case <-ch:
	case <-time.After(patience):
		t.Fatalf("not within %v: %s", patience, what)
	}
}

func TestStartAndStop(t *testing.T) {
	parent := t.TempDir()
	s := redistest.StartT(t, redisproc.Options{Dir: parent})
	info := client(t, s).Info(ctx(t), "server").Val()
	if want := fmt.Sprintf("process_id:%d\r", s.PID()); !strings.Contains(info, want) {
		t.Errorf("the server that answers is not %q:\n%s", want, info)
	}
	if filepath.Dir(s.Dir()) != parent {
		t.Errorf("folder %s is not in %s", s.Dir(), parent)
	}
	exited := s.Exited()
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	wait(t, "end of the process", exited)
	if s.PID() != 0 || !refused(s.Addr()) {
		t.Errorf("after Stop: PID %d, connections refused: %v", s.PID(), refused(s.Addr()))
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) != 0 {
		t.Errorf("Stop left %v, %v", left, err)
	}
	if log := s.LogTail(100); !strings.Contains(log, "Ready to accept connections") {
		t.Errorf("log after Stop:\n%s", log)
	}
	if log := s.LogTail(1); strings.Contains(log, "\n") || log == "" {
		t.Errorf("last line of the log: %q", log)
	}
}

func TestManyAtOnce(t *testing.T) {
	redistest.Require(t)
	var mu sync.Mutex
	addrs := map[string]bool{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := redisproc.Start(ctx(t), redisproc.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Stop()
			mu.Lock()
			defer mu.Unlock()
			addrs[s.Addr()] = true
		})
	}
	wg.Wait()
	if len(addrs) != 8 {
		t.Errorf("%d different addresses, want 8: %v", len(addrs), addrs)
	}
}

func TestPersistence(t *testing.T) {
	t.Parallel()
	save := func(t *testing.T, _ *redisproc.Server, c *redis.Client) { noErr(t, c.Save(ctx(t)).Err()) }
	pause := func(t *testing.T, s *redisproc.Server, _ *redis.Client) { noErr(t, s.Pause()) }
	tests := []struct {
		name       string
		p          redisproc.Persistence
		kill, keep bool
		before     func(*testing.T, *redisproc.Server, *redis.Client)
	}{
		{"none,restart", redisproc.None, false, false, nil},
		{"none,kill", redisproc.None, true, false, nil},
		{"none,saved", redisproc.None, true, false, save},
		{"AOF,restart", redisproc.AOF, false, true, nil},
		{"AOF,kill", redisproc.AOF, true, true, nil},
		{"RDB,restart", redisproc.RDB, false, true, nil},
		{"RDB,paused", redisproc.RDB, false, true, pause}, // hears SIGTERM all the same
		{"RDB,kill", redisproc.RDB, true, false, nil},
		{"RDB,saved", redisproc.RDB, true, true, save},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := redistest.StartT(t, redisproc.Options{Persistence: tt.p})
			c := client(t, s)
			noErr(t, c.Set(ctx(t), "k", "v", 0).Err())
			if tt.before != nil {
				tt.before(t, s, c)
			}
			addr, dir, pid := s.Addr(), s.Dir(), s.PID()
			if tt.kill {
				noErr(t, s.Kill())
			}
			noErr(t, s.Restart(ctx(t)))
			if s.Addr() != addr || s.Dir() != dir || s.PID() == pid {
				t.Errorf("%s, %s, %d became %s, %s, %d", addr, dir, pid, s.Addr(), s.Dir(), s.PID())
			}
			n, err := client(t, s).Exists(ctx(t), "k").Result()
			noErr(t, err)
			if kept := n == 1; kept != tt.keep {
				t.Errorf("key kept: %v, want %v", kept, tt.keep)
			}
		})
	}
}

func TestKill(t *testing.T) {
	s := redistest.StartT(t, redisproc.Options{})
	exited := s.Exited()
	noErr(t, s.Kill())
	wait(t, "end of the process", exited)
	if s.PID() != 0 || !refused(s.Addr()) {
		t.Errorf("after Kill: PID %d, connections refused: %v", s.PID(), refused(s.Addr()))
	}
	noErr(t, s.Kill())
	for op, err := range map[string]error{"Pause": s.Pause(), "Resume": s.Resume()} {
		if !errors.Is(err, redisproc.ErrNotRunning) {
			t.Errorf("%s of a killed server: %v, want %v", op, err, redisproc.ErrNotRunning)
		}
	}
}

func TestPauseAndResume(t *testing.T) {
	s := redistest.StartT(t, redisproc.Options{})
	c := client(t, s)
	noErr(t, c.Set(ctx(t), "k", "v", 0).Err())
	noErr(t, s.Pause())
	noErr(t, s.Pause())
	if got := state(t, s); got != "T" {
		t.Errorf("state %q after Pause, want T", got)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := c.Ping(short).Err(); !errors.Is(err, context.DeadlineExceeded) && !os.IsTimeout(err) {
		t.Errorf("PING of a paused server: %v, want a timeout", err)
	}
	noErr(t, s.Resume())
	if got := state(t, s); got == "T" {
		t.Errorf("state %q after Resume", got)
	}
	if got, err := c.Get(ctx(t), "k").Result(); got != "v" {
		t.Errorf("got %q, %v after Resume", got, err)
	}
}

func TestPausedServerCanBeEnded(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *redisproc.Server) error{
		"kill":    func(_ *testing.T, s *redisproc.Server) error { return s.Kill() },
		"stop":    func(_ *testing.T, s *redisproc.Server) error { return s.Stop() },
		"restart": func(t *testing.T, s *redisproc.Server) error { return s.Restart(ctx(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			s := redistest.StartT(t, redisproc.Options{})
			exited := s.Exited()
			noErr(t, s.Pause())
			noErr(t, end(t, s))
			wait(t, "end of the paused process", exited)
		})
	}
}

func TestPassword(t *testing.T) {
	const password = `s3"cr\et wörd' #x`
	s := redistest.StartT(t, redisproc.Options{Password: password})
	if err := client(t, s).Ping(ctx(t)).Err(); err == nil || !strings.HasPrefix(err.Error(), "NOAUTH") {
		t.Errorf("PING without password: %v, want NOAUTH", err)
	}
	noErr(t, client(t, s, func(o *redis.Options) { o.Password = password }).Ping(ctx(t)).Err())
}

func TestACLFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "acl")
	const acl = "user default off\nuser app on >pw ~app:* +get +set +ping\n"
	noErr(t, os.WriteFile(file, []byte(acl), 0o600))
	s := redistest.StartT(t, redisproc.Options{ACLFile: file})
	c := client(t, s, func(o *redis.Options) { o.Username, o.Password = "app", "pw" })
	noErr(t, c.Set(ctx(t), "app:k", "v", 0).Err())
	if err := c.Set(ctx(t), "other", "v", 0).Err(); err == nil || !strings.HasPrefix(err.Error(), "NOPERM") {
		t.Errorf("SET outside of the ACL: %v, want NOPERM", err)
	}
}

func TestCluster(t *testing.T) {
	t.Parallel()
	s := redistest.StartT(t, redisproc.Options{Cluster: true, Persistence: redisproc.AOF})
	c := client(t, s)
	noErr(t, c.Set(ctx(t), "k", "v", 0).Err())
	for _, cmd := range [][]any{{"MGET", "a", "b"}, {"SELECT", "1"}} {
		if err := c.Do(ctx(t), cmd...).Err(); err == nil || errors.Is(err, redis.Nil) {
			t.Errorf("%v: %v, want the refusal of a cluster", cmd, err)
		}
	}
	noErr(t, s.Kill())
	noErr(t, s.Restart(ctx(t)))
	if got, err := client(t, s).Get(ctx(t), "k").Result(); got != "v" {
		t.Errorf("after Restart: %q, %v", got, err)
	}
}

func TestLoading(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		accept bool
		delay  string // microseconds for each of 50 keys
	}{{"waited for", false, "10000"}, {"accepted", true, "1000000"}} {
		t.Run(tt.name, func(t *testing.T) {
			s := redistest.StartT(t, redisproc.Options{
				Persistence: redisproc.RDB, AcceptLoading: tt.accept,
				Args: []string{"key-load-delay", tt.delay, "loading-process-events-interval-bytes", "1024"},
			})
			pipe := client(t, s).Pipeline()
			for i := range 50 {
				pipe.Set(ctx(t), fmt.Sprint("k", i), strings.Repeat("v", 2000), 0)
			}
			pipe.ConfigSet(ctx(t), "rdbcompression", "no")
			_, err := pipe.Exec(ctx(t))
			noErr(t, err)
			noErr(t, s.Restart(ctx(t)))
			err = client(t, s).Get(ctx(t), "k0").Err()
			if loading := err != nil && strings.HasPrefix(err.Error(), "LOADING"); loading != tt.accept {
				t.Errorf("GET after Restart: %v; LOADING wanted: %v", err, tt.accept)
			}
			noErr(t, s.Kill())
		})
	}
}

// All operations at once: the race detector and goleak are the judges, and
// a server that can still be brought back.
func TestConcurrentUse(t *testing.T) {
	s := redistest.StartT(t, redisproc.Options{})
	var wg sync.WaitGroup
	for _, op := range []func(){
		func() { s.Kill() }, func() { s.Restart(ctx(t)) }, func() { s.Pause() }, func() { s.Resume() },
		func() { s.PID(); s.Exited(); s.LogTail(3) },
	} {
		wg.Go(func() {
			for range 10 {
				op()
			}
		})
	}
	wg.Wait()
	noErr(t, s.Restart(ctx(t)))
	noErr(t, client(t, s).Ping(ctx(t)).Err())
}
