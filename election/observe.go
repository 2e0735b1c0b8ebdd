package election

import (
	"context"
	"iter"
	"time"
)

// Observe implements Elector.
func (e *elector) Observe(ctx context.Context) iter.Seq2[Leader, error] {
	return func(yield func(Leader, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		hints, err := e.store.Released(ctx)
		if err != nil {
			hints = nil // looking now and then serves as well, only later
		}
		var seen Leader
		var said string
		var soon time.Duration // until the next look after a release, 0 where none was heard
		for first := true; ctx.Err() == nil; first = false {
			l, err := e.Leader(ctx)
			if ctx.Err() != nil {
				return
			}
			if first || changed(seen, l, said, err) {
				if !yield(l, err) {
					return
				}
			}
			seen, said = l, errorText(err)
			pause := e.lookAgain(l)
			if soon = min(2*soon, pause); l.Left > 0 {
				soon = 0
			}
			if soon > 0 {
				pause = soon
			}
			if sleep(ctx, e.clock, pause, hints, nil) {
				soon = e.opt.TTL / 200 // doubled before the first of a few looks
			}
		}
	}
}

// lookAgain is when, without a word of a release, a change can be seen next: a lease that
// is not renewed has ended when it runs out, a free one can be taken at any time.
func (e *elector) lookAgain(l Leader) time.Duration {
	if l.Left > 0 {
		return min(l.Left+time.Millisecond, e.opt.TTL)
	}
	return e.opt.TTL / 3
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return troubleKind(err)
}

func changed(old, now Leader, said string, err error) bool {
	return old.Token != now.Token || old.Instance != now.Instance || said != errorText(err)
}
