package fault

// evict is a server that is short of memory and may evict any key: the lease,
// which is read least often, and perhaps the record as well.
func evict() Fault {
	return Fault{
		Name:  "evict",
		About: "one master evicts the lease, and in half of the runs the record",
		Store: true, Danger: Guarded, Replaces: 1,
		Strike: once(func(w StoreWorld, master int) error { return w.Evict(master, w.Random() < 0.5) }),
	}
}
