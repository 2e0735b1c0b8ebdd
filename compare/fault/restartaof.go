package fault

// restartAOF is a master with an append-only file that crashes and comes back: it has all
// that it had acknowledged, and is another process.
func restartAOF() Fault {
	return Fault{
		Name:  "restart-aof",
		About: "one master restarts at once, with all its data",
		Store: true, Replaces: 1,
		Strike: once(func(w StoreWorld, master int) error { return w.Restart(master, AllData) }),
	}
}
