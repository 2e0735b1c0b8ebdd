package fault

// Shares of what is lost on a lossy link.
const (
	leastLoss = 0.3
	mostLoss  = 0.7
)

// lossyLink is a bad cable or an overloaded switch: much of what the leader and its
// masters send each other has to be sent again.
func lossyLink() Fault {
	return Fault{
		Name:      "lossy-link",
		About:     "30 to 70 % of what travels on the leader's links is lost at first",
		Simulated: true, Least: 1, Most: 3,
		Strike: onStore(func(w StoreWorld) (func() error, error) {
			leader := w.Leader()
			heal := func() error { return w.Lose(leader, 0) }
			return heal, w.Lose(leader, leastLoss+(mostLoss-leastLoss)*w.Random())
		}),
	}
}
