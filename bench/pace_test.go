package bench

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestPace: blocks share the time; where they take longer there are fewer rounds, but
// never too few for an interval.
func TestPace(t *testing.T) {
	for _, tt := range []struct {
		block  time.Duration // that a block takes at least
		rounds int
	}{
		{0, 20},
		{10 * time.Millisecond, 20},
		{20 * time.Millisecond, 13}, // 10 s, and a quarter more, at 50 blocks a round
		{time.Second, MinRounds},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := pace{begin: time.Now(), time: 10 * time.Second, round: 50, total: 20 * 50}
			rounds := 0
			for rounds < 20 && !p.over() {
				for range p.round {
					time.Sleep(max(p.share(), tt.block))
					p.done++
					if e := p.expected(); e < p.done || e > p.total {
						t.Fatalf("after %d blocks it expects %d", p.done, e)
					}
				}
				rounds++
			}
			if rounds != tt.rounds {
				t.Errorf("blocks of %s: %d rounds, want %d", tt.block, rounds, tt.rounds)
			}
			if took := time.Since(p.begin); tt.block <= 10*time.Millisecond && took > 10*time.Second+time.Millisecond {
				t.Errorf("blocks of %s took %s", tt.block, took)
			}
		})
	}
}
