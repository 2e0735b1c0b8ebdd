package both_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"incumbent/election"
	"incumbent/internal/simnet"
)

var (
	moves   = flag.Int("moves", 20/fewer, "how many seeds of moves to play in each layout")
	oneSeed = flag.Uint64("seed", 0, "play this seed only")
)

// seeds are those to play.
func seeds() (list []uint64) {
	if *oneSeed > 0 {
		return []uint64{*oneSeed}
	}
	for i := range *moves {
		list = append(list, uint64(i+1))
	}
	return list
}

// kinds are the three sorts of candidates of a move.
func (w *world) kinds() (one, joint, two kind) {
	return kind{name: "one", store: w.one},
		kind{name: "both", store: func(host string) election.Store { return w.both(host) }},
		kind{name: "two", store: w.two}
}

// mover plays a move from one kind to the next.
type mover struct {
	*rig
	calm  bool
	stop  chan struct{}
	ended chan struct{}
}

// phase rolls all candidates to a kind, with faults, and waits for one of them to
// lead when the faults are over.
func (m *mover) phase(to kind) {
	if !m.calm {
		m.stop, m.ended = make(chan struct{}), make(chan struct{})
		go m.trouble()
	}
	m.roll(to)
	if !m.calm {
		close(m.stop)
		<-m.ended
	}
	if !m.await(to.name, 12*m.ttl) {
		m.fail("nobody leads in the end of phase %q", to.name)
	}
}

// trouble lets one fault follow the other until it is told to stop.
func (m *mover) trouble() {
	defer close(m.ended)
	s := m.Source("trouble")
	for {
		select {
		case <-m.stop:
			return
		case <-time.After(s.Until(s.Between(m.ttl/4, 2*m.ttl))):
		}
		faults[s.Uint64()%uint64(len(faults))](m, s)
	}
}

// hold is how long a fault lasts.
func (m *mover) hold(s *simnet.Source) { time.Sleep(s.Until(s.Between(m.ttl/4, 5*m.ttl/2))) }

// faults are what befalls a move: each lasts for a while and heals.
var faults = []func(*mover, *simnet.Source){
	(*mover).crash, (*mover).pause, (*mover).pauseWrite, (*mover).isolate, (*mover).cutLink,
	(*mover).hangMaster, (*mover).restartEmpty, (*mover).evict, (*mover).handOver,
}

// someone is the leader, or another process; nil if there is none to be had.
func (m *mover) someone(s *simnet.Source) *process {
	m.hands <- struct{}{}
	defer func() { <-m.hands }()
	p, _ := m.choose(s)
	return p
}

// choose is someone, for who has hands on the slots.
func (m *mover) choose(s *simnet.Source) (p *process, slot int) {
	slot = int(s.Uint64() % uint64(len(m.slots)))
	if s.Uint64()%3 > 0 {
		if i := slices.Index(m.slots, m.leader()); i >= 0 {
			slot = i
		}
	}
	return m.slots[slot], slot
}

func (m *mover) crash(s *simnet.Source) {
	m.hands <- struct{}{}
	p, i := m.choose(s)
	if p != nil && !p.dead.Load() {
		p.kill()
	}
	<-m.hands
	m.hold(s)
	m.hands <- struct{}{}
	if p != nil && m.slots[i] == p {
		m.slots[i] = m.start(p.kind)
	}
	<-m.hands
}

func (m *mover) pause(s *simnet.Source) {
	if p := m.someone(s); p != nil && !p.dead.Load() {
		m.Freeze(p.name)
		m.hold(s)
		m.Thaw(p.name)
	}
}

// pauseWrite stops a leader exactly between its check and its write.
func (m *mover) pauseWrite(s *simnet.Source) {
	p := m.leader()
	if p == nil || p.dead.Load() {
		return
	}
	p.freezing.Store(true)
	m.hold(s)
	p.freezing.Store(false)
	m.Thaw(p.name)
}

func (m *mover) isolate(s *simnet.Source) {
	if p := m.someone(s); p != nil {
		m.Isolate(p.name)
		m.hold(s)
		m.Rejoin(p.name)
	}
}

func (m *mover) handOver(s *simnet.Source) {
	if p := m.leader(); p != nil {
		select {
		case p.resign <- struct{}{}:
		default: // it is asked already
		}
	}
}

func (m *mover) master(s *simnet.Source) *simnet.Master {
	return m.masters[s.Uint64()%uint64(len(m.masters))]
}

