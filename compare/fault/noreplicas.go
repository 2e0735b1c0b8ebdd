package fault

// noReplicas is a master with min-replicas-to-write that has lost its replicas: it
// refuses all writes, renewals included.
func noReplicas() Fault {
	return Fault{
		Name:  "no-replicas",
		About: "one master refuses all writes, for want of replicas",
		Store: true, Least: leastRefused, Most: mostRefused,
		Strike: onStore(func(w StoreWorld) (func() error, error) {
			t, err := aim(w)
			if err != nil {
				return nil, err
			}
			w.Struck(t.master)
			return t.and(func() error { return w.Accept(t.master) }), w.Refuse(t.master, NoReplicas)
		}),
	}
}
