package report

import (
	"fmt"

	"incumbent/compare"
	"incumbent/compare/decide"
	"incumbent/compare/fault"
	"incumbent/compare/measure"
)

// modeOption is a mode with what was measured of it.
func modeOption(r *compare.Result, m compare.Mode) adrOption {
	o := adrOption{Name: m.String(), About: "One Redis primary holds the lease."}
	if m.Masters > 1 {
		o.About = fmt.Sprintf("A majority of %d independent Redis masters holds the lease.", m.Masters)
	}
	cells := cellsOf(r, m)
	add := func(a argument, known bool) {
		if known {
			o.Arguments = append(o.Arguments, a)
		}
	}
	add(modeCost(r, m, cells))
	add(afterCrash(cells))
	add(afterResign(cells))
	add(afterRestart(cells))
	add(withoutMaster(m, cells))
	add(twoLeaders(cells))
	add(beyondGuards(r.Plan, cells))
	add(pauses(cells))
	return o
}

// modeCost says how many servers there are and, where known, what they are asked.
func modeCost(r *compare.Result, m compare.Mode, cells []measure.Cell) (argument, bool) {
	text := "it takes " + times(m.Masters, "server")
	for _, c := range cells {
		if c.Load != nil {
			all := c.Load.Leader + float64(r.Plan.Candidates-1)*c.Load.Standby
			text += fmt.Sprintf(" and %s commands a second of %s while nothing is wrong, at a TTL of %s",
				decide.PerSecond(all), times(r.Plan.Candidates, "candidate"), duration(r.Plan.TTL))
			break
		}
	}
	if m.Masters == 1 {
		return good("%s", text), true
	}
	return bad("%s", text), true
}

func afterCrash(cells []measure.Cell) (argument, bool) {
	c, ok := find(cells, crashFault)
	if !ok || c.Failover.N == 0 {
		return argument{}, false
	}
	return neutral("after a crash the next leader began within %s in half of %s, and within %s in the slowest; the lease's own time is most of that, what the elector added was %s at most",
		millis(c.Failover.P50), times(c.Failover.N, "run"), millis(c.Failover.Max), millis(c.Overshoot.Max)), true
}

func afterResign(cells []measure.Cell) (argument, bool) {
	c, ok := find(cells, resignFault)
	if !ok || c.Failover.N == 0 {
		return argument{}, false
	}
	return good("a leader that resigns was followed within %s in half of %s, and within %s in the slowest",
		millis(c.Failover.P50), times(c.Failover.N, "run"), millis(c.Failover.Max)), true
}

func afterRestart(cells []measure.Cell) (argument, bool) {
	c, ok := find(cells, restartFault)
	if !ok {
		return argument{}, false
	}
	return bad("half of %s of one master without its data cost %s or less without a leader, the worst %s (guards %s)",
		times(c.Runs, "restart"), millis(c.Leaderless.P50), millis(c.Leaderless.Max), c.Guards), true
}

// withoutMaster says what the loss of a master does.
func withoutMaster(m compare.Mode, cells []measure.Cell) (argument, bool) {
	if m.Masters == 1 {
		return bad("nobody can be elected while its one master is away"), true
	}
	c, ok := find(cells, "master-crash")
	if !ok {
		return argument{}, false
	}
	if went := c.Kept + c.Failover.N; went < c.Runs {
		return bad("it went on in only %s of %s in which a master was lost for good", grouped(went), times(c.Runs, "run")), true
	}
	return good("it went on in all of %s in which a master was lost for good, after %s without a leader in the worst",
		times(c.Runs, "run"), millis(c.Leaderless.Max)), true
}

// twoLeaders says what guards keep from happening.
func twoLeaders(cells []measure.Cell) (argument, bool) {
	on, with, worst := sum(cells, func(c measure.Cell) bool { return c.Promise().Belief && guarded(c) })
	off, offWith, offWorst := sum(cells, func(c measure.Cell) bool { return closes(c) && !guarded(c) })
	if on == 0 {
		return argument{}, false
	}
	text := "where leases and guards rule it out two believed to lead at once in " + some(with, on)
	if off > 0 {
		text += "; with guards off in " + some(offWith, off)
	}
	if offWith > 0 {
		text += fmt.Sprintf(", for up to %s (%s)", millis(offWorst.BeliefWindow.Max), offWorst.Fault)
	}
	if with > 0 {
		return bad("%s, for up to %s (%s)", text, millis(worst.BeliefWindow.Max), worst.Fault), true
	}
	return good("%s", text), true
}

