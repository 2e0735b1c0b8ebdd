package virtual

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/internal/simnet"
	"incumbent/internal/vote"
)

// settleLimit and successorLimit are how many TTLs the first and the next leader
// may take. No successor within that time is a result, no first leader an error.
const (
	settleLimit    = 10
	successorLimit = 4
)

// lab is one run.
type lab struct {
	spec       Spec
	fault      fault.Fault
	w          *simnet.World
	masters    []*simnet.Master
	rec        *recorder
	candidates []*candidate
	source     *simnet.Source // of the lab's own doings
	key        string         // of the lease

	cancel context.CancelFunc
	wg     map[*candidate]*sync.WaitGroup
}

// Play plays one run, in virtual time: it must be called inside a testing/synctest
// bubble, and fails outside of one. The error is for a spec that is not valid and
// for a run that could not be played; whatever the election itself does wrong is in
// the history.
func Play(s Spec) (history.Run, error) {
	if err := s.Validate(); err != nil {
		return history.Run{}, err
	}
	l, err := newLab(s)
	if err != nil {
		return history.Run{}, fmt.Errorf("%s: %w", s, err)
	}
	l.start()
	err = l.script()
	run := s.run()
	run.Events, run.Length = l.rec.finish()
	if err = errors.Join(err, l.stop()); err != nil {
		return history.Run{}, fmt.Errorf("%s: %w", s, err)
	}
	return run, nil
}

// newLab builds the world. Nothing happens yet.
func newLab(s Spec) (*lab, error) {
	w, err := simnet.New(s.Seed, simnet.Options{})
	if err != nil {
		return nil, err
	}
	l := &lab{spec: s, w: w, rec: newRecorder(), source: w.Source("lab/" + s.Fault), wg: map[*candidate]*sync.WaitGroup{}}
	if err := l.build(); err != nil {
		w.Close()
		return nil, err
	}
	return l, nil
}

func (l *lab) build() (err error) {
	if l.fault, err = fault.ByName(l.spec.Fault); err != nil {
		return err
	}
	keys, err := vote.NewKeys("", electionName)
	if err != nil {
		return err
	}
	l.key = keys.Lease
	for i := range l.spec.Masters {
		m := l.w.AddMaster(fmt.Sprintf("master-%d", i+1))
		for _, script := range vote.Scripts() { // as after the first minutes of a server's life
			if _, err := m.Do("SCRIPT", "LOAD", script.Source); err != nil {
				return err
			}
		}
		l.masters = append(l.masters, m)
	}
	r := &resource{rec: l.rec}
	for i := range l.spec.Candidates {
		c, err := newCandidate(l.spec, i, fmt.Sprintf("candidate-%d", i+1), l.w, l.masters, r)
		if err != nil {
			return err
		}
		l.candidates = append(l.candidates, c)
	}
	return nil
}

// start starts all processes.
func (l *lab) start() {
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	for _, c := range l.candidates {
		wg := new(sync.WaitGroup)
		wg.Go(func() { c.run(ctx) })
		l.wg[c] = wg
	}
}

// script is what happens in a run.
func (l *lab) script() error {
	ttl := l.spec.TTL
	if !l.await(l.rec.begin, settleLimit*ttl) {
		return fmt.Errorf("nobody led within %d TTLs", settleLimit)
	}
	// Until all stand by and the leader renews, and then a random phase.
	l.sleep(ttl/2 + l.source.Between(0, ttl/2))
	leader := l.Leader()
	if leader == "" {
		return errors.New("the leader was lost before any fault")
	}
	heal, err := l.fault.Strike(l)
	if err != nil {
		return fmt.Errorf("fault %s: %w", l.fault.Name, err)
	}
	struck := time.Now()
	l.note(history.Fault, leader)
	if heal != nil {
		l.sleep(l.fault.Length(ttl, l.source.Float64()))
		l.note(history.Healed, leader)
		if err := heal(); err != nil {
			return fmt.Errorf("healing %s: %w", l.fault.Name, err)
		}
	}
	l.await(struck, successorLimit*ttl)
	l.sleep(ttl / 2) // for what is still on its way
	return nil
}

// note records that the fault has struck, or is over.
func (l *lab) note(kind history.Kind, leader string) {
	ev := history.Event{Actor: leader, Kind: kind, Name: l.fault.Name}
	if kind == history.Fault && !l.fault.Releases {
		ev.Floor = l.floor()
	}
	l.rec.add(ev)
}

// sleep lets time pass, up to an instant of the lab's own.
func (l *lab) sleep(d time.Duration) { time.Sleep(l.source.Until(d)) }

// await waits until a term has begun after that instant, and returns at an instant
// of the lab's own. It is false if none has within limit.
func (l *lab) await(after time.Time, limit time.Duration) bool {
	timer := time.NewTimer(l.source.Until(limit))
	defer timer.Stop()
	for {
		if _, begun := l.rec.last(); begun.After(after) {
			l.sleep(0)
			return true
		}
		select {
		case <-l.rec.changed:
		case <-timer.C:
			return false
		}
	}
}

// stop ends all processes: first those that can end by themselves, then, with the
// network, those that are frozen for good.
func (l *lab) stop() error {
	var errs []error
	var frozen []*candidate
	l.cancel()
	for _, c := range l.candidates {
		if l.w.Frozen(c.name) {
			frozen = append(frozen, c)
			continue
		}
		errs = append(errs, c.stop(l.wg[c]))
	}
	l.w.Close()
	for _, c := range frozen {
		_ = c.stop(l.wg[c]) // its connections are broken, so it cannot say goodbye
	}
	return errors.Join(errs...)
}
