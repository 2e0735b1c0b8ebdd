package fault

// partition cuts the leader off from the store, and from nothing else: it still
// reaches the resource that it works on. It lasts as long as a pause, and what
// was held up on the way arrives when it is healed.
func partition() Fault {
	return Fault{
		Name:  "partition",
		About: "the leader is cut off from all masters, but not from its resource",
		Least: leastPause, Most: mostPause,
		Strike: func(w World) (func() error, error) {
			leader := w.Leader()
			return func() error { return w.Heal(leader) }, w.Cut(leader)
		},
	}
}
