package decide

import (
	"fmt"
	"slices"
)

// Other is what another elector was measured at.
type Other struct {
	// Name is what it is, Version what was measured.
	Name, Version string
	// Overshoot is what it adds to the lease's own time after a SIGKILL of the leader,
	// Handover the time from a resignation to the next leader: p50, p90 and max in
	// milliseconds.
	Overshoot, Handover string
	// Renew is the median of a renewal in microseconds, Standby what a standby asks in
	// commands a second; "" where that was not measured.
	Renew, Standby string
}

// OthersSource says how [Others] were measured. Only ratios carry over to another machine.
const OthersSource = "measured on one machine with 2 cores, servers and clients on loopback, 2026-11-29; SIGKILL with a TTL of 2s, hand-over with a TTL of 3s"

// Names of [Others].
const (
	Etcd       = "etcd"
	ZooKeeper  = "ZooKeeper"
	PostgreSQL = "PostgreSQL lease table, polled every 50 ms"
	Kubernetes = "Kubernetes Lease loop (client-go, retry 100 ms, over memory)"
)

// Others are electors that need no Redis, for comparison.
func Others() []Other {
	return []Other{
		{Etcd, "3.7.3", "347 / 450 / 459", "4.6 / 9.4 / 17", "185 (3 nodes)", "0"},
		{ZooKeeper, "3.8.0, tick 200 ms", "97 / 179 / 204", "4.6 / 7.8 / 14", "389", "0"},
		{PostgreSQL, "15.18", "34 / 48 / 54", "24 / 39 / 50", "412", ""},
		{Kubernetes, "0.37.2", "-312 / 74 / 291", "83 / 176 / 202", "", ""},
	}
}

// curable are the requirements that a store which never forgets a lease may keep where
// Redis, which may, does not: guards must wait, or two lead.
var curable = []string{Overlap, Leaderless}

// consensusServers is how many servers a majority takes that outlives one.
const consensusServers = 3

// elsewhere says where to look when no option fits nor should fit with another TTL.
func elsewhere(slo SLO, options []Option) Elsewhere {
	if slo.Overlap.Set && slo.Fence == No {
		return Resource
	}
	for i := range options {
		o := &options[i]
		if o.Fits || o.Advice != nil || len(o.keys(NotMeasured)) > 0 && len(o.keys(Missed)) == 0 {
			return Here
		}
	}
	if slo.Servers.Set && slo.Servers.Max < consensusServers {
		return Nowhere
	}
	if !quorums(options) {
		return Here
	}
	for i := range options {
		if only(options[i].keys(Missed), append(curable, Survive)) {
			return Consensus
		}
	}
	return Nowhere
}

// quorums reports whether a quorum is among the options.
func quorums(options []Option) bool {
	return slices.ContainsFunc(options, func(o Option) bool { return o.Mode.Masters > 1 })
}

// only reports whether all keys are among some.
func only(keys, some []string) bool {
	return !slices.ContainsFunc(keys, func(k string) bool { return !slices.Contains(some, k) })
}

// text says what to do.
func (e Elsewhere) text(slo SLO) string {
	switch e {
	case Resource:
		return "No elector helps, etcd and ZooKeeper neither: a process can stop between its check and its act. " +
			"Let the resource compare tokens (fence=yes), put something in front of it that does, or make the work idempotent and drop this requirement."
	case Consensus:
		return "Consensus is due: a store that has each lease on the disks of a majority before it answers, such as etcd or ZooKeeper, " +
			"forgets none and need not wait after a restart. Still compare tokens."
	case Nowhere:
		return nowhere(slo)
	}
	return ""
}

// Step says in a sentence what to do where no comparison helps; "" where one does.
func (e Elsewhere) Step() string {
	switch e {
	case Resource:
		return "compare tokens at the resource (docs/fencing.md), or make the work idempotent."
	case Consensus:
		return "look at etcd or ZooKeeper (docs/choosing.md, \"single, quorum or consensus\"), or relax a limit."
	case Nowhere:
		return "relax a limit (docs/choosing.md, \"Say what you need: the SLO\"), and compare again."
	}
	return ""
}

// figures cites what consensus stores were measured at.
func figures() string {
	o := Others()
	return fmt.Sprintf("What consensus costs, p50 / p90 / max: after a crash %s adds %s ms to the lease's time and %s %s ms; a hand-over takes %s and %s ms (%s). "+
		"Restarts of their servers were not measured.",
		o[0].Name, o[0].Overshoot, o[1].Name, o[1].Overshoot, o[0].Handover, o[1].Handover, OthersSource)
}

// nowhere says which requirement must give way.
func nowhere(slo SLO) string {
	if slo.Servers.Set && slo.Servers.Max < consensusServers {
		return fmt.Sprintf("No store keeps to this with %s: a majority that outlives the loss of one takes %d, with etcd and ZooKeeper as with quorum. One of the requirements must give way.",
			plural(slo.Servers.Max, "server"), consensusServers)
	}
	return "One of the requirements must give way: no TTL keeps to all limits on this link, and consensus is no faster."
}
