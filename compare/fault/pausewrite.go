package fault

// pauseWrite is a pause at the worst moment: between the check that it leads
// and the write that relies on it. No lease helps against that; the resource must
// refuse the write (Kleppmann, "How to do distributed locking", 2016).
func pauseWrite() Fault {
	return Fault{
		Name:   "pause-write",
		About:  "as pause, but exactly between the leader's check and its write",
		Stalls: true, Least: leastPause, Most: mostPause,
		Strike: func(w World) (func() error, error) {
			leader := w.Leader()
			return func() error { return w.Thaw(leader) }, w.FreezeBeforeWrite(leader)
		},
	}
}
