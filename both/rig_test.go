package both_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"incumbent/election"
	"incumbent/fence"
	"incumbent/internal/simnet"
	"incumbent/internal/vote/native"
)

// natives answer the library's scripts in Go, which is much quicker than Lua.
var natives = func() map[string]simnet.NativeScript {
	scripts := map[string]simnet.NativeScript{}
	for _, s := range native.Scripts() {
		scripts[s.SHA] = func(d *simnet.Data, keys, argv []string) ([]any, bool) { return s.Run(d, keys, argv) }
	}
	return scripts
}()

// kind is a sort of candidate: the store that it uses, and its leases.
type kind struct {
	name        string
	store       func(host string) election.Store
	ttl, maxTTL time.Duration // 0: as the world has it
}

// rig has candidates that work under load, and watches them: each leader writes to
// one fenced register every few milliseconds.
type rig struct {
	*world
	source *simnet.Source
	fence  fence.Memory
	hands  chan struct{} // held by who changes slots; a mutex would stop the clock
	slots  []*process

	mu     sync.Mutex
	all    []*process
	terms  []*led
	wrong  []string
	acts   int
	stale  int // acts that came after those of a later term, and were refused
	blind  int // acts that came after a later term had begun
	newest election.Token
	top    election.Token // of the acts that were accepted
}

// led is a term as its holder believed in it.
type led struct {
	by, kind   string
	token      election.Token
	start, end time.Time
	term       *election.Term
	stopped    bool // on purpose
}

const writeEvery = 5 * time.Millisecond

func newRig(w *world) *rig {
	w.SetNative(natives)
	r := &rig{world: w, source: w.Source("rig"), hands: make(chan struct{}, 1)}
	w.OnCommand(func(simnet.Command) { r.look() })
	return r
}

// process is a simulated process with one candidate.
type process struct {
	r      *rig
	name   string
	kind   kind
	e      election.Elector
	source *simnet.Source
	gate   func()
	resign chan struct{}
	cancel context.CancelFunc
	done   chan struct{}
	dead   atomic.Bool

	freezing atomic.Bool // freeze at the next act, before its write
}

// start makes a process of that kind, on a host of its own.
func (r *rig) start(k kind) *process {
	r.hosts++
	name := fmt.Sprintf("%s-%d", k.name, r.hosts)
	p := &process{
		r: r, name: name, kind: k, source: r.Source(name + "/act"), gate: r.Gate(name, "act"),
		resign: make(chan struct{}, 1), done: make(chan struct{}),
	}
	p.e = r.elector(name, k.store(name), func(o *election.Options) {
		o.Clock = clock{r.Source(name + "/timer"), r.Gate(name, "timer")}
		o.TTL, o.MaxTTL = cmp.Or(k.ttl, r.ttl), k.maxTTL
		o.Observer = p.observe
	})
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	go func() {
		defer close(p.done)
		for ctx.Err() == nil {
			if err := election.Run(ctx, p.e, p.work, &r.fence); err != nil {
				r.fail("%s: run: %v", p.name, err)
				return
			}
		}
	}()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, p)
	return p
}

// clock is a process's: its timers stand still while it is frozen.
type clock struct {
	source *simnet.Source
	gate   func()
}

func (c clock) Now() time.Time { return time.Now() }

func (c clock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(c.source.Until(d), func() { c.gate(); f() }).Stop
}

// stop ends a process as SIGTERM would, and waits until it is gone.
func (p *process) stop() {
	p.cancel()
	if p.dead.Load() {
		return
	}
	<-p.done
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := p.e.Close(ctx); err != nil {
		p.r.fail("%s: close: %v", p.name, err)
	}
}

// kill ends a process as SIGKILL would: it is frozen for good.
func (p *process) kill() {
	p.dead.Store(true)
	p.r.Freeze(p.name)
	for _, m := range p.r.masters {
		p.r.Disconnect(p.name, m)
	}
}

