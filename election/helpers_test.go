package election_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"incumbent/election"
	"incumbent/election/electiontest"
)

func TestMain(m *testing.M) {
	slog.SetDefault(quiet()) // for electors with default options
	goleak.VerifyTestMain(m)
}

const (
	ttl   = 3 * time.Second
	renew = time.Second
)

var bg = context.Background()

// bubble runs f in virtual time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// pass lets virtual time go by, until nothing more happens at the new time.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// seeded is a source of randomness that repeats itself from run to run.
func seeded(seed uint64) func() uint64 {
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 1))
	return func() uint64 {
		mu.Lock()
		defer mu.Unlock()
		return r.Uint64()
	}
}

// recorder keeps events. It is safe for concurrent use.
type recorder struct {
	mu  sync.Mutex
	all []election.Event
}

func (r *recorder) add(ev election.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, ev)
}

func (r *recorder) list(kinds ...election.EventKind) (out []election.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, ev := range r.all {
		if len(kinds) == 0 || slices.Contains(kinds, ev.Kind) {
			out = append(out, ev)
		}
	}
	return out
}

func (r *recorder) count(kind election.EventKind) int { return len(r.list(kind)) }

// last is the newest event of a kind.
func (r *recorder) last(t *testing.T, kind election.EventKind) election.Event {
	t.Helper()
	all := r.list(kind)
	if len(all) == 0 {
		t.Fatalf("no event %s", kind)
	}
	return all[len(all)-1]
}

// logs is a slog handler that keeps lines of the form "LEVEL message k=v".
type logs struct {
	mu    sync.Mutex
	lines []string
}

func (l *logs) Enabled(context.Context, slog.Level) bool { return true }
func (l *logs) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *logs) WithGroup(string) slog.Handler            { return l }
func (l *logs) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", r.Level, r.Message)
	r.Attrs(func(a slog.Attr) bool { fmt.Fprintf(&b, " %s", a); return true })
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, b.String())
	return nil
}

// count is how many lines contain all of parts.
func (l *logs) count(parts ...string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		has := true
		for _, p := range parts {
			has = has && strings.Contains(line, p)
		}
		if has {
			n++
		}
	}
	return n
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

// hooks is a store with some calls replaced; nil means untouched.
type hooks struct {
	election.Store
	acquire func(ctx context.Context, b election.Bid) (election.Grant, error)
	renew   func(ctx context.Context, g election.Grant) (election.Grant, error)
	release func(ctx context.Context, g election.Grant) (election.Released, error)
	listen  func(ctx context.Context) (<-chan struct{}, error)
	inspect func(ctx context.Context) (election.State, error)
}

func (h *hooks) Acquire(ctx context.Context, b election.Bid) (election.Grant, error) {
	if h.acquire != nil {
		return h.acquire(ctx, b)
	}
	return h.Store.Acquire(ctx, b)
}

func (h *hooks) Renew(ctx context.Context, g election.Grant) (election.Grant, error) {
	if h.renew != nil {
		return h.renew(ctx, g)
	}
	return h.Store.Renew(ctx, g)
}

func (h *hooks) Release(ctx context.Context, g election.Grant) (election.Released, error) {
	if h.release != nil {
		return h.release(ctx, g)
	}
	return h.Store.Release(ctx, g)
}

func (h *hooks) Released(ctx context.Context) (<-chan struct{}, error) {
	if h.listen != nil {
		return h.listen(ctx)
	}
	return h.Store.Released(ctx)
}

func (h *hooks) Inspect(ctx context.Context) (election.State, error) {
	if h.inspect != nil {
		return h.inspect(ctx)
	}
	return h.Store.Inspect(ctx)
}

// jumpClock is virtual time plus what a suspended host slept through: Now
// counts that, timers do not.
type jumpClock struct{ slept atomic.Int64 }

func (c *jumpClock) jump(d time.Duration) { c.slept.Add(int64(d)) }
func (c *jumpClock) Now() time.Time       { return time.Now().Add(time.Duration(c.slept.Load())) }
func (c *jumpClock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}

// countingClock counts the timers that are set and neither fired nor stopped.
type countingClock struct{ live atomic.Int64 }

func (c *countingClock) Now() time.Time { return time.Now() }
func (c *countingClock) AfterFunc(d time.Duration, f func()) func() bool {
	c.live.Add(1)
	timer := time.AfterFunc(d, func() { c.live.Add(-1); f() })
	return func() bool {
		stopped := timer.Stop()
		if stopped {
			c.live.Add(-1)
		}
		return stopped
	}
}

