package remote

import (
	"math"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/lab/local"
)

// An Estimate says what a comparison is going to ask of masters.
type Estimate struct {
	// Length is about how long it takes.
	Length time.Duration
	// Keys is how many keys a master has at most at any time, Elections how many there
	// are in all, one after another.
	Keys, Elections int
	// Requests a second are at most about what one master gets.
	Requests int
}

// What a run takes beside its fault, whatever the TTL.
const runStart = 500 * time.Millisecond

// What a candidate asks of one master when it starts, when it is refused or takes
// over, and besides for each TTL, generously.
const (
	requestsAtStart = 30
	requestsPerTTL  = 30
)

// Estimate estimates a comparison of those runs. It is zero for a set without modes.
func (s *Set) Estimate(specs []local.Spec, candidates int) Estimate {
	if s.TTL <= 0 {
		return Estimate{}
	}
	e := Estimate{Keys: 2, Elections: s.Elections(len(specs)), Length: time.Duration(2*len(s.targets)) * Samples * Pace}
	for _, spec := range specs {
		e.Length += s.length(spec)
	}
	perMaster := float64(candidates) * (requestsAtStart + requestsPerTTL/s.TTL.Seconds())
	e.Requests = max(int(2*time.Second/Pace), int(math.Ceil(perMaster))) // the look beforehand is not paced
	return e
}

// length is about how long a run takes: until it strikes, while it lasts, and until
// somebody leads after it.
func (s *Set) length(spec local.Spec) time.Duration {
	f, err := playing(spec)
	if err != nil {
		return 0
	}
	ttls := 1.5 // a strike half a TTL into a term, and a lease that runs out
	switch {
	case f.Releases:
		ttls = 0.1
	case f.Most > 0:
		ttls = 0.5 + max(1, (f.Least+f.Most)/2) + 0.5
	}
	if f.Store && spec.Masters > 1 {
		ttls++ // others' votes run out first
	}
	if spec.Schedule != nil {
		ttls = fault.MaxLength / 2
	}
	return runStart + time.Duration(ttls*float64(s.TTL))
}

// Lasting is after what time keys of a comparison are gone by themselves.
func (s *Set) Lasting() time.Duration { return retention + s.TTL }
