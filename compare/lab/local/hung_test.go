package local_test

import (
	"context"
	"testing"
	"time"

	"incumbent/compare/history"
	"incumbent/compare/lab/local"
)

// renewEvery is short, so that a hundred renewals take seconds.
const renewEvery = 25 * time.Millisecond

// TestHungMaster stops one of three masters with SIGSTOP. Every operation must
// keep to the time of the fastest majority, and nothing must pile up, whatever
// options the candidate's client has.
func TestHungMaster(t *testing.T) {
	for _, c := range []struct {
		name  string
		plain bool
	}{{"lease options", false}, {"go-redis defaults", true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l, ctx := open(t, local.Options{
				Mode: "quorum", Candidates: 1, Renew: renewEvery, PlainClients: c.plain,
			})
			h := hung{t: t, ctx: ctx, l: l}
			h.interleave()
			h.stretch()
		})
	}
}

type hung struct {
	t   *testing.T
	ctx context.Context
	l   *local.Lab
}

func (h hung) check(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// costs are how long operations took.
type costs struct{ acquire, renew, release dist }

// interleave measures with all masters and with one of them hung in turns.
func (h hung) interleave() {
	h.t.Helper()
	var healthy, hung costs
	for range 6 {
		h.whole()
		h.block(&healthy)
		h.whole()
		h.check(h.l.Servers()[2].Pause())
		h.block(&hung)
		h.check(h.l.Servers()[2].Resume())
	}
	for _, op := range []struct {
		name          string
		healthy, hung dist
	}{
		{"acquire", healthy.acquire, hung.acquire}, {"renew", healthy.renew, hung.renew}, {"release", healthy.release, hung.release},
	} {
		h.t.Logf("%-7s all healthy: %v", op.name, op.healthy)
		h.t.Logf("%-7s one hung:    %v", op.name, op.hung)
		if op.hung.at(0.5) > 2*op.healthy.at(0.5) {
			h.t.Errorf("%s: want the median within twice that of all healthy", op.name)
		}
	}
}

// whole waits for a renewal that all masters confirmed. A term may start with a
// bare majority, when the last master gave back the lease of the term before too
// late, or with calls from before that reach a resumed master only now. Renewals
// heal that; to hang a master before is two faults at a time.
func (h hung) whole() {
	h.t.Helper()
	_, err := h.l.Await(h.ctx, h.l.Mark(), func(l local.Line) bool {
		return l.Kind == history.Renewed && l.Held == len(h.l.Servers())
	})
	h.check(err)
}

// block adds five terms with three renewals each.
func (h hung) block(c *costs) {
	h.t.Helper()
	const terms, renewals = 5, 3
	for range terms {
		name, token, err := h.l.Settle(h.ctx) // with one master hung there is nobody else to wait for
		h.check(err)
		mark := h.l.Mark()
		for range renewals {
			r, err := h.l.Await(h.ctx, mark, func(l local.Line) bool { return l.Kind == history.Renewed || l.Kind == history.TermEnded })
			h.check(err)
			if r.Kind == history.TermEnded {
				h.t.Fatalf("term %d ended by itself: %s\n%s", r.Token, r.Err, h.recent())
			}
			c.renew = append(c.renew, r.Took)
			mark = h.l.Mark()
		}
		h.check(h.l.Resign(name))
		end, err := h.l.Await(h.ctx, mark, func(l local.Line) bool { return l.Kind == history.TermEnded })
		h.check(err)
		back, err := h.l.Await(h.ctx, mark, func(l local.Line) bool { return l.Name == local.NoteReleased })
		h.check(err)
		c.release = append(c.release, back.At-end.At)
		start, err := h.l.NextTerm(h.ctx, mark, token)
		h.check(err)
		c.acquire = append(c.acquire, start.Took)
	}
}

// stretch renews a hundred times with one master hung, and watches what the
// candidate consists of.
func (h hung) stretch() {
	h.t.Helper()
	const renewals, every = 100, 10
	name, token, err := h.l.Settle(h.ctx)
	h.check(err)
	h.whole()
	h.check(h.l.Servers()[2].Pause())
	mark := h.l.Mark()
	var stats []local.Stats
	for i := 1; i <= renewals; i++ {
		r, err := h.l.Await(h.ctx, mark, func(l local.Line) bool { return l.Kind == history.Renewed || l.Kind == history.TermEnded })
		h.check(err)
		if r.Kind == history.TermEnded || r.Token != token {
			h.t.Fatalf("renewal %d: term %d is lost: %s\n%s", i, token, r.Err, h.recent())
		}
		mark = h.l.Mark()
		if i%every == 0 {
			s, err := h.l.Stats(h.ctx, name)
			h.check(err)
			stats = append(stats, s)
		}
	}
	h.check(h.l.Servers()[2].Resume())
	h.t.Logf("%d renewals with one master hung, no term lost; goroutines and sockets: %v", renewals, stats)
	for _, s := range stats[len(stats)/2:] {
		for _, early := range stats[1:2] { // the first one may still be growing to what a hung master costs
			if s.Goroutines > early.Goroutines+8 || s.Sockets > early.Sockets+4 {
				h.t.Errorf("grew from %v to %v", early, s)
			}
		}
	}
}

// recent is what the candidate told in the last TTL, for people.
func (h hung) recent() string {
	from := local.Now() - h.l.Options().TTL - time.Second
	run := history.Run{}
	for _, line := range h.l.Lines(from) {
		e := line.Event
		e.At -= from
		run.Events = append(run.Events, e)
	}
	return timeline(run)
}
