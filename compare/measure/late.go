package measure

import (
	"time"

	"incumbent/compare/history"
)

// A LateAct is a stale one: of an earlier term, it arrived after a later term began.
type LateAct struct {
	history.Event
	// Began is when the first later term did.
	Began time.Duration
	// Taken says that a resource with a fence took it though it had seen an act of a
	// later term.
	Taken bool
}

// LateActs lists the stale acts of a run in the order in which they arrived. Its events
// may be in any order.
func LateActs(run history.Run) []LateAct {
	events := sorted(run)
	return lateActs(events, termsOf(events, run.Length))
}

func lateActs(events []history.Event, terms []span) (list []LateAct) {
	guard := fence{terms: terms}
	for _, ev := range events {
		if ev.Kind != history.Acted {
			continue
		}
		taken := guard.failed(ev)
		if first, stale := successor(terms, ev); stale {
			list = append(list, LateAct{ev, first.start, taken})
		}
	}
	return list
}
