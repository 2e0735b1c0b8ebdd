package fault

// readOnly is a REPLICAOF under the leader: a master becomes a replica of a server that
// knows nothing of the election, or what was true a while ago. It refuses writes until it
// is made a primary again, and then has the data of that server. The process has lived
// all the time: that it was a replica shows in master_replid2 only.
func readOnly() Fault {
	return Fault{
		Name:  "read-only",
		About: "one master becomes a replica of a server that knows less, for a while",
		Store: true, Danger: Guarded, Replaces: 1, Least: leastRefused, Most: mostRefused,
		Strike: onStore(func(w StoreWorld) (func() error, error) {
			find, why := aim, EmptyPrimary
			if w.Random() < 0.5 {
				find, why = behind, StalePrimary
			}
			t, err := find(w)
			if err != nil {
				return nil, err
			}
			w.Struck(t.master)
			return t.and(func() error { return w.Accept(t.master) }), w.Refuse(t.master, why)
		}),
	}
}
