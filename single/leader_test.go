package single_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/single"
)

// leaderEnv makes the test binary a candidate: address, TTL, and calm or busy.
const leaderEnv = "SINGLE_TEST_LEADER"

// beLeader is a process that takes part in the election until SIGTERM, and says what
// happens to it in lines.
func beLeader(args string) error {
	var addr, length, kind string
	if _, err := fmt.Sscan(args, &addr, &length, &kind); err != nil {
		return err
	}
	ttl, err := time.ParseDuration(length)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	c := redis.NewClient(&redis.Options{Addr: addr})
	st, err := single.New(c, "job", single.Options{Logger: quiet, GuardsOff: election.AllGuards})
	if err != nil {
		return err
	}
	e, err := election.New(st, election.Options{ID: fmt.Sprint("process ", os.Getpid()), TTL: ttl, Logger: quiet, Observer: tell})
	if err != nil {
		return err
	}
	return election.Run(ctx, e, func(ctx context.Context, t *election.Term) error {
		fmt.Println("leads", t.Token())
		if kind == "busy" {
			return beBusy(ctx, t)
		}
		<-ctx.Done()
		return nil
	})
}

// tell writes how late renewals are.
func tell(ev election.Event) {
	if ev.Kind == election.Renewed {
		fmt.Println("renewed", ev.Lag.Microseconds())
	}
}

// beBusy burns all processors, much of it for the garbage collector, and says each
// millisecond whether it leads.
func beBusy(ctx context.Context, t *election.Term) error {
	for range 4 {
		go func() {
			var kept [][]byte
			for ctx.Err() == nil {
				kept = append(kept, make([]byte, 64<<10))
				if len(kept) > 200 {
					kept = nil
					runtime.GC()
				}
			}
		}()
	}
	for {
		before := time.Now() // the processor may be gone for long between any two lines
		if t.Valid() {
			fmt.Println("valid", t.Token(), before.UnixNano())
		}
		if ctx.Err() != nil { // looked at last: it would tell as well that the term is over
			return nil
		}
		time.Sleep(time.Millisecond)
	}
}

// process is a candidate in a process of its own.
type process struct {
	*exec.Cmd
	lines chan string
	ended chan error
}

// startLeader starts a candidate and returns once it leads.
func startLeader(t *testing.T, addr string, ttl time.Duration, kind string, env ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0]), lines: make(chan string, 1<<16), ended: make(chan error, 1)}
	p.Env = append(append(os.Environ(), leaderEnv+"="+fmt.Sprint(addr, " ", ttl, " ", kind)), env...)
	p.Stderr = os.Stderr
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
		p.ended <- p.Wait()
	}()
	t.Cleanup(func() {
		_ = p.Process.Kill() // it may have ended
		for range p.lines {
		}
	})
	if line := <-p.lines; !strings.HasPrefix(line, "leads ") {
		t.Fatalf("the process says %q", line)
	}
	return p
}
