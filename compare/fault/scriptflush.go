package fault

// scriptFlush is a SCRIPT FLUSH at the worst moment: nobody's scripts are known when
// a successor is needed, since the leader resigns or dies in the same instant.
func scriptFlush() Fault {
	return Fault{
		Name:  "script-flush",
		About: "all masters forget their scripts, and the leader resigns or dies",
		Store: true, Kills: 1,
		Strike: onStore(func(w StoreWorld) (func() error, error) {
			t, err := aim(w)
			if err != nil {
				return nil, err
			}
			end, heal := w.Resign, t.heal()
			if w.Random() < 0.5 {
				end, heal = w.Kill, nil // the links of the dead stay as they are
			}
			if err := end(t.leader); err != nil {
				return nil, err
			}
			w.Struck(t.master)
			for m := range w.Masters() {
				if err := w.FlushScripts(m); err != nil {
					return nil, err
				}
			}
			return heal, nil
		}),
	}
}
