package virtual

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/internal/simnet"
)

// The lab is a fault.StoreWorld. Whatever it does to a master is noted in the
// history under the master's name.

var _ fault.StoreWorld = (*lab)(nil)

// place is where candidates expect a master.
type place struct {
	name    string
	address *simnet.Master // whose address is configured
	primary *simnet.Master // whom most candidates reach there
	former  *simnet.Master // whom they reached before; nil if nobody
	saved   *simnet.Master // holds the last snapshot; nil if there is none
	saves   int
	servers []*simnet.Master // all that ever were there
	outage  outage
}

// addMaster starts a master with all scripts loaded, as after the first minutes of
// a server's life.
func (l *lab) addMaster(name string) (*simnet.Master, error) {
	m := l.w.AddMaster(name)
	m.SetAcks(l.fault.Acks)
	if l.spec.Drift > 0 {
		const ppm = 1e4 // of a per cent
		m.SetDrift(l.spec.Drift * ppm * (2*l.w.Source("lab/drift").Float64() - 1))
	}
	for _, script := range l.scripts {
		if _, err := m.Do("SCRIPT", "LOAD", script); err != nil {
			return nil, err
		}
	}
	l.masters = append(l.masters, m)
	return m, nil
}

// place returns that with the number i.
func (l *lab) place(i int) (*place, error) {
	if i < 0 || i >= len(l.places) {
		return nil, fmt.Errorf("master %d: there are %d, from 0 on", i, len(l.places))
	}
	return l.places[i], nil
}

// link returns the place with the number i, if there is a living candidate of that
// name to reach it.
func (l *lab) link(name string, i int) (*place, error) {
	if _, err := l.find(name); err != nil {
		return nil, err
	}
	return l.place(i)
}

// note records what happens to the master.
func (l *lab) note(p *place, format string, args ...any) {
	l.rec.add(history.Event{Actor: p.name, Kind: history.Note, Name: fmt.Sprintf(format, args...)})
}

// Random implements fault.StoreWorld.
func (l *lab) Random() float64 { return l.source.Float64() }

// Pass implements fault.StoreWorld.
func (l *lab) Pass(ttls float64) { l.sleep(l.ttls(ttls)) }

// ttls is that many TTLs.
func (l *lab) ttls(n float64) time.Duration { return time.Duration(n * float64(l.spec.TTL)) }

// Masters implements fault.StoreWorld.
func (l *lab) Masters() int { return len(l.places) }

// Struck implements fault.StoreWorld.
func (l *lab) Struck(master int) { l.strikes(l.places[master].name) }

// CutFrom implements fault.StoreWorld.
func (l *lab) CutFrom(name string, master int) error {
	p, err := l.link(name, master)
	if err != nil {
		return err
	}
	l.note(p, "cut off from %s", name)
	l.w.Cut(name, p.primary)
	return nil
}

// HealFrom implements fault.StoreWorld.
func (l *lab) HealFrom(name string, master int) error {
	p, err := l.link(name, master)
	if err != nil {
		return err
	}
	l.note(p, "within reach of %s", name)
	for _, m := range p.servers { // another one may be the primary by now
		m.KeepReplies(name)
		l.w.Heal(name, m)
	}
	return nil
}

// Stop implements fault.StoreWorld.
func (l *lab) Stop(master int) error {
	p, err := l.place(master)
	if err != nil {
		return err
	}
	defer l.watch(p)()
	l.note(p, "died")
	p.primary.Crash()
	return nil
}

var errNoSnapshot = errors.New("there is no snapshot of it")

// Restart implements fault.StoreWorld.
func (l *lab) Restart(master int, with fault.Data) error {
	p, err := l.place(master)
	switch {
	case err != nil:
		return err
	case with == fault.SavedData && p.saved == nil:
		return fmt.Errorf("%s: %w", p.name, errNoSnapshot)
	}
	defer l.watch(p)()
	l.goesDown(p)
	p.primary.Restart(with != fault.AllData)
	switch with {
	case fault.NoData:
		l.note(p, "restarted without data")
	case fault.SavedData:
		l.note(p, "restarted with the data of its last snapshot")
		p.primary.CopyFrom(p.saved)
	case fault.AllData:
		l.note(p, "restarted with all its data")
	}
	return nil
}

