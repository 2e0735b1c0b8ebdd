package election_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"incumbent/election"
	"incumbent/election/electiontest"
)

type pausedAfterCampaign struct {
	election.Elector
	after func()
}

func (p pausedAfterCampaign) Campaign(ctx context.Context) (*election.Term, error) {
	t, err := p.Elector.Campaign(ctx)
	p.after()
	return t, err
}

func TestRunStartsNoWorkOnATermThatIsOver(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var clock jumpClock
		e, err := election.New(electiontest.NewMemory().Store(), election.Options{TTL: ttl, Clock: &clock, Logger: quiet()})
		if err != nil {
			t.Fatal(err)
		}
		jumped := false
		p := pausedAfterCampaign{e, func() {
			if !jumped {
				jumped = true
				clock.jump(time.Hour)
			}
		}}
		err = election.Run(bg, p, func(ctx context.Context, term *election.Term) error {
			if !term.Valid() {
				t.Error("work was called with a term that is over")
				return nil
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		_ = e.Close(bg)
	})
}

func TestRunKeepsWhatIsMoreThanTheContextsError(t *testing.T) {
	bubble(t, func(t *testing.T) {
		boom := errors.New("ledger not flushed")
		for _, werr := range []error{errors.Join(boom, context.Canceled), &wrapped{boom}} {
			e, _ := election.New(electiontest.NewMemory().Store(), election.Options{TTL: ttl, Clock: election.RuntimeClock(), Logger: quiet()})
			ctx, cancel := context.WithCancel(bg)
			err := election.Run(ctx, e, func(ctx context.Context, _ *election.Term) error {
				cancel()
				<-ctx.Done()
				return werr
			})
			if !errors.Is(err, boom) {
				t.Errorf("work returned %q, Run returned %v", werr, err)
			}
			_ = e.Close(bg)
		}
	})
}

type wrapped struct{ err error }

func (w *wrapped) Error() string   { return "commit timed out: " + w.err.Error() }
func (w *wrapped) Unwrap() []error { return []error{w.err, context.DeadlineExceeded} }

func TestClosedElectorSaysSo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e, _ := election.New(electiontest.NewMemory().Store(), election.Options{TTL: ttl, Clock: election.RuntimeClock(), Logger: quiet()})
		started, free := make(chan bool), make(chan bool)
		done := runIn(bg, e, func(context.Context, *election.Term) error { close(started); <-free; return nil })
		<-started
		closed := make(chan error)
		go func() { closed <- e.Close(bg) }()
		pass(time.Millisecond)
		n := map[string]int{}
		for range 100 {
			_, err := e.Campaign(bg)
			n[err.Error()]++
		}
		if n[election.ErrClosed.Error()] != 100 {
			t.Errorf("a closed elector answers by chance: %v", n)
		}
		close(free)
		<-done
		<-closed
	})
}

func TestFencedByALowerTokenIsNoLoss(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e, err := election.New(electiontest.NewMemory().Store(), election.Options{TTL: ttl, Clock: election.RuntimeClock(), Logger: quiet()})
		if err != nil {
			t.Fatal(err)
		}
		term, err := e.Campaign(bg)
		if err != nil {
			t.Fatal(err)
		}
		term.Fenced(term.Token())
		if !term.Valid() {
			t.Error("fenced by its own token")
		}
		term.Fenced(term.Token() + 7)
		if term.Valid() || !errors.Is(term.Loss(), election.ErrFenced) {
			t.Errorf("not fenced by a higher one: %v", term.Loss())
		}
		next, err := e.Campaign(bg)
		if err != nil || next.Token() <= term.Token()+7 {
			t.Errorf("the next term has %v, %v", next, err)
		}
		if err := e.Close(bg); err != nil {
			t.Error(err)
		}
	})
}

// F10: what an observer does wrong stays in the log.
func TestF10_ObserverPanicIsNotFatal(t *testing.T) {
	bubble(t, func(t *testing.T) {
		seen := 0
		e, err := election.New(electiontest.NewMemory().Store(), election.Options{
			TTL: ttl, Clock: election.RuntimeClock(), Logger: quiet(), Observer: func(election.Event) {
				seen++
				panic("observer")
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		term, err := e.Campaign(bg)
		if err != nil {
			t.Fatal(err)
		}
		pass(3 * ttl)
		if !term.Valid() || seen < 5 {
			t.Errorf("valid %t after %d events", term.Valid(), seen)
		}
		if err := e.Close(bg); err != nil {
			t.Error(err)
		}
	})
}