func (m *mover) hangMaster(s *simnet.Source) {
	x := m.master(s)
	x.Hang()
	m.hold(s)
	x.Resume()
}

func (m *mover) cutLink(s *simnet.Source) {
	x := m.master(s)
	if p := m.someone(s); p != nil {
		m.Cut(p.name, x)
		m.hold(s)
		m.Heal(p.name, x)
	}
}

func (m *mover) restartEmpty(s *simnet.Source) {
	x := m.master(s)
	x.Crash()
	m.hold(s)
	x.Restart(true)
}

func (m *mover) evict(s *simnet.Source) { m.master(s).Evict(leaseKey) }

// plan is in which order the kinds of candidates follow each other.
type plan func(one, joint, two kind) []kind

// whole is the move there and back, short the one that is forbidden.
var (
	whole plan = func(one, joint, two kind) []kind { return []kind{one, joint, two, joint, one} }
	short plan = func(one, _, two kind) []kind { return []kind{one, two, one} }
)

// play plays a move from a seed.
func play(t *testing.T, seed uint64, l layout, p plan, calm bool) (terms []*led, wrong []string, r *rig) {
	inWorld(t, seed, l, func(t *testing.T, w *world) {
		w.ttl, w.opt.AssumeNew = 2*time.Second, false
		r = newRig(w)
		m := &mover{rig: r, calm: calm}
		kinds := p(w.kinds())
		r.fill(3+int(seed%3), kinds[0])
		if !r.await("", 3*w.ttl) {
			r.fail("nobody leads in the beginning")
		}
		for _, k := range kinds[1:] {
			m.phase(k)
		}
		terms, wrong = r.history()
		r.end()
	})
	return terms, wrong, r
}

// TestMove moves an election to another store and back, under load and with faults:
// no two leaders at any instant, tokens that grow, no stale act that is accepted,
// and a leader in the end of each phase.
func TestMove(t *testing.T) {
	var sum summary
	t.Cleanup(func() { t.Log(sum.String()) })
	for _, l := range layouts {
		for _, seed := range seeds() {
			t.Run(fmt.Sprintf("%s/seed=%d", l.name, seed), func(t *testing.T) {
				t.Parallel()
				terms, wrong, r := play(t, seed, l, whole, false)
				for _, text := range wrong[:min(len(wrong), 5)] {
					t.Errorf("%s (go test ./both -run %s -seed %d)", text, t.Name(), seed)
				}
				sum.add(len(terms), r.acts, r.stale, gaps(terms))
			})
		}
	}
}

// summary adds up what was seen in many moves.
type summary struct {
	mu                          sync.Mutex
	moves, terms, acts, refused int
	longest                     time.Duration
}

func (s *summary) add(terms, acts, refused int, gaps []time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moves++
	s.terms += terms
	s.acts += acts
	s.refused += refused
	s.longest = max(s.longest, slices.Max(append(gaps, 0)))
}

// String gives it in one line.
func (s *summary) String() string {
	return fmt.Sprintf("%d moves: %d terms, %d acts, %d stale ones refused, longest time without a leader %s",
		s.moves, s.terms, s.acts, s.refused, s.longest.Round(time.Millisecond))
}

// TestMoveWithoutBoth is the control: from the one store to the other directly,
// with the same checks. Without any fault two candidates lead at once.
func TestMoveWithoutBoth(t *testing.T) {
	const seeds = 10 / fewer
	found := 0
	for seed := range uint64(seeds) {
		_, wrong, _ := play(t, seed+1, apart, short, true)
		if slices.ContainsFunc(wrong, func(s string) bool { return strings.Contains(s, "overlap") }) {
			found++
		}
	}
	if found != seeds {
		t.Errorf("two leaders at once were seen in %d of %d moves without both", found, seeds)
	}
}

// TestMoveTakesNoTime: without faults a step of the move is a hand-over.
func TestMoveTakesNoTime(t *testing.T) {
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			var all []time.Duration
			for seed := range uint64(10 / fewer) {
				terms, wrong, _ := play(t, seed+1, l, whole, true)
				for _, text := range wrong {
					t.Errorf("seed %d: %s", seed+1, text)
				}
				all = append(all, gaps(terms)...)
			}
			slices.Sort(all)
			t.Logf("%d hand-overs: leaderless %s at the median, %s at the most", len(all), all[len(all)/2], all[len(all)-1])
			if all[len(all)-1] > 200*time.Millisecond {
				t.Errorf("a step took %s without a leader", all[len(all)-1])
			}
		})
	}
}
