package single_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/internal/blackhole"
	"incumbent/internal/redisproc"
)

// beat is a program that says every few milliseconds that it is alive; the second
// one does not heed SIGTERM.
var beat = map[string]string{
	"heeds SIGTERM":   `while :; do date +%s%N >> "$0"; sleep 0.005; done`,
	"ignores SIGTERM": `trap "" TERM; while :; do date +%s%N >> "$0"; sleep 0.005; done`,
}

// child runs the program for as long as ctx lasts, then ends it: politely at
// first, and by force in good time before the deadline.
func child(ctx context.Context, t *election.Term, script, file string) error {
	cmd := exec.CommandContext(ctx, "sh", "-c", script, file)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(t.Remaining()/2, func() { _ = cmd.Process.Kill() }) // it may be gone already
	})
	defer stop()
	_ = cmd.Run() // ended by a signal
	return ctx.Err()
}

// The host of a leader that runs a child is cut off from the store, and from
// nothing else: its child is gone before the rival's child starts.
func TestC02_ChildIsGoneBeforeTheRivalStarts(t *testing.T) {
	t.Parallel()
	for name, script := range beat {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, redisproc.Options{})
			p, err := blackhole.New(s.Addr())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = p.Close() })
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			dir := t.TempDir()
			first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
			run := func(c *redis.Client, id, file string) <-chan error {
				e := elector(t, newStore(t, c), id, func(o *election.Options) { o.TTL, o.StepDown = 900*time.Millisecond, 200*time.Millisecond })
				done := make(chan error, 1)
				go func() {
					done <- election.Run(ctx, e, func(ctx context.Context, term *election.Term) error { return child(ctx, term, script, file) })
				}()
				return done
			}
			a := run(client(t, p.Addr()), "a", first)
			await(t, 10*time.Second, "the first child runs", func() bool { return len(beats(t, first)) > 3 })
			b := run(client(t, s.Addr()), "b", second)
			p.Cut()
			await(t, 10*time.Second, "the second child runs", func() bool { return len(beats(t, second)) > 3 })
			one, two := beats(t, first), beats(t, second)
			if last, begin := one[len(one)-1], two[0]; last >= begin {
				t.Errorf("the first child lived for %s beside the second", time.Duration(last-begin))
			}
			p.Heal()
			cancel()
			for _, done := range []<-chan error{a, b} {
				if err := <-done; err != nil {
					t.Errorf("run: %v", err)
				}
			}
		})
	}
}

// beats reads the instants at which a child was alive.
func beats(t *testing.T, file string) (out []int64) {
	t.Helper()
	f, err := os.Open(file)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		n, err := strconv.ParseInt(lines.Text(), 10, 64)
		if err != nil {
			t.Fatal(fmt.Errorf("%s: %w", file, err))
		}
		out = append(out, n)
	}
	return out
}
