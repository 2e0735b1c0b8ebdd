package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// gauges describe what is read at each scrape.
type gauges struct {
	isLeader, token, remaining                         *prometheus.Desc
	masters, mastersConfigured                         *prometheus.Desc
	working, overrun                                   *prometheus.Desc
	guardWaited, guardRemaining                        *prometheus.Desc
	ttl, maxTTL, renewInterval, stepDown, renewTimeout *prometheus.Desc
}

func newGauges(electionName string) gauges {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(namespace+"_"+name, help, labels, prometheus.Labels{"election": electionName})
	}
	return gauges{
		isLeader:  desc("is_leader", "1 if this candidate provably led at the instant of the scrape, otherwise 0."),
		token:     desc("token", "Fencing token of the term; 0 while this candidate does not lead."),
		remaining: desc("term_remaining_seconds", "Time until leadership stops being provable unless the lease is renewed; 0 while this candidate does not lead."),

		masters:           desc("masters", "Masters that confirmed the last renewal, and those that did not; both 0 while this candidate does not lead.", "state"),
		mastersConfigured: desc("masters_configured", "Masters of the store; 0 if not known yet."),

		working: desc("work_running", "1 while work of a term runs, otherwise 0."),
		overrun: desc("work_overrun_current_seconds", "How long the running work has outlived its term; 0 if it has not."),

		guardWaited:    desc("guard_waited_seconds", "How long this campaign has waited for guards of the store; 0 if it does not wait."),
		guardRemaining: desc("guard_remaining_seconds", "How long the guards of the store still make bids wait; 0 if none does."),

		ttl:           desc("ttl_seconds", "How long a lease lasts without renewal, as configured."),
		maxTTL:        desc("max_ttl_seconds", "The longest TTL of any candidate, as configured: how long guards of the store last."),
		renewInterval: desc("renew_interval_seconds", "The longest time between two renewals, as configured."),
		stepDown:      desc("step_down_seconds", "How long before the deadline the work is told to stop, as configured."),
		renewTimeout:  desc("renew_timeout_seconds", "After how long a try to renew is given up: a quarter of the TTL."),
	}
}

func (g *gauges) all() []*prometheus.Desc {
	return []*prometheus.Desc{
		g.isLeader, g.token, g.remaining, g.masters, g.mastersConfigured, g.working, g.overrun,
		g.guardWaited, g.guardRemaining, g.ttl, g.maxTTL, g.renewInterval, g.stepDown, g.renewTimeout,
	}
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range c.counters.all() {
		m.Describe(ch)
	}
	for _, d := range c.gauges.all() {
		ch <- d
	}
}

// Collect implements prometheus.Collector. It reads the clock, and asks nobody.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	send := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	c.collectTerm(send)
	c.collectRest(send)
	for _, m := range c.counters.all() {
		m.Collect(ch)
	}
}

type sender func(d *prometheus.Desc, v float64, labels ...string)

// collectTerm shows the term, if there is one and it is valid. All is decided by one
// reading of the clock, so that the values of one scrape agree.
func (c *Collector) collectTerm(send sender) {
	c.mu.Lock()
	t, _ := c.follower.Term()
	confirmed, missing, masters := c.held, c.masters-c.held, c.masters
	c.mu.Unlock()
	role, token, left := standby, 0.0, 0.0
	if t != nil {
		left = t.Remaining().Seconds() // above 0 as long as the term is valid
	}
	if left > 0 {
		role, token = leader, float64(t.Token())
	} else {
		confirmed, missing = 0, 0
	}
	c.mu.Lock()
	c.account(role)
	c.mu.Unlock()
	send(c.gauges.isLeader, number(role == leader))
	send(c.gauges.token, token)
	send(c.gauges.remaining, left)
	send(c.gauges.masters, float64(confirmed), "confirmed")
	send(c.gauges.masters, float64(missing), "missing")
	send(c.gauges.mastersConfigured, float64(masters))
}

// collectRest shows work, waits and settings.
func (c *Collector) collectRest(send sender) {
	_, overrun, running := c.follower.Work()
	send(c.gauges.working, number(running))
	send(c.gauges.overrun, overrun.Seconds())
	waited, remaining := c.waiting()
	send(c.gauges.guardWaited, waited.Seconds())
	send(c.gauges.guardRemaining, remaining.Seconds())
	send(c.gauges.ttl, c.opt.TTL.Seconds())
	send(c.gauges.maxTTL, c.opt.MaxTTL.Seconds())
	send(c.gauges.renewInterval, c.opt.Renew.Seconds())
	send(c.gauges.stepDown, c.opt.StepDown.Seconds())
	send(c.gauges.renewTimeout, c.opt.renewTimeout().Seconds())
}

// waiting is how long the campaign has waited for guards, and still has to.
func (c *Collector) waiting() (waited, remaining time.Duration) {
	now := c.opt.Clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waits.began.IsZero() || now.After(c.waits.stale) {
		return 0, 0
	}
	return max(0, now.Sub(c.waits.began)), max(0, c.waits.until.Sub(now))
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
