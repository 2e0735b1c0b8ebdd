package fault

// masterCrash is what quorums are for: one server dies and stays away.
func masterCrash() Fault {
	return Fault{
		Name:  "master-crash",
		About: "one master dies and stays away",
		Store: true, Loses: 1,
		Strike: once(func(w StoreWorld, master int) error { return w.Stop(master) }),
	}
}
