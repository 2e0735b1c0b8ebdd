package fault

// failoverTwice is a failover, and a second one before the first is over: to
// another replica, or back to the server that was the primary before and is known
// by its run_id already. Between the two a new leader may have been elected of
// which the second replica knows nothing.
func failoverTwice() Fault {
	return Fault{
		Name:  "failover-twice",
		About: "as failover, and soon after it to another replica, or back",
		Store: true, Danger: Guarded, Replaces: 2,
		Strike: onStore(func(w StoreWorld) (func() error, error) {
			t, err := behind(w)
			if err != nil {
				return nil, err
			}
			w.Struck(t.master)
			if err := w.Promote(t.master, ""); err != nil {
				return nil, err
			}
			return t.heal(), again(w, t.master)
		}),
	}
}

// again lets a second replica lag, and promotes it.
func again(w StoreWorld, master int) error {
	w.Pass(1.2 * w.Random())
	snapshot := w.Snapshot
	if w.Random() < 0.5 {
		snapshot = w.Demote
	}
	if err := snapshot(master); err != nil {
		return err
	}
	w.Pass(1.5 * w.Random())
	w.Struck(master)
	return w.Promote(master, "")
}
