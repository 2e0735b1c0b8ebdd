package fault

// failoverAcks is a failover of masters whose answers count only when a replica has
// acknowledged them: from the instant at which the replica begins to lag, no
// renewal counts, and nobody can be elected before it is promoted.
func failoverAcks() Fault {
	return Fault{
		Name:  "failover-acks",
		About: "as failover, where only what a replica acknowledged counts",
		Store: true, Acks: 1,
		Strike: onStore(func(w StoreWorld) (func() error, error) {
			t, err := unacknowledged(w)
			if err != nil {
				return nil, err
			}
			w.Struck(t.master)
			return t.heal(), w.Promote(t.master, "")
		}),
	}
}

// unacknowledged is aim at a master whose replica lags since a while. The leader
// may have lost its term by that.
func unacknowledged(w StoreWorld) (*target, error) {
	t, err := aim(w)
	if err != nil {
		return nil, err
	}
	if err := w.Snapshot(t.master); err != nil {
		return nil, err
	}
	w.Pass(1.2 * w.Random())
	return t, nil
}
