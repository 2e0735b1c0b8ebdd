package fault

// Random is the name of the fault whose steps are drawn from the seed.
const Random = "random"

// How many steps a random schedule has, and how many TTLs lie between two at most.
const (
	leastSteps = 3
	mostSteps  = 8
	mostAfter  = 3.0
	// The failover guard is armed three times at most without a grant in between
	// (R4), and a leader that is given a master back by a re-seat needs no grant
	// there. So a fourth server in place of one master, promoted with data from before
	// the guard forgot the other three, grants what the leader still holds: the guard
	// has stood down, as it must for a proxy that shows another server each time.
	// (Seen with quorum3 under flushall, failover-twice, and a failover to a replica
	// that had lagged for two guards.)
	mostReplaces = 3
)

// random is a bad day: several faults, drawn by lot, one on top of the other.
func random() Fault {
	return Fault{
		Name:  Random,
		About: "3 to 8 other faults, drawn by lot, which may overlap",
		Store: true, Danger: Guarded, Stalls: true,
		Strike: onStage(func(w Stage) error {
			return (&player{Stage: w}).play(draw(w))
		}),
	}
}

// draw draws a schedule that leaves a candidate alive and a majority of masters up, and
// is not beyond the guards.
func draw(w Stage) []Step {
	var pool []Fault
	for _, f := range All() {
		if f.Danger != Remaining && f.Acks == 0 && !f.Calm && f.Name != Random {
			pool = append(pool, f)
		}
	}
	kills, loses, replaces := len(w.Candidates())-1, (w.Masters()-1)/2, mostReplaces
	n := leastSteps + int(w.Random()*(mostSteps-leastSteps+1))
	var list []Step
	for len(list) < n {
		f := pool[int(w.Random()*float64(len(pool)))]
		if f.Kills > kills || f.Loses > loses || f.Replaces > replaces {
			continue
		}
		kills, loses, replaces = kills-f.Kills, loses-f.Loses, replaces-f.Replaces
		r := w.Random()
		list = append(list, Step{After: mostAfter * r * r, Fault: f.Name}) // most of them soon
	}
	return list
}
