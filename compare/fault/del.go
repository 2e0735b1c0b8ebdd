package fault

// del is an operator who thinks that a lock is stuck.
func del() Fault {
	return Fault{
		Name:  "del",
		About: "the lease is deleted by hand at one master",
		Store: true, Danger: Guarded,
		Strike: once(func(w StoreWorld, master int) error { return w.Forget(master) }),
	}
}
