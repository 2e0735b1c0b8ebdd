package electiontest_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"incumbent/election"
	"incumbent/election/electiontest"
)

// A service under test: it copies while it leads, and says why it stopped.
type service struct{ started, stopped chan string }

func (s service) run(ctx context.Context, e election.Elector) error {
	return election.Run(ctx, e, func(ctx context.Context, t *election.Term) error {
		s.started <- fmt.Sprintf("copying with token %d", t.Token())
		<-ctx.Done()
		why := "asked to"
		if loss := (*election.Loss)(nil); errors.As(context.Cause(ctx), &loss) {
			why = loss.Word()
		}
		s.stopped <- why
		return nil
	})
}

// In a test the body would stand in synctest.Test, so that no real time passes.
func ExampleMemory() {
	m := electiontest.NewMemory()
	e := m.Elector(election.Options{
		ID: "me", TTL: 300 * time.Millisecond, Logger: slog.New(slog.DiscardHandler),
	})
	s := service{make(chan string), make(chan string)}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.run(ctx, e) }()

	fmt.Println(<-s.started)
	m.StealBy("other")
	fmt.Println("stopped:", <-s.stopped)
	m.Free() // the other one resigns
	fmt.Println(<-s.started)
	m.Unreachable(true)
	fmt.Println("stopped:", <-s.stopped)
	m.Unreachable(false)
	fmt.Println(<-s.started)
	cancel()
	fmt.Println("stopped:", <-s.stopped, <-done)
	_, held := m.Leader()
	fmt.Println("lease held:", held)
	// Output:
	// copying with token 1
	// stopped: taken
	// copying with token 3
	// stopped: unreachable
	// copying with token 4
	// stopped: asked to <nil>
	// lease held: false
}