// lateClock fires every timer late, like a process that gets no CPU.
type lateClock struct{ by time.Duration }

func (c lateClock) Now() time.Time { return time.Now() }
func (c lateClock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d+c.by, f).Stop
}

// candidate is an elector with its ear and its log.
type candidate struct {
	election.Elector
	events *recorder
	logs   *logs
}

// join makes a candidate of TTL 3 s on a store. It is closed when the test ends.
func join(t *testing.T, s election.Store, id string, change ...func(*election.Options)) *candidate {
	t.Helper()
	c := &candidate{events: &recorder{}, logs: &logs{}}
	seed := uint64(len(id))
	for _, r := range id {
		seed = seed*31 + uint64(r)
	}
	o := election.Options{
		ID: id, TTL: ttl, Renew: renew, Clock: election.RuntimeClock(),
		Logger: slog.New(c.logs), Observer: c.events.add, Random: seeded(seed),
	}
	for _, f := range change {
		f(&o)
	}
	e, err := election.New(s, o)
	if err != nil {
		t.Fatal(err)
	}
	c.Elector = e
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(bg, time.Minute)
		defer cancel()
		if err := e.Close(ctx); err != nil {
			t.Logf("close at the end: %v", err)
		}
	})
	return c
}

// lead campaigns and expects to win within a minute.
func lead(t *testing.T, e election.Elector) *election.Term {
	t.Helper()
	ctx, cancel := context.WithTimeout(bg, time.Minute)
	defer cancel()
	term, err := e.Campaign(ctx)
	if err != nil {
		t.Fatalf("campaign: %v", err)
	}
	return term
}

// campaignIn campaigns in the background.
func campaignIn(ctx context.Context, e election.Elector) <-chan outcome {
	out := make(chan outcome, 1)
	go func() {
		term, err := e.Campaign(ctx)
		out <- outcome{term, err, time.Now()}
	}()
	return out
}

type outcome struct {
	term *election.Term
	err  error
	at   time.Time
}

// runIn runs work in the background.
func runIn(ctx context.Context, e election.Elector, work func(context.Context, *election.Term) error) <-chan error {
	out := make(chan error, 1)
	go func() { out <- election.Run(ctx, e, work) }()
	return out
}

// untilDone is work that stops as soon as it is told.
func untilDone(ctx context.Context, _ *election.Term) error {
	<-ctx.Done()
	return ctx.Err()
}

func wantIs(t *testing.T, err error, targets ...error) {
	t.Helper()
	for _, target := range targets {
		if !errors.Is(err, target) {
			t.Errorf("error %q does not match %q", fmt.Sprint(err), target)
		}
	}
}

// cause is why a context is done, as a *Loss with that reason.
func wantLoss(t *testing.T, ctx context.Context, reason error, word string) *election.Loss {
	t.Helper()
	var l *election.Loss
	if !errors.As(context.Cause(ctx), &l) {
		t.Fatalf("cause is %v, want a *Loss", context.Cause(ctx))
	}
	if l.Reason != reason || l.Word() != word {
		t.Errorf("lost by %v (%s), want %v (%s)", l.Reason, l.Word(), reason, word)
	}
	return l
}

func wantFree(t *testing.T, m *electiontest.Memory) {
	t.Helper()
	if l, held := m.Leader(); held {
		t.Errorf("lease is held by %s (token %d), want it free", l.ID, l.Token)
	}
}

// wantOrder checks that every term started, began to stop and ended exactly
// once, in that order, and was released at most once after that.
func wantOrder(t *testing.T, events []election.Event) (terms int) {
	t.Helper()
	order := []election.EventKind{election.TermStarted, election.TermStopping, election.TermEnded, election.TermReleased}
	next := map[election.Token]int{}
	for _, ev := range events {
		at := slices.Index(order, ev.Kind)
		if at < 0 {
			continue
		}
		if next[ev.Token] != at {
			t.Fatalf("term %d: %s came as lifecycle event %d", ev.Token, ev.Kind, next[ev.Token])
		}
		next[ev.Token] = at + 1
	}
	for token, n := range next {
		if n < 3 {
			t.Fatalf("term %d never ended: %d lifecycle events", token, n)
		}
	}
	return len(next)
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }
