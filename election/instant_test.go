package election

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"
)

// counting grants every bid and counts what is given back.
type counting struct {
	Store
	acquired, released atomic.Int64
}

func (c *counting) Acquire(_ context.Context, b Bid) (Grant, error) {
	c.acquired.Add(1)
	return Grant{Bid: b, Token: b.Floor + 1}, nil
}

func (c *counting) Release(context.Context, Grant) (Released, error) {
	c.released.Add(1)
	return Released{}, nil
}

func (c *counting) Settle(context.Context) error { return nil }

// Two instants that are too short to be met from outside: the elector closes
// after the campaign looked, before it bids; and after it took what the bid
// had won, before the term starts.
func TestClosedBetweenTwoLines(t *testing.T) {
	store := &counting{}
	made, err := New(store, Options{ID: "a", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	e := made.(*elector)
	won := e.bid(context.Background())
	if won.term == nil {
		t.Fatal(won.err)
	}
	if err := e.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := e.start(context.Background(), won.term); !errors.Is(err, ErrClosed) || e.current() != nil {
		t.Errorf("start after Close: %v", err)
	}
	before := store.acquired.Load()
	c := &campaign{e: e}
	if _, err := c.try(context.Background()); !errors.Is(err, ErrClosed) || store.acquired.Load() != before {
		t.Errorf("bid after Close: %v", err)
	}
}

// The same for a context that ends after the bid was taken: what it had won
// does not start, and is given back in the background.
func TestCanceledBetweenTwoLines(t *testing.T) {
	store := &counting{}
	made, err := New(store, Options{ID: "a", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx := &endsWhenAsked{Context: context.Background()}
	if _, err := (&campaign{e: made.(*elector)}).try(ctx); !errors.Is(err, errGaveUp) {
		t.Errorf("%v", err)
	}
	if err := made.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if store.released.Load() != 1 {
		t.Errorf("%d bids given back, want 1", store.released.Load())
	}
}

// endsWhenAsked ends without waking anybody: Err says so, Done does not yet.
type endsWhenAsked struct{ context.Context }

func (endsWhenAsked) Err() error                  { return context.Canceled }
func (endsWhenAsked) Done() <-chan struct{}       { return nil }
func (endsWhenAsked) Deadline() (time.Time, bool) { return time.Time{}, false }

// Whoever ends a term is held up between noting that and ending its context:
// others see the end all the same.
func TestStoppedBetweenTwoLines(t *testing.T) {
	made, err := New(&counting{}, Options{ID: "a", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	term := made.(*elector).bid(context.Background()).term
	if term.Context().Err() != nil {
		t.Fatal("over at once")
	}
	loss := &Loss{Token: term.Token(), Reason: ErrMaxTerm}
	term.mu.Lock()
	term.stopping(loss, time.Hour)
	term.mu.Unlock()
	if term.Context().Err() == nil || context.Cause(term.Context()) != error(loss) {
		t.Errorf("context: %v", context.Cause(term.Context()))
	}
	if !term.Valid() {
		t.Error("not valid while it stops")
	}
}
