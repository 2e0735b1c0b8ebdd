package fault

// flushAll is a FLUSHALL, or an instance that was swapped for an empty one: lease
// and record are lost together.
func flushAll() Fault {
	return Fault{
		Name:  "flushall",
		About: "all that one master stores is deleted",
		Store: true, Danger: Guarded, Replaces: 1,
		Strike: once(func(w StoreWorld, master int) error { return w.Flush(master) }),
	}
}
