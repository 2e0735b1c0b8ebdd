package fault

// suspend is a laptop lid or a virtual machine that is paused with its clocks going
// on: like pause, but a timer that was due in a second is still due in a second when
// the host wakes up. Whoever trusts timers leads on with a lease that ended long ago.
func suspend() Fault {
	return Fault{
		Name:   "suspend",
		About:  "the leader's host is suspended: as pause, and its timers stand still",
		Stalls: true, Simulated: true, Least: leastPause, Most: mostPause,
		Strike: onStore(func(w StoreWorld) (func() error, error) {
			leader := w.Leader()
			return func() error { return w.Wake(leader) }, w.Suspend(leader)
		}),
	}
}
