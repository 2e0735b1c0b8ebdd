package fault

// failover is a replica that missed renewals, or the whole term, and is promoted
// in place of its master. Its record may be older than the lease, and the lease
// has run out there, or is that of the term before.
func failover() Fault {
	return Fault{
		Name:  "failover",
		About: "a replica that lags is promoted in place of one master",
		Store: true, Danger: Guarded, Replaces: 1,
		Strike: onStore(func(w StoreWorld) (func() error, error) {
			t, err := behind(w)
			if err != nil {
				return nil, err
			}
			w.Struck(t.master)
			return t.heal(), w.Promote(t.master, "")
		}),
	}
}

// How many TTLs ago data are from, at least and at most, when they come back.
const (
	leastLag = 0.6
	mostLag  = 1.6
)

// behind is aim, with a snapshot of the master that is out of date: from before the
// term, in half of the runs, or else from before some renewals.
func behind(w StoreWorld) (*target, error) {
	t := pick(w)
	if err := w.Snapshot(t.master); err != nil {
		return nil, err
	}
	if w.Random() < 0.5 {
		if err := w.Resign(t.leader); err != nil {
			return nil, err
		}
		w.Pass(0.5)
		t.leader = w.Leader()
	}
	w.Pass(leastLag + (mostLag-leastLag)*w.Random())
	if err := t.corner(); err != nil {
		return nil, err
	}
	return t, nil
}
