package remote_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"

	"incumbent/compare/history"
	"incumbent/compare/lab/local"
	"incumbent/compare/lab/remote"
	"incumbent/compare/measure"
)

func TestMain(m *testing.M) {
	local.ChildMain()
	remote.ChildMain()
	if path := os.Getenv(ownerEnv); path != "" {
		own(path)
	}
	if err := os.Setenv("INCUMBENT_PASSWORD", userPassword); err != nil { // which no child may inherit
		panic(err)
	}
	logging.Disable() // failed dials are what some tests are about
	goleak.VerifyTestMain(m)
}

func noErr(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// file writes a configuration.
func file(t *testing.T, format string, args ...any) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "incumbent.yaml")
	noErr(t, os.WriteFile(path, fmt.Appendf(nil, format, args...), 0o600))
	return path
}

// load reads a configuration and opens what it names.
func load(t *testing.T, o remote.Options) *remote.Set {
	t.Helper()
	if o.Environ == nil {
		o.Environ = []string{}
	}
	s, err := remote.Load(o)
	noErr(t, err)
	noErr(t, s.Open(t.Context()))
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// play plays faults in all modes of a set, guards on, and returns runs and player.
func play(t *testing.T, s *remote.Set, faults ...string) ([]history.Run, *remote.Player) {
	t.Helper()
	var specs []local.Spec
	for _, m := range s.Modes() {
		for _, f := range faults {
			specs = append(specs, local.Spec{
				Seed: 7, Mode: m.Kind, Masters: m.Masters, Fault: f, Guards: history.GuardsOn, TTL: s.TTL, Candidates: 2,
			})
		}
	}
	p := &remote.Player{Set: s, ID: remote.NewID(s.Elections(len(specs))), Samples: 10}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var runs []history.Run
	err := p.Play(ctx, specs, func(i int, run history.Run, err error) {
		if err != nil {
			t.Errorf("%s in mode %s: %v", specs[i].Fault, specs[i].Mode, err)
			return
		}
		runs = append(runs, run)
	})
	noErr(t, err)
	return runs, p
}

// judged fails the test where a run broke a rule, or has no next leader.
func judged(t *testing.T, runs []history.Run) {
	t.Helper()
	for _, run := range runs {
		if run.Lab != "remote" {
			t.Errorf("the run's lab is %q", run.Lab)
		}
		for _, v := range measure.Check(run) {
			t.Errorf("%s in mode %s: %v", run.Fault, run.Mode, v)
		}
		f := measure.Of(run)
		if !f.FailedOver && !f.Kept && run.Fault != "calm" && run.Fault != "lost-reply" && run.Fault != "lossy-link" && run.Fault != "slow-link" {
			t.Errorf("%s in mode %s: nobody took over", run.Fault, run.Mode)
		}
	}
}

// admin is a client that sees all of a server.
func admin(t *testing.T, addr string, change ...func(*redis.Options)) *redis.Client {
	t.Helper()
	o := &redis.Options{Addr: addr, Protocol: 2, DisableIdentity: true}
	for _, f := range change {
		f(o)
	}
	c := redis.NewClient(o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// watch records all commands that a server gets, from MONITOR, until the returned
// function is called.
func watch(t *testing.T, dial func() (net.Conn, error), greeting string) (stop func() []string) {
	t.Helper()
	conn, err := dial()
	noErr(t, err)
	_, err = conn.Write([]byte(greeting + "MONITOR\r\n"))
	noErr(t, err)
	r := bufio.NewReader(conn)
	for range strings.Count(greeting, "\r\n") + 1 {
		line, err := r.ReadString('\n')
		if noErr(t, err); !strings.HasPrefix(line, "+OK") {
			t.Fatalf("MONITOR: %s", line)
		}
	}
	var mu sync.Mutex
	var lines []string
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			mu.Lock()
			lines = append(lines, strings.TrimSpace(line))
			mu.Unlock()
		}
	})
	return func() []string {
		_ = conn.Close()
		wg.Wait()
		return lines
	}
}

// command is a line of MONITOR: its time, whether a script issued it, and its words.
func command(line string) (at float64, script bool, words []string) {
	if _, err := fmt.Sscanf(strings.TrimPrefix(line, "+"), "%f", &at); err != nil {
		return 0, false, nil
	}
	head, rest, _ := strings.Cut(line, "] ")
	for w := range strings.FieldsSeq(rest) {
		words = append(words, strings.ToLower(strings.Trim(w, `"`)))
	}
	return at, strings.HasSuffix(head, " lua"), words
}

// empty fails the test unless a server holds no key.
func empty(t *testing.T, clients ...*redis.Client) {
	t.Helper()
	for _, c := range clients {
		keys, err := c.Keys(t.Context(), "*").Result()
		if noErr(t, err); len(keys) > 0 {
			slices.Sort(keys)
			t.Errorf("keys are left: %v", keys)
		}
	}
}
