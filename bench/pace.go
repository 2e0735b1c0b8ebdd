package bench

import "time"

// pace divides the time of a run among its blocks.
type pace struct {
	begin time.Time
	time  time.Duration // that all should take
	round int           // blocks of a round
	total int           // blocks of all rounds
	done  int
}

// share is how long the next block should take: what is left of the time is shared by
// what is left to do.
func (p *pace) share() time.Duration {
	return max((p.time-time.Since(p.begin))/time.Duration(p.total-p.done), 0)
}

// most is how long all may take. A block has some operations at least, so that on a slow
// network all would take many times what they should.
func (p *pace) most() time.Duration { return p.time * 5 / 4 }

// over reports whether to stop, after enough rounds for an interval.
func (p *pace) over() bool {
	return p.done >= MinRounds*p.round && time.Since(p.begin) > p.most()
}

// expected is how many blocks there will be, as far as can be told.
func (p *pace) expected() int {
	took := time.Since(p.begin)
	if took <= 0 {
		return p.total
	}
	fit := float64(p.done) * float64(p.most()) / float64(took)
	if fit >= float64(p.total) {
		return p.total
	}
	return max(int(fit), p.done, MinRounds*p.round)
}
