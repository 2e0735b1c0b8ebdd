package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"incumbent/internal/blackhole"
	"incumbent/internal/supervise"
)

var (
	neverRuns = flag.Int("runs", 2, "how often TestRunNeverTwo plays each kind of fault")
	neverSide = flag.Int("side", 2, "how many runs it plays side by side")
	neverTTL  = flag.Duration("ttl", 3*time.Second, "the lease of TestRunNeverTwo: a short one leaves a busy machine little time")
)

// hostFault is what befalls the host that leads.
type hostFault struct {
	name   string
	deaf   bool // the command ignores signals
	strike func(*runHost) error
	// aside says that the lease may be given back early: its end says nothing then.
	aside bool
}

var hostFaults = []hostFault{
	{name: "network cut", strike: (*runHost).cut},
	{name: "agent killed", strike: (*runHost).kill},
	{name: "agent stopped", strike: (*runHost).stop},
	{name: "network cut, deaf command", deaf: true, strike: (*runHost).cut},
	{name: "agent killed, deaf command", deaf: true, strike: (*runHost).kill},
	{name: "agent stopped, deaf command", deaf: true, strike: (*runHost).stop},
	{name: "watchdog killed", aside: true, deaf: true, strike: (*runHost).killWatchdog},
	{name: "watchdog stopped", aside: true, deaf: true, strike: (*runHost).stopWatchdog},
}

// runHost is one of two that run the same command: an agent, behind a network of its own.
type runHost struct {
	*program
	net  *blackhole.Proxy
	file string // of beats
}

func (h *runHost) cut() error  { h.net.Cut(); return nil }
func (h *runHost) kill() error { return h.Process.Kill() }
func (h *runHost) stop() error { return h.Process.Signal(syscall.SIGSTOP) }

func (h *runHost) killWatchdog() error { return childOf(h.Process.Pid, syscall.SIGKILL) }
func (h *runHost) stopWatchdog() error { return childOf(h.Process.Pid, syscall.SIGSTOP) }

// newHost starts an agent whose command beats, with a child and a grandchild in a session
// of its own.
func (f hostFault) newHost(t *testing.T, s runServer, election string) *runHost {
	h := &runHost{file: filepath.Join(t.TempDir(), "beats")}
	var err error
	if h.net, err = blackhole.New(s.Addr()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.net.Close() })
	args := []string{"run", election, "--config", runConfig(t, h.net.Addr()), "--ttl", neverTTL.String()}
	if f.aside {
		args = append(args, "--on-lost=exit") // or the one that was struck may lead again first
	}
	args = append(args, "--", os.Args[0], "beat", h.file)
	if f.deaf {
		args = append(args, "deaf", "child", "deaf", "apart", "deaf")
	} else {
		args = append(args, "child", "apart")
	}
	h.program = launch(t, args...)
	return h
}

// outcome is what one run showed.
type outcome struct {
	early   time.Duration // from the last sign of life to the deadline
	overlap time.Duration // from the first beat of the next leader to the last of this one
	gone    time.Duration // from when all of them were seen to be gone to the deadline
}

// play lets two hosts compete, strikes the one that leads, and looks at the beats.
func (f hostFault) play(t *testing.T, s runServer, election string) outcome {
	a := f.newHost(t, s, election)
	awaitBeats(t, a.file, 3)
	b := f.newHost(t, s, election)
	b.saysSoon(t, "standing by")
	struck := supervise.Now()
	if err := f.strike(a); err != nil {
		t.Fatal(err)
	}
	deadline := s.leaseEnd(t, election)
	old := readBeats(a.file)
	eventually(t, "nothing of the command is left", old.gone)
	gone := supervise.Now()
	awaitBeats(t, b.file, 3)
	before, after := readBeats(a.file), readBeats(b.file)
	// A machine that is too busy for a TTL of a second may have cost the first a term before.
	if len(before.pids) < 3 || after.tokens[0] <= slices.Max(before.tokens) {
		t.Errorf("%s: %d processes with tokens %v before %v", f.name, len(before.pids), before.tokens, after.tokens)
	}
	o := outcome{deadline.Sub(before.last), before.last.Sub(after.first), deadline.Sub(gone)}
	if o.early <= 0 && !f.aside {
		t.Logf("%s: %s late; old %+v, new %+v, struck %s before the deadline:\n%s", f.name, -o.early, before, after, deadline.Sub(struck), a.logged())
	}
	return o
}