// Jump implements fault.StoreWorld.
func (l *lab) Jump(master int, ttls float64) error {
	p, err := l.place(master)
	if err != nil {
		return err
	}
	d := l.ttls(ttls)
	l.note(p, "clock set by %s", d)
	p.primary.JumpClock(d)
	return nil
}

// Flush implements fault.StoreWorld.
func (l *lab) Flush(master int) error {
	p, err := l.place(master)
	if err != nil {
		return err
	}
	if err := p.writable(); err != nil {
		return err
	}
	l.note(p, "flushed")
	p.primary.FlushAll()
	return nil
}

// Forget implements fault.StoreWorld.
func (l *lab) Forget(master int) error {
	p, err := l.place(master)
	if err != nil {
		return err
	}
	if err := p.writable(); err != nil {
		return err
	}
	l.note(p, "lease deleted")
	p.primary.Evict(l.keys.Lease)
	return nil
}

// Evict implements fault.StoreWorld.
func (l *lab) Evict(master int, record bool) error {
	p, err := l.place(master)
	if err != nil {
		return err
	}
	l.note(p, "lease evicted")
	p.primary.Evict(l.keys.Lease)
	if record {
		l.note(p, "record evicted")
		p.primary.Evict(l.keys.Record)
	}
	return nil
}

// Snapshot implements fault.StoreWorld. Where replicas have to acknowledge, nobody
// does from now on.
func (l *lab) Snapshot(master int) error {
	p, err := l.place(master)
	if err != nil {
		return err
	}
	p.saves++
	r, err := l.addMaster(fmt.Sprintf("%s-replica-%d", p.name, p.saves))
	if err != nil {
		return err
	}
	l.note(p, "its replica begins to lag")
	p.servers = append(p.servers, r)
	p.save(r)
	return nil
}

// Demote implements fault.StoreWorld.
func (l *lab) Demote(master int) error {
	p, err := l.place(master)
	switch {
	case err != nil:
		return err
	case p.former == nil:
		return fmt.Errorf("%s: was never replaced", p.name)
	}
	l.note(p, "the primary before is its replica, and begins to lag")
	p.save(p.former)
	return nil
}

// save has r hold a snapshot of the primary, which loses its replica.
func (p *place) save(r *simnet.Master) {
	r.CopyFrom(p.primary)
	p.saved = r
	p.primary.SetAcks(0)
}

// Promote implements fault.StoreWorld. The new primary has a replica, if one is
// needed.
func (l *lab) Promote(master int, but string) error {
	p, err := l.place(master)
	switch {
	case err != nil:
		return err
	case p.saved == nil:
		return fmt.Errorf("%s: %w", p.name, errNoSnapshot)
	}
	defer l.watch(p)()
	l.note(p, "replica promoted")
	p.former, p.primary, p.saved = p.primary, p.saved, nil
	p.primary.SetAcks(l.fault.Acks)
	if p.primary.Refusal() == simnet.ReadOnly { // as it was before somebody took its place
		p.primary.Refuse(simnet.Nothing)
	}
	for _, c := range l.candidates {
		if c.name != but {
			l.w.Redirect(c.name, p.address, p.primary)
		}
	}
	return nil
}

// Follow implements fault.StoreWorld.
func (l *lab) Follow(name string, master int) error {
	p, err := l.link(name, master)
	if err != nil {
		return err
	}
	l.note(p, "%s reaches the replica, too", name)
	l.w.Redirect(name, p.address, p.primary)
	return nil
}

// Refresh implements fault.StoreWorld.
func (l *lab) Refresh() error {
	leader := l.Leader()
	for _, c := range l.candidates[:len(l.candidates):len(l.candidates)] {
		if c.killed || c.name == leader {
			continue
		}
		if err := l.Kill(c.name); err != nil {
			return err
		}
		n, err := l.addCandidate()
		if err != nil {
			return err
		}
		for _, p := range l.places {
			l.w.Redirect(n.name, p.address, p.primary)
		}
		l.launch(n)
	}
	return nil
}

// floor is how long it takes until a majority of masters is free of the lease, if
// nobody renews it.
func (l *lab) floor() time.Duration {
	left := make([]time.Duration, 0, len(l.places))
	for _, p := range l.places {
		left = append(left, p.primary.PTTL(l.keys.Lease))
	}
	slices.Sort(left)
	return left[len(left)/2]
}
