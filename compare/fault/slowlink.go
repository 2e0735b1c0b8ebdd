package fault

// How much slower links get each way, in TTLs: from what renewals hardly feel to what
// none survives.
const (
	leastSlow = 0.05
	mostSlow  = 1.0
)

// slowLink is a congested line, or a host whose packets take a detour: all that the
// leader asks of masters, and all answers, come late.
func slowLink() Fault {
	return Fault{
		Name:      "slow-link",
		About:     "the leader's links get slower, by TTL/20 to a TTL each way",
		Simulated: true, Least: leastPause, Most: mostPause,
		Strike: onStore(func(w StoreWorld) (func() error, error) {
			leader := w.Leader()
			heal := func() error { return w.Slow(leader, 0) }
			return heal, w.Slow(leader, leastSlow+(mostSlow-leastSlow)*w.Random())
		}),
	}
}
