package fault

// Pauses outlast the lease, so that a successor has begun when the old leader
// wakes up; by how much is left to chance. A shorter one is no fault at all.
const (
	leastPause = 1.25
	mostPause  = 2.0
)

// pause is a SIGSTOP at a random moment: a long collection of garbage, a
// starved container, a debugger.
func pause() Fault {
	return Fault{
		Name:   "pause",
		About:  "the leader's process is frozen for longer than a TTL, then goes on",
		Stalls: true, Least: leastPause, Most: mostPause,
		Strike: func(w World) (func() error, error) {
			leader := w.Leader()
			return func() error { return w.Thaw(leader) }, w.Freeze(leader)
		},
	}
}