// work is what a leader does.
func (p *process) work(ctx context.Context, t *election.Term) error {
	select {
	case <-p.resign: // meant for an earlier term
	default:
	}
	for {
		p.act(t)
		timer := time.NewTimer(p.source.Until(writeEvery))
		select {
		case <-timer.C:
			p.gate()
		case <-p.resign:
			timer.Stop()
			return nil
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
	}
}

// act checks that it leads, and writes. A pause may come between the two.
func (p *process) act(t *election.Term) {
	if !t.Valid() {
		return
	}
	if p.freezing.CompareAndSwap(true, false) {
		p.r.Freeze(p.name)
	}
	p.gate()
	arrived := make(chan struct{})
	time.AfterFunc(p.source.Until(p.source.Between(simnet.LAN.Min, simnet.LAN.Max)), func() {
		p.r.take(p, t.Token())
		close(arrived)
	})
	<-arrived
	p.gate()
}

// take is the register.
func (r *rig) take(p *process, token election.Token) {
	r.look()
	err := r.fence.Do(context.Background(), token, func(context.Context) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if token < r.top {
			r.wrong = append(r.wrong, fmt.Sprintf("%s: an act of term %d was accepted after one of %d", p.name, token, r.top))
		}
		r.top = max(r.top, token)
		return nil
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.acts++
	if err != nil {
		r.stale++
	}
	if token < r.newest {
		r.blind++
	}
}

func (r *rig) fail(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
}

// observe keeps the history of terms.
func (p *process) observe(ev election.Event) {
	r := p.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if ev.Kind == election.TermStarted {
		r.newest = max(r.newest, ev.Token)
		r.terms = append(r.terms, &led{p.name, p.kind.name, ev.Token, ev.At, ev.Deadline, ev.Term, false})
		return
	}
	for _, l := range r.terms {
		switch {
		case l.by != p.name || l.token != ev.Token:
		case ev.Kind == election.Renewed:
			l.end = ev.Deadline
		case ev.Kind == election.TermEnded && ev.At.Before(l.end):
			l.end = ev.At
		}
	}
}

// look finds two terms that are valid at this instant.
func (r *rig) look() {
	r.mu.Lock()
	var live []*led
	for _, l := range r.terms[max(0, len(r.terms)-8):] {
		if time.Now().Before(l.end) {
			live = append(live, l)
		}
	}
	r.mu.Unlock()
	var valid []*led
	for _, l := range live {
		if l.term.Valid() {
			valid = append(valid, l)
		}
	}
	if len(valid) > 1 {
		r.fail("%s and %s both find their terms valid (%d, %d)", valid[0].by, valid[1].by, valid[0].token, valid[1].token)
	}
}

// leader is the process that leads now; nil if none does.
func (r *rig) leader() *process {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.terms {
		if !time.Now().Before(l.end) {
			continue
		}
		for _, p := range r.all {
			if p.name == l.by && !p.dead.Load() {
				return p
			}
		}
	}
	return nil
}

// await waits until a candidate of that kind leads; "" is any.
func (r *rig) await(kind string, limit time.Duration) bool {
	const step = 20 * time.Millisecond
	for waited := time.Duration(0); waited < limit; waited += step {
		if p := r.leader(); p != nil && (kind == "" || p.kind.name == kind) {
			return true
		}
		time.Sleep(r.source.Until(step))
	}
	return false
}

// fill starts n processes of a kind.
func (r *rig) fill(n int, k kind) {
	for range n {
		r.slots = append(r.slots, r.start(k))
	}
}

// roll replaces one process after the other by one of that kind, in which either
// the new one is started first or the old one is stopped first.
func (r *rig) roll(to kind) {
	for i := range r.slots {
		time.Sleep(r.source.Until(r.source.Between(r.ttl/10, r.ttl)))
		r.replace(i, to, r.source.Uint64()%2 == 0)
	}
}

// replace replaces the process in slot i.
func (r *rig) replace(i int, to kind, surge bool) {
	var fresh *process
	if surge {
		fresh = r.start(to)
		time.Sleep(r.source.Until(r.source.Between(r.ttl/10, r.ttl)))
	}
	r.hands <- struct{}{}
	old := r.slots[i]
	r.slots[i] = nil // faults leave it alone
	<-r.hands
	old.stop()
	if !surge {
		fresh = r.start(to)
	}
	r.hands <- struct{}{}
	r.slots[i] = fresh
	<-r.hands
}

// end stops all processes, the dead ones too: a bubble does not end before.
func (r *rig) end() {
	for _, p := range r.slots {
		p.stop()
	}
	r.mu.Lock()
	all := slices.Clone(r.all)
	r.mu.Unlock()
	for _, p := range all {
		p.cancel()
	}
	for _, p := range all {
		r.Thaw(p.name)
		<-p.done
	}
	time.Sleep(time.Second) // until what was frozen has left its gates
}

// history is the terms in order, and what is wrong with it.
func (r *rig) history() (terms []*led, wrong []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	terms = slices.Clone(r.terms)
	slices.SortStableFunc(terms, func(a, b *led) int { return a.start.Compare(b.start) })
	wrong = slices.Clone(r.wrong)
	for i, l := range terms {
		for _, before := range terms[:i] {
			if before.token >= l.token {
				wrong = append(wrong, fmt.Sprintf("%s leads with token %d after %s with %d", l.by, l.token, before.by, before.token))
			}
			if d := before.end.Sub(l.start); d > 0 {
				wrong = append(wrong, fmt.Sprintf("overlap: %s (%d) believes for another %s when %s (%d) begins", before.by, before.token, d, l.by, l.token))
			}
		}
	}
	return terms, wrong
}

// gaps are the times without a leader between one term and the next.
func gaps(terms []*led) (list []time.Duration) {
	for i := 1; i < len(terms); i++ {
		end := terms[0].end
		for _, l := range terms[:i] {
			if l.end.After(end) {
				end = l.end
			}
		}
		list = append(list, max(0, terms[i].start.Sub(end)))
	}
	return list
}
