package metrics

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"incumbent/election"
)

const namespace = "incumbent"

// Roles in which commands are sent.
const (
	leader  = "leader"
	standby = "standby"
)

// counters are the metrics that events add to.
type counters struct {
	terms, dropped                                                  prometheus.Counter
	losses, bids, renewErrors, commandsSent, fencedActs, guardWaits *prometheus.CounterVec
	renewTook, renewLag, overruns                                   prometheus.Histogram
}

// newCounters makes them, with all their series.
func newCounters(o Options) counters {
	labels := prometheus.Labels{"election": o.Election}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help, ConstLabels: labels})
	}
	vec := func(name, help, label string, values ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help, ConstLabels: labels}, []string{label})
		for _, x := range values {
			v.WithLabelValues(x)
		}
		return v
	}
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Name: name, Help: help, ConstLabels: labels, Buckets: buckets,
		})
	}
	ttl := o.TTL.Seconds()
	return counters{
		terms:        counter("terms_total", "Terms that this candidate has begun."),
		dropped:      counter("events_dropped_total", "Events that the observers were too slow for; counts of bids and renewals miss them."),
		losses:       vec("losses_total", "Terms that ended, by reason.", "reason", lossWords()...),
		bids:         vec("bids_total", "Bids for the lease, by outcome.", "outcome", words(bidKinds, won, held, failed)...),
		renewErrors:  vec("renew_errors_total", "Tries to renew that failed, by kind of error.", "kind", words(renewKinds, other)...),
		commandsSent: vec("store_commands_total", "Commands sent to the store, by role at that time.", "role", leader, standby),
		fencedActs:   vec("fenced_acts_total", "Acts and raises that a guarded resource refused.", "op", opAct, opRaise),
		guardWaits:   vec("guard_waits_total", "Campaigns that had to wait for a guard of the store.", "guard", guardWords(election.AllGuards|election.HandOverGuard)...),
		renewTook: histogram("renew_duration_seconds", "How long renewals that counted took, from the request to the handled answer.",
			o.renewBuckets()),
		renewLag: histogram("renew_lag_seconds", "How much later than planned renewals were sent: a busy or paused process.",
			append(buckets(0.0005, ttl), ttl)),
		overruns: histogram("work_overrun_seconds", "How long work outlived its term, for work that did.",
			append(buckets(0.001, 10*ttl), 10*ttl)),
	}
}

func (c *counters) all() []prometheus.Collector {
	return []prometheus.Collector{
		c.terms, c.dropped, c.losses, c.bids, c.renewErrors, c.commandsSent, c.fencedActs, c.guardWaits,
		c.renewTook, c.renewLag, c.overruns,
	}
}

// refused counts a bid that did not win, and notes a wait for guards. c.mu is held.
func (c *Collector) refused(ev election.Event) {
	c.bids.WithLabelValues(bidOutcome(ev.Err)).Inc()
	var g *election.GuardError
	if !errors.As(ev.Err, &g) {
		c.waits = wait{}
		return
	}
	for _, w := range guardWords(g.Guards &^ c.waits.guards) {
		c.guardWaits.WithLabelValues(w).Inc()
	}
	if c.waits.began.IsZero() {
		c.waits.began = ev.At
	}
	c.waits.guards, c.waits.until = g.Guards, ev.At.Add(g.Left)
	// The elector bids again when the guards end or a TTL has passed; a bid takes a
	// while. After that it has given up, of which no event tells.
	c.waits.stale = ev.At.Add(min(g.Left, c.opt.TTL) + c.opt.TTL)
}
