package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// twins is how many blocks an operation has in each round: A and A'.
const twins = 2

// slot is the place of a block in its round: an operation, and which of its twins.
type slot struct{ op, twin int }

// order is the order of the blocks of one round.
func order(rng *rand.Rand, ops int) []slot {
	var slots []slot
	for op := range ops {
		for twin := range twins {
			slots = append(slots, slot{op, twin})
		}
	}
	rng.Shuffle(len(slots), func(i, j int) { slots[i], slots[j] = slots[j], slots[i] })
	return slots
}

const (
	minBlock = 5  // operations that are timed in a block at least
	warmPart = 10 // a tenth of a block is to warm up
)

// timeBlock times an operation again and again for d, warming up included, and at least
// minBlock times.
func timeBlock(ctx context.Context, o *operation, d time.Duration) ([]time.Duration, error) {
	free := context.WithoutCancel(ctx)
	var took []time.Duration
	err := o.block(free, func() error {
		begin, warm := time.Now(), false
		for {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			t, err := timeOnce(free, o)
			if err != nil {
				return fmt.Errorf("%s: %w", o, err)
			}
			if warm {
				took = append(took, t)
			}
			past := time.Since(begin)
			warm = warm || past >= d/warmPart
			if past >= d && len(took) >= minBlock {
				return nil
			}
		}
	})
	return took, err
}

// timeOnce does the operation once, and says how long it took.
func timeOnce(ctx context.Context, o *operation) (time.Duration, error) {
	if err := call(ctx, o.before); err != nil {
		return 0, err
	}
	sent := time.Now()
	err := o.do(ctx)
	took := time.Since(sent)
	if err == nil {
		err = call(ctx, o.settle)
	}
	if err == nil {
		err = call(ctx, o.after)
	}
	return took, err
}
