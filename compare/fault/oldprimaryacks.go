package fault

// oldPrimaryAcks is oldPrimary where only what a replica has acknowledged counts:
// the old primary has none any more, so its leader's term ends in time.
func oldPrimaryAcks() Fault {
	return Fault{
		Name:  "old-primary-acks",
		About: "as old-primary, where only what a replica acknowledged counts",
		Store: true, Acks: 1, Least: leastSplit, Most: mostSplit,
		Strike: onStore(func(w StoreWorld) (func() error, error) {
			t, err := unacknowledged(w)
			if err != nil {
				return nil, err
			}
			return t.split()
		}),
	}
}
