package fault

// clockJumpNew is a clockJump that no candidate but the leader could notice, since
// all others have just been started.
func clockJumpNew() Fault {
	return Fault{
		Name:  "clock-jump-new",
		About: "as clock-jump, and all standbys are replaced right after it",
		Store: true, Danger: Remaining, SetsClock: true,
		Strike: once(func(w StoreWorld, master int) error {
			if err := ahead(w, master); err != nil {
				return err
			}
			return w.Refresh()
		}),
	}
}
