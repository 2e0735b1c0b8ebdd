package fault

import "errors"

// For how many TTLs a master refuses writes.
const (
	leastRefused = 0.3
	mostRefused  = 2.0
)

// outOfMemory is a master that has reached maxmemory and evicts nothing. A server refuses
// then what would need memory, unless the script has written before. So a leader goes on
// to renew, and nobody is elected: in half of the runs somebody would have to be, since
// the leader resigns.
func outOfMemory() Fault {
	return Fault{
		Name:  "out-of-memory",
		About: "one master lacks memory for writes; perhaps the leader resigns",
		Store: true, Least: leastRefused, Most: mostRefused,
		Strike: onStore(func(w StoreWorld) (func() error, error) {
			t, err := aim(w)
			if err != nil {
				return nil, err
			}
			if w.Random() < 0.5 {
				err = w.Resign(t.leader)
			}
			w.Struck(t.master)
			return t.and(func() error { return w.Accept(t.master) }), errors.Join(err, w.Refuse(t.master, OutOfMemory))
		}),
	}
}
