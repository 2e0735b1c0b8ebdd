package quorum_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"incumbent/election"
)

// maxStandbyCost is the most commands that a standby may send, a TTL and master,
// sign of life of its subscription included.
const maxStandbyCost = 1.4

func TestStandbyCost(t *testing.T) {
	for _, d := range []time.Duration{2 * time.Second, time.Minute} {
		eachMode(t, func(t *testing.T, w *world) {
			const standbys = 2
			a := w.elector("a", ttl(d))
			lead(t, a)
			ctx, cancel := context.WithCancel(t.Context())
			var waiting []<-chan won
			for i := range standbys {
				waiting = append(waiting, campaign(ctx, w.elector(fmt.Sprintf("s%d", i), ttl(d))))
			}
			time.Sleep(2 * d)
			const terms = 50
			before := w.commands("")
			own := w.commands("a")
			time.Sleep(terms * d)
			sent := w.commands("") - before - (w.commands("a") - own)
			cost := float64(sent) / terms / float64(len(w.masters)) / standbys
			t.Logf("TTL %s, %d masters: %.2f commands a TTL and master", d, len(w.masters), cost)
			if cost > maxStandbyCost || cost < 0.5 {
				t.Errorf("a standby sends %.2f commands a TTL and master, at most %.1f", cost, maxStandbyCost)
			}
			cancel()
			for _, c := range waiting {
				<-c
			}
			shut(t, a)
		})
	}
}

// Many candidates at once: somebody leads soon, also while a master hangs, and
// never two.
func TestSplitVotesEndSoon(t *testing.T) {
	for _, masters := range []int{3, 5} {
		for _, hung := range []bool{false, true} {
			for _, n := range []int{2, 5, 20, 50} {
				if n == 50 && hung && masters == 5 {
					continue // 300 connections: the same as with three, at a multiple of the cost
				}
				name := fmt.Sprintf("masters=%d/hung=%t/candidates=%d", masters, hung, n)
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					var worst, sum time.Duration
					rounds := 0
					seeds := uint64(max(1, min(4, 20/n)))
					for seed := range seeds {
						inWorld(t, seed+1, masters, func(t *testing.T, w *world) {
							if hung {
								w.masters[seed%uint64(masters)].Hang()
							}
							took, bids := rush(t, w, n)
							worst, sum, rounds = max(worst, took), sum+took, max(rounds, bids)
						})
					}
					t.Logf("first leader after %s on average, %s at worst, most bids of one candidate %d", sum/time.Duration(seeds), worst, rounds)
					if worst > 6*time.Second {
						t.Errorf("nobody led for %s, two TTLs", worst)
					}
				})
			}
		}
	}
}

// rush lets n candidates campaign at once, and says when the first one led and
// how many bids anybody had made by then.
func rush(t *testing.T, w *world, n int) (took time.Duration, bids int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first := make(chan won, n)
	recs := make([]recorder, n)
	start := time.Now()
	for i := range n {
		e := w.elector(fmt.Sprintf("c%02d", i), recs[i].on)
		go func() {
			term, err := e.Campaign(ctx)
			first <- won{term, err, time.Now()}
		}()
	}
	r := <-first
	if r.err != nil {
		t.Fatal(r.err)
	}
	for i := range recs {
		bids = max(bids, len(recs[i].of(election.BidRefused)))
	}
	time.Sleep(500 * time.Millisecond)
	if len(first) != 0 || !r.term.Valid() {
		t.Errorf("%d more candidates lead; the first one's term is valid: %t", len(first), r.term.Valid())
	}
	w.Heal("c00", w.masters[0])
	for _, m := range w.masters {
		m.Resume()
	}
	cancel()
	for range n - 1 {
		<-first
	}
	return r.at.Sub(start), bids + 1
}
