package quorum_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"incumbent/election"
	"incumbent/quorum"
)

// lead campaigns until it leads.
func lead(t *testing.T, e election.Elector) *election.Term {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	term, err := e.Campaign(ctx)
	if err != nil {
		t.Fatalf("campaign: %v", err)
	}
	return term
}

// won is what Campaign returned, and when.
type won struct {
	term *election.Term
	err  error
	at   time.Time
}

// campaign runs Campaign in the background.
func campaign(ctx context.Context, e election.Elector) <-chan won {
	c := make(chan won, 1)
	go func() {
		term, err := e.Campaign(ctx)
		c <- won{term, err, time.Now()}
	}()
	return c
}

// shut closes electors.
func shut(t *testing.T, electors ...election.Elector) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, e := range electors {
		if err := e.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}

func settle(t *testing.T, stores ...election.Store) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, st := range stores {
		if err := st.Settle(ctx); err != nil {
			t.Errorf("settle: %v", err)
		}
	}
}

var bids struct {
	sync.Mutex
	n int
}

// bid is a new bid of id.
func bid(id string, ttl time.Duration) election.Bid {
	bids.Lock()
	defer bids.Unlock()
	bids.n++
	return election.Bid{
		Value: fmt.Sprintf("%s-%d", id, bids.n), TTL: ttl,
		Candidate: election.Candidate{ID: id, Instance: id},
	}
}

// win acquires or fails the test.
func win(t *testing.T, st election.Store, b election.Bid) election.Grant {
	t.Helper()
	g, err := st.Acquire(t.Context(), b)
	if err != nil {
		t.Fatalf("acquire by %s: %v", b.Candidate.ID, err)
	}
	return g
}

// recorder keeps an elector's events.
type recorder struct {
	mu     sync.Mutex
	events []election.Event
}

// on is an option that makes the elector report here.
func (r *recorder) on(o *election.Options) {
	o.Observer = func(ev election.Event) {
		r.mu.Lock()
		r.events = append(r.events, ev)
		r.mu.Unlock()
	}
}

func (r *recorder) of(kinds ...election.EventKind) (out []election.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, ev := range r.events {
		for _, k := range kinds {
			if ev.Kind == k {
				out = append(out, ev)
			}
		}
	}
	return out
}

// ttl is an option.
func ttl(d time.Duration) func(*election.Options) {
	return func(o *election.Options) { o.TTL = d }
}

// lossOf waits for the end of a term, and says why it ended.
func lossOf(t *testing.T, term *election.Term, limit time.Duration) error {
	t.Helper()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-term.Context().Done():
	case <-timer.C:
		t.Fatalf("term %d still lives after %s", term.Token(), limit)
	}
	return context.Cause(term.Context())
}

// heldByOther reports whether err reads as "held by another".
func heldByOther(err error) bool {
	var held *election.HeldError
	return errors.As(err, &held) || errors.Is(err, election.ErrTaken)
}

// masterErrors lists the errors of masters in err, whichever mode it is from.
func masterErrors(err error) (out []*election.MasterError) {
	errs := []error{err}
	var q *quorum.Error
	if errors.As(err, &q) {
		errs = q.Errs
	}
	for _, err := range errs {
		var m *election.MasterError
		if errors.As(err, &m) {
			out = append(out, m)
		}
	}
	return out
}

// logTo is a logger for what people should see.
func logTo(b *safeBuffer) *slog.Logger { return slog.New(slog.NewTextHandler(b, nil)) }
