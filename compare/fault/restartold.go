package fault

// restartOld is a master that crashes and comes back with what it had last written
// to disk: the lease may be missing there, or be the one of an earlier renewal that
// has run out since.
func restartOld() Fault {
	return Fault{
		Name:  "restart-old",
		About: "one master restarts at once, with the data of a while ago",
		Store: true, Danger: Guarded, Replaces: 1,
		Strike: onStore(func(w StoreWorld) (func() error, error) {
			t, err := behind(w)
			if err != nil {
				return nil, err
			}
			w.Struck(t.master)
			return t.heal(), w.Restart(t.master, SavedData)
		}),
	}
}
