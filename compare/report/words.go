package report

import (
	"slices"

	"incumbent/compare/history"
	"incumbent/compare/lab/local"
	"incumbent/compare/lab/remote"
)

// A definition says what a word means. Package measure has the exact ones.
type definition struct{ Word, Text string }

// common are definitions of words that all reports use.
var common = []definition{
	{"Failover", "From the fault to the start of the next term. A run without a next term is not counted as one that took no time: n is smaller."},
	{"Floor and overshoot", "Floor: the time that the lease still had at the store when the fault struck; 0 when the leader resigned; in quorum until so many masters had expired that a majority was free. Overshoot: failover less the floor."},
	{"Store outage, and election after it", "What a failover consists of where the fault struck the store: from the fault until a majority of masters executed again what they were asked, writes included, and from then on to the start of the next term, which is what the elector and the guards take. A quorum that keeps its majority has no outage, and a leader that outlived it no election; a restart takes no time in the virtual lab."},
	{"Leaderless", "For how long, from the fault to the end of the run, no candidate's term was valid. A crashed leader's term counts until its deadline."},
	{"Belief overlap", "Two candidates' terms were valid at once, each by its own judgement, in the time of one clock."},
	{"Acts overlap", "The split-brain window: from the start of a term until the last act of an earlier term reached the resource."},
	{"Stale or late act", "An act of an earlier term that arrived after a later term had begun. A fence knows a term from its first act on; what it took before that is not counted as taken."},
	{"Guards", "What the electors themselves check of a store, against restarts without data, lagging replicas, deleted leases and clocks that jump. Faults that guards are for are played with guards on and off."},
	{"Beyond guards", "Faults that no guard closes: old-primary, in which the old primary goes on to serve its leader, and clock-jump-new. " + whatHelps},
	{"Kept", "Runs in which the leader outlived the fault."},
	{"Intervals", "95 % confidence. Of a median and a quantile by order statistics, of a share by Clopper and Pearson, of a share of which no run showed any one-sided: \"0 of 2,000 (95 % upper bound 0.15 %)\" is a bound that is too low in at most one of 20 such reports. A maximum has none: it grows with the number of runs. Runs of several faults and modes share seeds, and are taken as independent when they are added up."},
}

// labs are definitions of what was played in, by the names of labs.
var labs = map[string]definition{
	history.Virtual:    {"Virtual lab", "The real election code and Redis client on a simulated network and clock. It shows what the protocol does; times that depend on your network, disks and garbage collector must be measured there."},
	history.Local:      {"Local lab", "Candidates and Redis servers are real processes on one machine, struck by real signals, restarts and proxies that go dark. It shows what the protocol does with a real server; its times have the scheduling of this machine in them, and none of your network. No seed plays a run again: compare intervals."},
	local.SentinelName: {"Sentinel lab", "The local lab with one primary, its replicas and real Sentinels, which promote: candidates and servers are real processes on one machine. Its times have the scheduling of this machine and the Sentinels' own settings in them, and none of your network. No seed plays a run again: compare intervals."},
	remote.Name:        {"Remote lab", "Candidates are real processes on this machine, and the servers are your own, over your network. Faults strike candidates and their ends of connections, never a server. No seed plays a run again: compare intervals."},
}

// realActs is what a reader of acts that overlap must know where processes are real.
var realActs = definition{"Late acts of real processes", "The system may stop a process between its check and its act at any time, under every fault and with none, and an act then arrives late whatever leases and guards do. What they promise is belief: that no two candidates believe to lead at once. Only a resource that compares tokens refuses such an act."}

// definitions are those of the words that a report of that lab uses.
func definitions(lab string) []definition {
	list := slices.Clone(common)
	if lab != history.Virtual {
		list = append(list, realActs)
	}
	if d, ok := labs[lab]; ok {
		list = append(list, d)
	}
	return list
}
