// Package metrics shows an elector to Prometheus.
//
// # What is not promised
//
// A graph does not show two leaders. Candidates are scraped one after the other, some
// seconds apart, so an overlap that is shorter than the interval between scrapes never
// shows, and two scrapes around a hand-over can both say 1 though at no instant both
// candidates led. The alert rules in folder ops therefore wait for 30 seconds. The
// insurance against two leaders is the fence at the resource (package fence), not the
// graph.
//
// A new term shows once the elector's event was delivered, a moment after it began, or
// later if another observer in the same chain is slow. Until then incumbent_is_leader
// is 0 although the candidate leads; it is never 1 although it does not.
//
// Events other than the beginning and end of terms are dropped when the observers fall
// far behind. Counters of renewals and bids are then too low;
// incumbent_events_dropped_total says by how much.
//
// # What is promised
//
// Whatever can change by itself is computed when Prometheus asks: incumbent_is_leader
// is Term.Valid at that instant, and so are the time left, the masters, the running
// work. Nothing remembers that this candidate leads, so a process that was paused, or
// whose store is gone, does not go on saying so.
//
// All series of an election exist from New on: before the first campaign, and at a
// candidate that never leads.
//
// # Labels
//
// Each series has the label election, with the name given to New. Make one Collector
// an election; any number of them go into one registry. There is no label for the
// candidate: Prometheus adds instance and job, which tell processes apart, while
// candidates' IDs contain a process id by default, so that each restart would begin new
// series and leave the old ones behind. Nor is there one for the token; it is a value.
//
// # Use
//
//	m, err := metrics.New(metrics.Options{Election: "bridge-health", TTL: cfg.TTL, Commands: client.Commands})
//	prometheus.MustRegister(m)
//	e, err := client.Elector("bridge-health", func(o *election.Options) {
//		o.Observer = metrics.Observers(m.Observe, h.Observe) // h is a *web.Handler
//	})
//
// The handler of promhttp shows the registry: give it to web.Options.Metrics, or to the
// service's own mux. Serve it before the first campaign begins.
//
// Acts that a resource refuses are known only where they are refused: pass their errors
// through Collector.Fenced, and guards through Collector.Guard or Collector.Acts.
//
// The alert rules and the dashboard for these metrics are in the folder ops.
package metrics
