package virtual

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/compare/measure"
	"incumbent/internal/simnet"
	"incumbent/internal/vote"
)

// settleLimit and successorLimit are how many TTLs the first and the next leader
// may take. No successor within that time is a result, no first leader an error. A
// leader that still leads after outlived TTLs has outlived a fault of the store.
const (
	settleLimit    = 10
	successorLimit = 4
	outlived       = 1.5
)

// restartTime is what a restart guard takes on top of a TTL, and a little more.
const restartTime = 1500 * time.Millisecond

// uptime is for how long masters have been up when a run begins.
const uptime = 24 * time.Hour

// lab is one run.
type lab struct {
	spec       Spec
	fault      fault.Fault
	w          *simnet.World
	scripts    []string
	masters    []*simnet.Master // all that there are, replicas included
	places     []*place
	rec        *recorder
	resource   *resource
	candidates []*candidate
	source     *simnet.Source // of the lab's own doings
	keys       vote.Keys
	struck     time.Time // when the fault struck last
	released   time.Time // when somebody was asked to resign last

	playing   fault.Fault // what Struck is about: the fault, or a step of it
	announced bool        // it has struck
	steps     []string    // of a schedule, that have struck
	load      history.Load

	launch func(*candidate)
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
		return history.Run{}, err
	}
	l.start()
	err = l.script()
	run := s.run()
	run.Steps, run.Load = l.steps, l.load
	l.lookAround()
	run.Events, run.Length = l.rec.finish()
	if err = errors.Join(err, l.stop()); err != nil {
		return history.Run{}, err
	}
	return run, nil
}

// newLab builds the world. Only the masters are told something yet.
func newLab(s Spec) (*lab, error) {
	f, err := s.fault()
	if err != nil {
		return nil, err
	}
	w, err := simnet.New(s.Seed, s.network())
	if err != nil {
		return nil, err
	}
	w.SetNative(natives)
	l := &lab{spec: s, fault: f, playing: f, w: w, rec: newRecorder(), source: w.Source("lab/" + s.Fault), wg: map[*candidate]*sync.WaitGroup{}}
	l.resource = &resource{rec: l.rec}
	if err := l.build(); err != nil {
		w.Close()
		return nil, err
	}
	return l, nil
}

func (l *lab) build() (err error) {
	if l.keys, err = vote.NewKeys("", electionName); err != nil {
		return err
	}
	for _, script := range vote.Scripts() {
		l.scripts = append(l.scripts, script.Source)
	}
	for i := range l.spec.Masters {
		name := fmt.Sprintf("master-%d", i+1)
		m, err := l.addMaster(name)
		if err != nil {
			return err
		}
		l.places = append(l.places, &place{name: name, address: m, primary: m, servers: []*simnet.Master{m}})
	}
	for range l.spec.Candidates {
		if _, err := l.addCandidate(); err != nil {
			return err
		}
	}
	return l.init()
}

// addCandidate makes the next process.
func (l *lab) addCandidate() (*candidate, error) {
	var masters []*simnet.Master
	for _, p := range l.places {
		masters = append(masters, p.address)
	}
	n := len(l.candidates)
	c, err := newCandidate(l.spec, n, fmt.Sprintf("candidate-%d", n+1), l.w, masters, l.resource)
	if err == nil {
		l.candidates = append(l.candidates, c)
	}
	return c, err
}

