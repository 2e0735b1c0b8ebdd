package fault

// hungMaster is a server that is swapped out, forks a huge process or runs somebody's
// endless script: it takes what comes and answers all of it late, also what nobody
// waits for any more.
func hungMaster() Fault {
	return Fault{
		Name:  "hung-master",
		About: "one master hangs for a while, then executes all that had come",
		Store: true, Least: 0.5, Most: 2,
		Strike: onStore(func(w StoreWorld) (func() error, error) {
			t, err := aim(w)
			if err != nil {
				return nil, err
			}
			w.Struck(t.master)
			return t.and(func() error { return w.Resume(t.master) }), w.Hang(t.master)
		}),
	}
}
