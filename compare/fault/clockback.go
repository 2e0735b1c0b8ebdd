package fault

import "errors"

// Jumps back, in TTLs.
const (
	leastBack = 0.5
	mostBack  = 2.0
)

// clockBack is a clock that is set back: leases last longer there than they should.
// A leader that lives renews its own; so this one dies, and what suffers is the
// time without a leader.
func clockBack() Fault {
	return Fault{
		Name:  "clock-back",
		About: "one master's clock jumps back, and the leader dies",
		Store: true, Kills: 1, SetsClock: true,
		Strike: onStore(func(w StoreWorld) (func() error, error) {
			t, err := aim(w)
			if err != nil {
				return nil, err
			}
			w.Struck(t.master)
			err = w.Jump(t.master, -leastBack-(mostBack-leastBack)*w.Random())
			return nil, errors.Join(err, w.Kill(t.leader)) // its links stay as they are
		}),
	}
}