// init says to the masters that nobody can be leading, as an operator does who sets
// up an election, so that the first leader need not wait for guards.
func (l *lab) init() error {
	store, err := newStore(l.spec, "operator", l.w, l.masters)
	if err != nil {
		return err
	}
	for _, m := range l.masters {
		l.w.SetLoss("operator", m, 0) // who sets things up has the time to do it right
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := store.Init(ctx); err != nil {
		return fmt.Errorf("init: %w", err)
	}
	return nil
}

// start starts all processes.
func (l *lab) start() {
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	l.launch = func(c *candidate) {
		wg := new(sync.WaitGroup)
		wg.Go(func() { c.run(ctx) })
		l.wg[c] = wg
	}
	for _, c := range l.candidates {
		l.launch(c)
	}
}

// script is what happens in a run.
func (l *lab) script() error {
	heal, err := l.strike()
	if err != nil {
		return err
	}
	if heal != nil && l.fault.Most > 0 {
		stop := l.measure()
		l.sleep(l.fault.Length(l.spec.TTL, l.source.Float64()))
		stop()
		err = l.heal(heal)
		heal = nil
	}
	l.settle()
	l.outlast()
	if heal != nil {
		err = l.heal(heal)
	}
	l.sleep(l.spec.TTL / 2) // for what is still on its way
	l.recover()
	return err
}

// maxMissed is how often a fault may find nobody to strike, as happens where much is
// lost on the way.
const maxMissed = 20

// strike lets the fault strike once somebody leads.
func (l *lab) strike() (heal func() error, err error) {
	for range maxMissed {
		var leader string
		if leader, err = l.ready(); err != nil {
			return nil, err
		}
		heal, err = l.fault.Strike(l)
		if errors.Is(err, fault.ErrMissed) {
			continue
		}
		if err == nil && !l.fault.Store {
			l.strikes(leader)
		}
		break
	}
	if err != nil {
		return nil, fmt.Errorf("fault %s: %w", l.fault.Name, err)
	}
	return heal, nil
}

// ready waits for a leader, until all stand by and it renews, and then for a random
// phase.
func (l *lab) ready() (leader string, err error) {
	ttl := l.spec.TTL
	for range maxMissed {
		if !l.await(l.rec.begin, settleLimit*ttl) {
			return "", fmt.Errorf("nobody led within %d TTLs", settleLimit)
		}
		l.sleep(ttl/2 + l.source.Between(0, ttl/2))
		if leader = l.Leader(); leader != "" {
			return leader, nil
		}
	}
	return "", errors.New("the leader was lost before any fault")
}

// strikes records that the fault strikes somebody now. What is given back in this
// instant is free at once.
func (l *lab) strikes(actor string) {
	ev := history.Event{Actor: actor, Kind: history.Fault, Name: l.playing.Name}
	now := time.Now()
	if !l.playing.Releases && !l.released.Equal(now) {
		ev.Floor = l.floor()
	}
	l.rec.add(ev)
	l.struck = now
	l.step()
}

// heal ends the fault.
func (l *lab) heal(heal func() error) error {
	l.rec.add(history.Event{Actor: "lab", Kind: history.Healed, Name: l.fault.Name})
	if err := heal(); err != nil {
		return fmt.Errorf("healing %s: %w", l.fault.Name, err)
	}
	return nil
}

// settle waits until a term has begun after the fault struck. It gives up when none
// does, or when the leader shows no sign of losing its own.
func (l *lab) settle() {
	if l.fault.Calm || l.await(l.struck, l.ttls(outlived)) || l.Leader() != "" {
		return
	}
	l.await(l.struck, l.ttls(successorLimit-outlived)+restartTime)
}

// recoverTTLs and recoverTime are how long nobody may lead when all is over: what the
// guards of a store take at most, and bids that are split or lost.
const (
	recoverTTLs = 3
	recoverTime = 2 * time.Second
)

// recover waits until somebody leads, if anybody can.
func (l *lab) recover() {
	run := l.spec.run()
	run.Steps = l.steps
	if measure.Promises(run).Lead && l.Leader() == "" {
		l.awaitLeader(recoverTTLs*l.spec.TTL + recoverTime)
	}
}

// outlast waits until nobody believes to lead beside the latest leader, so that a
// split brain is seen in full; but only as long as leases last.
func (l *lab) outlast() {
	for range 3 {
		end := l.rec.rivals()
		if end.IsZero() {
			return
		}
		l.sleep(time.Until(end))
	}
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

// awaitLeader waits until somebody leads who is alive, but not longer than limit.
func (l *lab) awaitLeader(limit time.Duration) {
	timer := time.NewTimer(l.source.Until(limit))
	defer timer.Stop()
	for l.Leader() == "" {
		select {
		case <-l.rec.changed:
		case <-timer.C:
			return
		}
	}
	l.sleep(0)
}

// stop ends all processes: first those that can end by themselves, then, with the
// network, those that are frozen for good.
func (l *lab) stop() error {
	var errs []error
	var frozen []*candidate
	l.cancel()
	for _, c := range l.candidates {
		c.timers.resume()
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
