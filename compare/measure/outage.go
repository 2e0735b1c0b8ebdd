package measure

import (
	"time"

	"incumbent/compare/history"
)

// outage splits a failover into the store's own outage and the election after it.
func (f *Figures) outage(events []history.Event, terms []span, masters int) {
	struck, ok := firstFault(events)
	if !ok {
		return
	}
	down, up, ok := storeOutage(events, masters)
	if !ok {
		return
	}
	for _, t := range terms { // one that begins meanwhile shows that the store serves
		if t.start > down {
			up = min(up, t.start)
		}
	}
	f.StoreOut = true
	f.Outage = up - struck.At
	if f.FailedOver && f.Failover >= f.Outage {
		f.Elected = true
		f.Election = f.Failover - f.Outage
	}
}

// storeOutage is from when until when the first fault, and no later one, left fewer than
// a majority of masters that serve; false if it did not, or if they did not come back.
func storeOutage(events []history.Event, masters int) (down, up time.Duration, ok bool) {
	gone := map[string]bool{}
	faults, out := 0, false
	for _, ev := range events {
		switch ev.Kind {
		case history.Fault:
			faults++
		case history.MasterDown:
			gone[ev.Actor] = true
		case history.MasterUp:
			delete(gone, ev.Actor)
		default:
			continue
		}
		serves := masters-len(gone) > masters/2
		switch {
		case out && serves:
			return down, ev.At, true
		case !out && !serves && faults == 1:
			down, out = ev.At, true
		}
	}
	return 0, 0, false
}
