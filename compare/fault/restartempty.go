package fault

// restartEmpty is a master without persistence that crashes and is started again
// by its supervisor, within a lease: it grants what it had granted before.
func restartEmpty() Fault {
	return Fault{
		Name:  "restart-empty",
		About: "one master restarts at once, without its data",
		Store: true, Danger: Guarded, Replaces: 1,
		Strike: once(func(w StoreWorld, master int) error { return w.Restart(master, NoData) }),
	}
}
