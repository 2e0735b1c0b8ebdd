package proof_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"incumbent/election"
)

var resourceNames = []string{postgresName, redisName, httpName}

// counts is what became of the stale acts on one resource, past its guard and
// through it.
type counts struct {
	openTried, openAccepted       int
	guardedTried, guardedAccepted int
	refused, failed               int
}

func (c *counts) add(l line) {
	tried, ok := &c.openTried, &c.openAccepted
	if l.Guarded {
		tried, ok = &c.guardedTried, &c.guardedAccepted
	}
	*tried++
	switch l.Outcome {
	case accepted:
		*ok++
	case refused:
		c.refused++
	default:
		c.failed++
	}
}

// tally is the counts by resource.
type tally map[string]*counts

func newTally() tally {
	y := tally{}
	for _, name := range resourceNames {
		y[name] = &counts{}
	}
	return y
}

// begun gives the time at which the work of each term began.
func begun(lines []line) map[election.Token]line {
	first := map[election.Token]line{}
	for _, l := range lines {
		if _, ok := first[l.Token]; !ok && l.Kind == checked {
			first[l.Token] = l
		}
	}
	return first
}

// staleActs are those that were sent after the work of a later term had begun.
func staleActs(lines []line) (stale []line) {
	first := begun(lines)
	for _, l := range lines {
		if l.Kind != act {
			continue
		}
		for t, begin := range first {
			if t > l.Token && begin.At < l.From {
				stale = append(stale, l)
				break
			}
		}
	}
	return stale
}

// upperBound is what the share of events is at most, with a confidence of 95 %,
// if none of n tries was one.
func upperBound(n int) float64 { return 1 - math.Pow(0.05, 1/float64(n)) }

// String is a table with one line for each resource.
func (y tally) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-11s %25s    %s\n", "stale acts", "without a guard", "through the guard")
	fmt.Fprintf(&b, "%-11s %12s %12s    %9s %9s %9s   %s\n",
		"", "attempted", "accepted", "attempted", "refused", "accepted", "of these at most")
	for _, name := range resourceNames {
		c := y[name]
		bound := "-"
		if c.guardedAccepted == 0 && c.guardedTried > 0 {
			bound = fmt.Sprintf("%.2f %%", 100*upperBound(c.guardedTried))
		}
		fmt.Fprintf(&b, "%-11s %12d %12d    %9d %9d %9d   %s\n",
			name, c.openTried, c.openAccepted, c.guardedTried, c.refused, c.guardedAccepted, bound)
	}
	return b.String()
}

// checkRefusals fails the test for every act that was refused without a reason:
// a refusal names the token of a later term.
func checkRefusals(t *testing.T, lines []line) {
	t.Helper()
	terms := map[election.Token]bool{}
	for _, l := range lines {
		if l.Kind == started {
			terms[l.Token] = true
		}
	}
	for _, l := range lines {
		if l.Kind == act && l.Outcome == refused && (l.Known <= l.Token || !terms[l.Known]) {
			t.Errorf("refused without a later term: %+v", l)
		}
		if l.Kind == "unreadable" {
			t.Errorf("a candidate said %q", l.Err)
		}
	}
}

// checkOrder fails the test unless the guarded registers took tokens in order,
// and nothing else than what candidates say was accepted. It gives how many acts
// the guarded registers took, and how often the tokens of the open ones went down.
func (w *world) checkOrder(ctx context.Context, t *testing.T, x *contest) (taken, down int) {
	t.Helper()
	for _, name := range resourceNames {
		for _, path := range []string{openPath, guardedPath} {
			now, log, err := w.history(ctx, name, path, x.cfg.Election)
			check(t, err)
			said := 0
			for _, l := range x.lines {
				if l.Kind == act && l.Resource == name && l.Guarded == (path == guardedPath) && l.Outcome == accepted {
					said++
				}
			}
			if len(log) != said || said == 0 || log[said-1] != now {
				t.Errorf("election %s, %s, %s: register %d, log of %d acts, candidates tell of %d", x.cfg.Election, name, path, now, len(log), said)
			}
			if path == openPath {
				down += descents(log)
				continue
			}
			taken += len(log)
			if !slices.IsSorted(log) {
				t.Errorf("election %s, %s: tokens went down behind the guard: %v", x.cfg.Election, name, log)
			}
		}
	}
	return taken, down
}

// descents is how often a token is lower than the one before it.
func descents(log []election.Token) (n int) {
	for i := range log {
		if i > 0 && log[i] < log[i-1] {
			n++
		}
	}
	return n
}
