package fault

import "errors"

// clientKill is a CLIENT KILL, a proxy that is restarted, or a firewall that forgets:
// connections are gone, those of subscribers included. In half of the runs that happens
// at the worst moment, when the leader has just resigned: nobody may miss that for long.
func clientKill() Fault {
	return Fault{
		Name:  "client-kill",
		About: "one master or all drop all clients, perhaps as the leader resigns",
		Store: true,
		Strike: onStore(func(w StoreWorld) (func() error, error) {
			t, err := aim(w)
			if err != nil {
				return nil, err
			}
			masters := []int{t.master}
			if w.Random() < 0.5 {
				masters = append(masters, t.others...)
			}
			if w.Random() < 0.5 {
				err = w.Resign(t.leader)
			}
			w.Struck(t.master)
			for _, m := range masters {
				err = errors.Join(err, w.KillClients(m))
			}
			return t.heal(), err
		}),
	}
}
