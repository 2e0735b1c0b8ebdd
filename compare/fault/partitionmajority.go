package fault

import "errors"

// partitionMajority is a broken link between the leader and most masters, which all
// others still reach: what is left to the leader is no majority.
func partitionMajority() Fault {
	return Fault{
		Name:  "partition-majority",
		About: "the leader, and nobody else, is cut off from most masters",
		Store: true, Least: leastPause, Most: mostPause,
		Strike: onStore(func(w StoreWorld) (func() error, error) {
			t := pick(w)
			t.phase()
			if err := t.still(); err != nil {
				return nil, err
			}
			cut := append([]int{t.master}, t.others[:len(t.others)/2]...)
			heal := func() (err error) {
				for _, m := range cut {
					err = errors.Join(err, w.HealFrom(t.leader, m))
				}
				return err
			}
			w.Struck(t.master)
			for _, m := range cut {
				if err := w.CutFrom(t.leader, m); err != nil {
					return nil, errors.Join(err, heal())
				}
			}
			return heal, nil
		}),
	}
}
