package fault

import "errors"

// lostReply is a request that was executed, and whose sender cannot know that: the
// leader's next renewal at one master, or, after it has resigned, the bids of all
// others at a random part of the masters. In half of the runs the connection breaks,
// in the others nothing comes back on it.
func lostReply() Fault {
	return Fault{
		Name:  "lost-reply",
		About: "a renewal, or a bid after a resignation, is executed, its reply lost",
		Store: true, Least: 0.5, Most: 1.5,
		Strike: onStore(func(w StoreWorld) (func() error, error) {
			t, err := aim(w)
			if err != nil {
				return nil, err
			}
			reset, bids := w.Random() < 0.5, w.Random() < 0.5
			l := losses{w: w, reset: reset, hosts: []string{t.leader}, masters: []int{t.master}}
			if bids {
				l.hosts, l.masters = w.Candidates(), t.some()
				err = w.Resign(t.leader)
			}
			w.Struck(t.master)
			return t.and(l.heal), errors.Join(err, l.strike())
		}),
	}
}

// some is the master that is struck, and about half of the others.
func (t *target) some() []int {
	list := []int{t.master}
	for _, m := range t.others {
		if t.w.Random() < 0.5 {
			list = append(list, m)
		}
	}
	return list
}

// losses are replies that get lost: one from each of masters to each of hosts.
type losses struct {
	w       StoreWorld
	hosts   []string
	masters []int
	reset   bool
}

func (l losses) strike() error {
	return l.each(func(host string, m int) error { return l.w.LoseReply(host, m, l.reset) })
}

func (l losses) heal() error { return l.each(l.w.HealFrom) }

// each calls f for all. Who has died meanwhile is no error.
func (l losses) each(f func(host string, master int) error) (err error) {
	for _, host := range l.hosts {
		for _, m := range l.masters {
			if e := f(host, m); !errors.Is(e, ErrMissed) {
				err = errors.Join(err, e)
			}
		}
	}
	return err
}
