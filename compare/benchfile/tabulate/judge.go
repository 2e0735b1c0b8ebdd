package tabulate

import (
	"fmt"
	"math"

	"golang.org/x/perf/benchmath"
)

// Samples a side: for a 95 % interval of the median, and for the U test.
const (
	forInterval = 6
	forTest     = 4
	confidence  = 0.95
)

// judge compares samples of one unit.
type judge struct {
	better int
	exact  bool
}

// summarise fills a cell from sorted values.
func (j judge) summarise(c *Cell, v []float64) {
	c.N = len(v)
	if c.N == 0 {
		return
	}
	var a benchmath.Assumption = benchmath.AssumeNothing
	if j.exact && constant(v) {
		a = benchmath.AssumeExact
	}
	s := a.Summary(sorted(v), confidence)
	c.Median, c.Lo, c.Hi = s.Center, bounded(s.Lo), bounded(s.Hi)
	if c.Lo == nil || c.Hi == nil {
		c.Lo, c.Hi = nil, nil // one bound alone would pass for an interval
	}
	c.Min, c.Max, c.Mean = v[0], v[len(v)-1], mean(v)
}

func bounded(v float64) *float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}

func constant(v []float64) bool { return len(v) > 0 && v[0] == v[len(v)-1] }

// compare compares sorted values with those of the first column.
func (j judge) compare(old, now []float64, was, is *Cell) *Comparison {
	if len(old) == 0 || len(now) == 0 {
		return &Comparison{Verdict: Unmatched}
	}
	c := &Comparison{Of: "median", Has: min(len(old), len(now)), change: is.Median - was.Median, base: was.Median}
	if c.change == 0 {
		c.Of, c.change, c.base = "mean", is.Mean-was.Mean, was.Mean
	}
	if constant(old) && constant(now) && old[0] == now[0] {
		c.Of, c.change = "median", 0 // whatever rounding did to the means
	}
	if j.exact && constant(old) && constant(now) {
		j.decide(c, c.change != 0)
		return c
	}
	if c.Has < forTest {
		return c.inconclusive(forInterval, "")
	}
	res := benchmath.AssumeNothing.Compare(sorted(thin(old)), sorted(thin(now)))
	if c.P = bounded(res.P); c.P != nil && res.P <= res.Alpha {
		j.decide(c, true)
		return c
	}
	return j.notSeen(c, old, now)
}

// decide says which way a difference goes.
func (j judge) decide(c *Comparison, seen bool) {
	switch {
	case !seen:
		c.Verdict, c.Note = Same, "all samples equal"
		return
	case j.better == 0 || c.change == 0:
		c.Verdict = Changed
	case (c.change > 0) == (j.better > 0):
		c.Verdict = Better
	default:
		c.Verdict = Worse
	}
	delta := c.change
	c.Delta = &delta
	if c.base != 0 {
		c.Percent = bounded(100 * (c.change / math.Abs(c.base)))
	}
}

// notSeen tells no difference from too few samples to see one.
func (j judge) notSeen(c *Comparison, old, now []float64) *Comparison {
	if constant(old) && constant(now) && old[0] == now[0] {
		c.Verdict, c.Note, c.P = Same, "all samples equal", nil
		return c
	}
	if above := notZero(now); j.better < 0 && constant(old) && old[0] == 0 && above > 0 {
		// So many samples, of which the same share is not zero, would be seen.
		needs := (forInterval*len(now) + above - 1) / above
		return c.inconclusive(max(needs, c.Has+1), fmt.Sprintf("%d of %d not 0", above, len(now)))
	}
	if c.Has < forInterval {
		return c.inconclusive(forInterval, "")
	}
	c.Verdict = Same
	return c
}

func notZero(v []float64) (n int) {
	for _, x := range v {
		if x != 0 {
			n++
		}
	}
	return n
}

func (c *Comparison) inconclusive(needs int, note string) *Comparison {
	c.Verdict, c.Needs, c.Note, c.P = Inconclusive, needs, note, nil
	return c
}
