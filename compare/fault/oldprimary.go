package fault

// oldPrimary is a split brain: a replica that lags is promoted, and all candidates
// are told so but the leader, which the old primary goes on to serve. No guard of
// the new one can know when that ends.
func oldPrimary() Fault {
	return Fault{
		Name:  "old-primary",
		About: "as failover, but the leader is still served by the old primary",
		Store: true, Danger: Remaining, Least: leastSplit, Most: mostSplit,
		Strike: onStore(func(w StoreWorld) (func() error, error) {
			t, err := behind(w)
			if err != nil {
				return nil, err
			}
			return t.split()
		}),
	}
}

// A split brain lasts longer than the guards of the new primary.
const (
	leastSplit = 2.0
	mostSplit  = 3.0
)

// split promotes a replica for all but the leader.
func (t *target) split() (heal func() error, err error) {
	heal = t.and(func() error { return t.w.Follow(t.leader, t.master) })
	t.w.Struck(t.master)
	return heal, t.w.Promote(t.master, t.leader)
}
