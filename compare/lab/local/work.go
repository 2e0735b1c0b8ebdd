package local

import (
	"context"
	"sync"
	"time"

	"incumbent/compare/history"
	"incumbent/election"
)

// work is what a leader does: acts, each after a check, until its context is
// done or it is told to resign. A stubborn one goes on while Valid says yes.
func (c *child) work(ctx context.Context, t *election.Term) error {
	select {
	case <-c.resign: // meant for a term that is over
	default:
	}
	defer c.noteTerm(NoteReturned, t)
	done := sync.OnceFunc(func() { c.noteTerm(NoteDone, t) })
	stop := context.AfterFunc(ctx, done)
	defer func() {
		if stop(); ctx.Err() != nil {
			done() // before the work returns, however late its turn comes
		}
	}()
	tick := time.NewTicker(c.cfg.ActEvery)
	defer tick.Stop()
	for {
		if !c.act(ctx, t) {
			return nil
		}
		end := ctx.Done()
		if c.cfg.Stubborn {
			end = nil
		}
		select {
		case <-tick.C:
		case <-end:
		case <-c.resign:
			return nil
		}
	}
}

// act asks whether it may, and writes to the resource. The stamp is from before
// the question: when it is past the deadline the answer must be no.
func (c *child) act(ctx context.Context, t *election.Term) bool {
	asked := monotonic()
	if !c.cfg.Stubborn && ctx.Err() != nil {
		return false
	}
	if !t.Valid() {
		c.noteTerm(NoteInvalid, t)
		return false
	}
	c.tell(Line{Event: history.Event{At: asked, Kind: history.Checked, Token: uint64(t.Token())}})
	if c.planted.CompareAndSwap(true, false) {
		freezeSelf()
	}
	c.tell(Line{Event: history.Event{Kind: kindAct, Token: uint64(t.Token())}})
	return true
}

func (c *child) noteTerm(name string, t *election.Term) {
	c.tell(Line{Event: history.Event{Kind: history.Note, Name: name, Token: uint64(t.Token())}})
}

// toldStore notes when bids are sent, and when hints come.
type toldStore struct {
	election.Store
	c *child
}

// Acquire implements election.Store.
func (s *toldStore) Acquire(ctx context.Context, b election.Bid) (election.Grant, error) {
	s.c.bidNow.Store(int64(monotonic()))
	if s.c.cfg.Trace {
		s.c.note(NoteBid)
	}
	return s.Store.Acquire(ctx, b)
}

// Released implements election.Store.
func (s *toldStore) Released(ctx context.Context) (<-chan struct{}, error) {
	in, err := s.Store.Released(ctx)
	if err != nil || !s.c.cfg.Trace && s.c.cfg.Far == nil {
		return in, err
	}
	return s.hints(ctx, in), nil
}
