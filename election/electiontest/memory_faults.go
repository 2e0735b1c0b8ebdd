package electiontest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"incumbent/election"
)

// An Op is a kind of call that a store gets.
type Op string

// The calls of election.Store, and of election.Asker, that are counted and can fail.
const (
	OpAcquire Op = "acquire"
	OpRenew   Op = "renew"
	OpRelease Op = "release"
	OpInspect Op = "inspect"
	OpListen  Op = "listen" // Store.Released; it never fails
	OpAsk     Op = "ask"
	// opUndo is a release that the store sends by itself.
	opUndo Op = "undo"
)

// memoryFaults is what goes wrong at present.
type memoryFaults struct {
	refused bool
	hung    bool
	deaf    bool
	slow    time.Duration
	fail    map[Op]error
	lose    [][]Op // each loses one reply
}

func (f *memoryFaults) cut() bool { return f.refused || f.hung }

// kindsOf is what was named, or every call.
func kindsOf(named []Op) []Op {
	if len(named) > 0 {
		return named
	}
	return []Op{OpAcquire, OpRenew, OpRelease, OpInspect, OpAsk, opUndo}
}

// Expire ends the lease as if its time had run out or its key had been deleted.
// Nobody is told: the holder finds out when it renews, standbys when they look.
func (m *Memory) Expire() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lease = nil
}

// StealBy gives the lease to a candidate named id, which leads with the token
// that is returned and never renews. Its lease lasts as long as the one it was
// taken from, 15 s if there was none. The holder before finds out when it renews.
func (m *Memory) StealBy(id string) election.Token {
	m.mu.Lock()
	defer m.mu.Unlock()
	ttl := 15 * time.Second
	if m.lease != nil {
		ttl = m.lease.holder.TTL
	}
	m.last++
	m.stolen++
	m.asked, m.heir = nil, ""
	who := election.Candidate{ID: id, Instance: fmt.Sprintf("thief-%d", m.stolen)}
	m.lease = &memoryLease{
		value:   who.Instance,
		holder:  election.Leader{Candidate: who, Token: m.last, TTL: ttl},
		expires: time.Now().Add(ttl),
	}
	return m.last
}

// Free releases the lease, whoever holds it, and wakes standbys: what a thief
// does that resigns.
func (m *Memory) Free() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.free()
}

// Unreachable makes every call fail at once, like a refused connection, and
// loses wake-ups, until it is called with false.
func (m *Memory) Unreachable(yes bool) { m.cutOff(func(f *memoryFaults) { f.refused = yes }) }

// Hang makes every call wait until its context ends or 5 s have passed, like
// packets that are dropped, and loses wake-ups, until it is called with false.
// A call that hangs already is lost: it does not come back to life.
func (m *Memory) Hang(yes bool) { m.cutOff(func(f *memoryFaults) { f.hung = yes }) }

func (m *Memory) cutOff(change func(*memoryFaults)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.faults.cut()
	change(&m.faults)
	if before && !m.faults.cut() {
		m.wake() // hints may have been missed
	}
}

// Slow makes every answer come d after the call took effect. 0 ends it.
func (m *Memory) Slow(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.faults.slow = d
}

// LoseReply makes the next call of one of the kinds given take effect, while
// its caller is told that the store cannot be reached. None means any kind.
func (m *Memory) LoseReply(kinds ...Op) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.faults.lose = append(m.faults.lose, kindsOf(kinds))
}

// LoseHints makes wake-ups get lost until it is called with false.
func (m *Memory) LoseHints(yes bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.faults.deaf = yes
}

// Fail makes calls of the kinds given fail with err, without effect, until it
// is called with nil. None means any kind.
func (m *Memory) Fail(err error, kinds ...Op) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.faults.fail == nil {
		m.faults.fail = map[Op]error{}
	}
	for _, op := range kindsOf(kinds) {
		m.faults.fail[op] = err
	}
}

// Calls is how many calls of a kind came in, whatever became of them.
func (m *Memory) Calls(op Op) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls[op]
}

func (m *Memory) count(op Op) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls[op]++
}

// do is one call: it goes to the store, takes effect there, and its answer
// comes back, with what goes wrong at present. unsure is called when it took
// effect and the caller is not told how.
func (m *Memory) do(ctx context.Context, op Op, effect func() error, unsure func()) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	m.count(op)
	if ctx.Err() != nil {
		return memoryError(op, ctx.Err())
	}
	slow, lost, err := m.arrive(ctx, op, effect)
	if slow > 0 {
		if late := pauseFor(ctx, slow); late != nil {
			lost = late
		}
	}
	if lost != nil {
		if unsure != nil {
			unsure()
		}
		return memoryError(op, lost)
	}
	return err
}

var (
	errNoRoute   = errors.New("connection refused")
	errReplyLost = errors.New("reply lost")
)

// arrive lets the call take effect, unless it does not get that far.
func (m *Memory) arrive(ctx context.Context, op Op, effect func() error) (slow time.Duration, lost, err error) {
	m.mu.Lock()
	if m.faults.hung {
		m.mu.Unlock()
		<-ctx.Done()
		return 0, nil, memoryError(op, ctx.Err())
	}
	defer m.mu.Unlock()
	if m.faults.refused {
		return 0, nil, memoryError(op, errNoRoute)
	}
	if err := m.faults.fail[op]; err != nil {
		return m.faults.slow, nil, err
	}
	err = effect()
	for i, kinds := range m.faults.lose {
		if slices.Contains(kinds, op) {
			m.faults.lose = slices.Delete(m.faults.lose, i, i+1)
			return m.faults.slow, errReplyLost, err
		}
	}
	return m.faults.slow, nil, err
}

func memoryError(op Op, cause error) error {
	return &election.MasterError{Master: memoryName, Op: string(op), Kind: election.ErrUnreachable, Err: cause}
}

// pauseFor waits for d. It returns ctx's error if that ended before.
func pauseFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
