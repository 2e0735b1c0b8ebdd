package fault

// masterPartition is a broken link between the leader and one master, which all
// others still reach.
func masterPartition() Fault {
	return Fault{
		Name:  "master-partition",
		About: "the leader, and nobody else, is cut off from one master",
		Store: true, Least: leastPause, Most: mostPause,
		Strike: onStore(func(w StoreWorld) (func() error, error) {
			t, err := aim(w)
			if err != nil {
				return nil, err
			}
			heal := t.and(func() error { return w.HealFrom(t.leader, t.master) })
			w.Struck(t.master)
			return heal, w.CutFrom(t.leader, t.master)
		}),
	}
}
