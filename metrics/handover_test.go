package metrics_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/election"
	"incumbent/election/electiontest"
	"incumbent/metrics"
)

// short is the TTL of this test's candidates: there are thousands of scrapes.
const short = time.Second

// A host is a candidate with its metrics, whose network can be cut.
type host struct {
	election.Store
	c      *metrics.Collector
	e      election.Elector
	cut    atomic.Bool
	resign chan struct{}

	mu   sync.Mutex
	term *election.Term // from Campaign, not from an event
}

// lost waits like a call into a black hole.
func (h *host) lost(ctx context.Context) error {
	if !h.cut.Load() {
		return nil
	}
	<-ctx.Done()
	return masterError(election.ErrUnreachable)
}

func (h *host) Acquire(ctx context.Context, b election.Bid) (election.Grant, error) {
	if err := h.lost(ctx); err != nil {
		return election.Grant{}, err
	}
	return h.Store.Acquire(ctx, b)
}

func (h *host) Renew(ctx context.Context, g election.Grant) (election.Grant, error) {
	if err := h.lost(ctx); err != nil {
		return g, err
	}
	return h.Store.Renew(ctx, g)
}

func (h *host) Release(ctx context.Context, g election.Grant) (election.Released, error) {
	if err := h.lost(ctx); err != nil {
		return election.Released{}, err
	}
	return h.Store.Release(ctx, g)
}

// run campaigns until ctx ends, and leads until it is told to resign or loses the term.
func (h *host) run(ctx context.Context) {
	for {
		term, err := h.e.Campaign(ctx)
		if err != nil {
			return
		}
		h.mu.Lock()
		h.term = term
		h.mu.Unlock()
		select {
		case <-term.Context().Done():
		case <-h.resign:
		case <-ctx.Done():
		}
		rctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), short)
		_ = term.Resign(rctx) // a host that is cut off cannot
		cancel()
	}
}

func (h *host) valid() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.term != nil && h.term.Valid()
}

// handOvers is a world of hosts that is scraped at instants of virtual time.
type handOvers struct {
	t       *testing.T
	random  *rand.Rand
	m       *electiontest.Memory
	hosts   []*host
	events  chan struct{} // something happened: scrape now
	prompt  bool          // observers keep up
	scrapes int
	ones    int // scrapes that showed a leader
}

func newHandOvers(t *testing.T, seed uint64, slow time.Duration) *handOvers {
	w := &handOvers{t: t, random: rand.New(rand.NewPCG(seed, 0)), m: electiontest.NewMemory(), events: make(chan struct{}, 1), prompt: slow == 0}
	for i := range 3 {
		h := &host{Store: w.m.Store(), c: newCollector(t, func(o *metrics.Options) { o.TTL = short }), resign: make(chan struct{})}
		observer := func(election.Event) {
			select {
			case w.events <- struct{}{}:
			default:
			}
			if slow > 0 {
				time.Sleep(slow)
			}
		}
		var err error
		h.e, err = election.New(h, election.Options{
			ID: fmt.Sprint("host-", i), TTL: short, Clock: election.RuntimeClock(), Observer: metrics.Observers(h.c.Observe, observer),
		})
		noErr(t, err)
		w.hosts = append(w.hosts, h)
	}
	return w
}

// leader is the host whose term is valid; nil if there is none.
func (w *handOvers) leader() *host {
	for _, h := range w.hosts {
		if h.valid() {
			return h
		}
	}
	return nil
}

// scrape gathers all candidates at one instant. Everybody else is waiting for a later
// time: nothing can happen in between.
func (w *handOvers) scrape() {
	w.t.Helper()
	synctest.Wait()
	w.scrapes++
	var shown, valid int
	for i, h := range w.hosts {
		one, is := showsLeader(w.t, h.c), h.valid()
		if one && !is || w.prompt && one != is {
			w.t.Fatalf("host %d shows %v, its term is valid: %v", i, one, is)
		}
		if one {
			shown++
		}
		if is {
			valid++
		}
	}
	if shown > 1 || valid > 1 {
		w.t.Fatalf("%d candidates show that they lead, %d terms are valid", shown, valid)
	}
	w.ones += shown
}

// watch scrapes for d: every 50 ms with a phase of chance, at every event, and just
// before, at and just after the leader's deadline.
func (w *handOvers) watch(d time.Duration) {
	w.t.Helper()
	end := time.Now().Add(d)
	for time.Now().Before(end) {
		next := time.Duration(1 + w.random.Int64N(int64(100*time.Millisecond)))
		if h := w.leader(); h != nil {
			for _, around := range []time.Duration{-time.Nanosecond, 0, time.Nanosecond} {
				if left := time.Until(h.term.Deadline()) + around; left > 0 {
					next = min(next, left)
				}
			}
		}
		select {
		case <-time.After(next):
		case <-w.events:
		}
		w.scrape()
	}
}

// handOver makes the leader lose its term, in one of the ways in which that happens.
func (w *handOvers) handOver(way int) {
	h := w.leader()
	switch {
	case h == nil:
		return // the last one is not over yet
	case way == 0: // resigns
		select {
		case h.resign <- struct{}{}:
		default:
		}
	case way == 1: // crashes: nothing is heard of it for long
		h.cut.Store(true)
		w.watch(3 * short)
		h.cut.Store(false)
	case way == 2: // is robbed by somebody who does not renew
		w.m.StealBy("thief")
		w.watch(2 * short)
	case way == 3: // lets its lease expire: the store is gone
		w.m.Unreachable(true)
		w.watch(2 * short)
		w.m.Unreachable(false)
	}
}

// play makes 100 hand-overs.
func (w *handOvers) play() {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, h := range w.hosts {
		running.Go(func() { h.run(ctx) })
	}
	const wanted = 100
	var ways [4]int
	for int(w.m.Token())-ways[2] < wanted { // without the thief's
		w.watch(time.Duration(1 + w.random.Int64N(int64(2*short))))
		way := w.random.IntN(4)
		ways[way]++
		w.handOver(way)
	}
	cancel()
	running.Wait()
	for _, h := range w.hosts {
		closeAll(w.t, h.e)
	}
	time.Sleep(time.Hour) // slow observers catch up
	w.scrape()
	terms, losses := 0.0, 0.0
	for _, h := range w.hosts {
		for series, v := range scrape(w.t, h.c) {
			switch {
			case series == "incumbent_terms_total":
				terms += v
			case strings.HasPrefix(series, "incumbent_losses_total"):
				losses += v
			}
		}
	}
	w.t.Logf("%v terms, %v losses in %d scrapes, of which %d showed one leader; resigned, crashed, robbed, expired: %v",
		terms, losses, w.scrapes, w.ones, ways)
	if terms < wanted || losses != terms {
		w.t.Errorf("%v terms and %v losses were counted", terms, losses)
	}
}

// Scraped every 50 ms or so, at every event and around every deadline, through 100
// hand-overs, never two candidates show that they lead; and as long as the observers
// keep up, the sum is the number of valid terms.
func TestSumOfLeadersIsNeverTwo(t *testing.T) {
	for what, slow := range map[string]time.Duration{"prompt observers": 0, "slow observers": short / 20} {
		t.Run(what, func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			synctest.Test(t, func(t *testing.T) { newHandOvers(t, seed, slow).play() })
		})
	}
}
