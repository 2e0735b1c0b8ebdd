package fault

// Jumps of a clock, in TTLs. One ahead ends every lease at once.
const (
	leastJump = 1.1
	mostJump  = 3.0
)

// ahead puts a master's clock ahead.
func ahead(w StoreWorld, master int) error {
	return w.Jump(master, leastJump+(mostJump-leastJump)*w.Random())
}

// clockJump is a clock that somebody sets, or that a time server steps: the master
// sees all its leases run out at once.
func clockJump() Fault {
	return Fault{
		Name:  "clock-jump",
		About: "one master's clock jumps ahead by more than a TTL",
		Store: true, Danger: Guarded, SetsClock: true,
		Strike: once(ahead),
	}
}