// beyondGuards says what guards do not keep from happening, fault by fault.
func beyondGuards(p compare.Plan, cells []measure.Cell) (argument, bool) {
	var parts []string
	acks := ""
	for _, c := range cells {
		switch {
		case !guarded(c):
		case c.Fault == acksFault:
			acks = fmt.Sprintf(" (with it, acts overlapped in %d of %s)", c.ActWindow.N, times(c.Runs, "run"))
		case known(p, c.Fault).Danger == fault.Remaining && c.ActWindow.N > 0:
			parts = append(parts, fmt.Sprintf("%s (in %s of %s, for up to %s)", c.Fault, grouped(c.ActWindow.N), times(c.Runs, "run"), millis(c.ActWindow.Max)))
		}
	}
	if len(parts) == 0 {
		return argument{}, false
	}
	return bad("acts of two leaders overlapped, with guards on, under faults that no guard closes: %s. Tokens at the resource help, and replica_acks for old-primary%s where no replica is cut off with the old primary",
		list(parts), acks), true
}

func pauses(cells []measure.Cell) (argument, bool) {
	c, ok := find(cells, pauseFault)
	if !ok || c.StaleAttempted == 0 {
		return argument{}, false
	}
	return neutral("of %s that a leader sent after a pause between its check and its act, a resource without a fence took %s, and one that compares tokens %s",
		times(c.StaleAttempted, "act"), grouped(c.StaleAcceptedUnfenced), ofAll(c.StaleAcceptedFenced, c.StaleAttempted)), true
}

// pausedActs says what became of acts of the past, in all modes.
func pausedActs(r *compare.Result) string {
	s := stalesOf(r.Cells)
	if s.attempted == 0 {
		return "no such act was seen here, since no pause was played or none was long enough"
	}
	return lateActs(s)
}

// others are options that were not played here. Their figures are those of another
// measurement.
func others() []adrOption {
	by := map[string]decide.Other{}
	for _, o := range decide.Others() {
		by[o.Name] = o
	}
	etcd, zookeeper, postgres, kubernetes := by[decide.Etcd], by[decide.ZooKeeper], by[decide.PostgreSQL], by[decide.Kubernetes]
	return []adrOption{
		{"Consensus (etcd, ZooKeeper)", "A store that has each lease on the disks of a majority before it answers; not played here.", []argument{
			good("it forgets no lease, so that nothing must wait after a restart"),
			good("its standbys ask nothing while they wait"),
			neutral("after a SIGKILL etcd %s added %s ms to the lease's time, and ZooKeeper (%s) %s ms (p50 / p90 / max); a hand-over took %s and %s ms",
				etcd.Version, etcd.Overshoot, zookeeper.Version, zookeeper.Overshoot, etcd.Handover, zookeeper.Handover),
			bad("it is another system to run, on three servers at least, where Redis is there already"),
			bad("a pause between check and act is as late with it: tokens are still needed"),
		}},
		{"A lease in PostgreSQL", "A row that is taken and renewed; not played here.", []argument{
			good("where the job writes to that database, lease and work can be checked in one transaction: that is a fence"),
			neutral("after a SIGKILL it added %s ms to the lease's time, with standbys that ask every 50 ms; a hand-over took %s ms (PostgreSQL %s)",
				postgres.Overshoot, postgres.Handover, postgres.Version),
			bad("a renewal took %s us in the median, and standbys must poll", postgres.Renew),
			bad("one primary: nobody can be elected while it is away"),
		}},
		{"A Kubernetes Lease", "The loop of client-go over the API server; not played here.", []argument{
			good("nothing has to be run where the service runs in Kubernetes"),
			neutral("after a SIGKILL its loop (client-go %s, over memory, asking every 100 ms) added %s ms to the lease's time; negative: it led before the lease had run out", kubernetes.Version, kubernetes.Overshoot),
			bad("its lease carries no token that a resource could compare, only a count of transitions"),
			bad("the election depends on the API server of the cluster"),
		}},
	}
}
