package metrics

import "incumbent/election"

// Observers makes one observer of several, for election.Options.Observer, which takes
// one. Each gets every event, in the order given. They share one goroutine, so that a
// slow one delays those after it, though never the elector: put this package's first.
// nil ones are left out.
func Observers(all ...func(election.Event)) func(election.Event) {
	return func(ev election.Event) {
		for _, f := range all {
			if f != nil {
				f(ev)
			}
		}
	}
}