// leaseEnd is when the term that holds the lease must be over, as the server knows it: a
// holder that renews no more counts a hundredth of the TTL and 2 ms less, from before its
// last request. The time in which that was on its way comes on top, so the real deadline
// is earlier by a fraction of a millisecond.
func (s runServer) leaseEnd(t *testing.T, election string) supervise.Instant {
	t.Helper()
	var end supervise.Instant
	for range 10 { // the end is no earlier than any of these: the server counts later than this process
		now := supervise.Now()
		left, err := s.client.PTTL(t.Context(), "incumbent:{"+election+"}:lease").Result()
		if err != nil {
			t.Fatal(err)
		}
		end = max(end, now.Add(left-*neverTTL/100-2*time.Millisecond))
	}
	return end
}

// C02, E10, E12: the network of the host that leads is cut, its agent or its watchdog
// killed or stopped, its command deaf: all that the command has started is gone before
// the deadline, and never at work together with the next leader's.
//
//	go test ./cmd/incumbent -run TestRunNeverTwo -v -timeout 60m -args -runs 100 -side 5 -ttl 1s
func TestRunNeverTwo(t *testing.T) {
	s := newRunServer(t)
	for i, f := range hostFaults {
		t.Run(f.name, func(t *testing.T) {
			var mu sync.Mutex
			var all []outcome
			var next atomic.Int64
			t.Run("runs", func(t *testing.T) {
				for range *neverSide {
					t.Run("", func(t *testing.T) {
						t.Parallel()
						for n := next.Add(1); n <= int64(*neverRuns) && !t.Failed(); n = next.Add(1) {
							t.Run("", func(t *testing.T) {
								o := f.play(t, s, fmt.Sprintf("never-%d-%d", i, n))
								mu.Lock()
								defer mu.Unlock()
								all = append(all, o)
							})
						}
					})
				}
			})
			f.judge(t, all)
		})
	}
}

// judge prints the figures of all runs of a fault, and fails if one has an overlap.
func (f hostFault) judge(t *testing.T, all []outcome) {
	if len(all) != *neverRuns {
		t.Fatalf("%d of %d runs have a result", len(all), *neverRuns)
	}
	overlaps, late := 0, 0
	for _, o := range all {
		if o.overlap >= 0 {
			overlaps++
		}
		if !f.aside && o.early <= 0 {
			late++
		}
	}
	line := fmt.Sprintf("%s: %d runs, %d overlaps", f.name, len(all), overlaps)
	if !f.aside {
		line += fmt.Sprintf(", %d late; last sign of life before the deadline: %s; seen to be gone: %s",
			late, span(all, func(o outcome) time.Duration { return o.early }), span(all, func(o outcome) time.Duration { return o.gone }))
	}
	line += "; next leader's first sign of life after that: " + span(all, func(o outcome) time.Duration { return -o.overlap })
	t.Log(line)
	if overlaps > 0 || late > 0 {
		t.Error("the command outlived its lease")
	}
}

// span is the worst and the median of a figure, in ms.
func span(all []outcome, of func(outcome) time.Duration) string {
	list := slices.SortedFunc(func(yield func(time.Duration) bool) {
		for _, o := range all {
			if !yield(of(o)) {
				return
			}
		}
	}, cmp.Compare)
	ms := func(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/1e6) }
	return strings.Join([]string{"worst " + ms(list[0]), "median " + ms(list[len(list)/2])}, ", ")
}
