package election_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/election"
	"incumbent/election/electiontest"
)

// Work on a host that slept outlived its term by all that came after the deadline, and not
// only from when somebody noticed.
func TestOverrunCountsFromTheDeadline(t *testing.T) {
	bubble(t, func(t *testing.T) {
		clock := new(jumpClock)
		a := join(t, electiontest.NewMemory().Store(), "a", func(o *election.Options) { o.Clock = clock })
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		const slept = 10 * ttl
		var deadline time.Time
		err := election.Run(ctx, a, func(_ context.Context, term *election.Term) error {
			deadline = term.Deadline()
			clock.jump(slept)
			cancel()
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		ev := a.events.last(t, election.WorkReturned)
		if want := ev.At.Sub(deadline); ev.Lag != want || want < slept-ttl {
			t.Errorf("outlived its term by %s, want %s", ev.Lag, want)
		}
	})
}

// The hint that init helps is given where a server knows nothing, and not where one has
// just started and may have forgotten a lease.
func TestInitIsAdvisedWhereItIsRight(t *testing.T) {
	for guards, want := range map[election.StoreGuards]bool{
		election.NoRecordGuard:                                                  true,
		election.NoRecordGuard | election.FailoverGuard:                         true,
		election.NoRecordGuard | election.FailoverGuard | election.RestartGuard: false,
		election.NoRecordGuard | election.ExpiryGuard:                           false,
		election.FailoverGuard:                                                  false,
	} {
		bubble(t, func(t *testing.T) {
			refused := &election.GuardError{Guards: guards, Masters: []string{"a:1"}, Left: time.Second}
			a := join(t, &hooks{Store: electiontest.NewMemory().Store(), acquire: func(context.Context, election.Bid) (election.Grant, error) {
				return election.Grant{}, refused
			}}, "a")
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			if _, err := a.Campaign(ctx); !errors.Is(err, election.ErrGuarded) {
				t.Errorf("%v", err)
			}
			if got := a.logs.count("nobody can lead yet", "incumbent init") > 0; got != want {
				t.Errorf("%s: advised: %v\n%s", guards, got, a.logs)
			}
		})
	}
}

// Somebody may lead by a part of a store that cannot be asked: that nobody leads is not
// known then.
func TestLeaderOfAStoreOfTwo(t *testing.T) {
	down := &election.MasterError{Master: "a:1", Op: "inspect", Kind: election.ErrUnreachable}
	silent := election.MasterState{Name: "a:1", Err: down}
	free := election.MasterState{Name: "b:1", Reachable: true}
	for _, tt := range []struct {
		name  string
		parts []election.State
		want  error
	}{
		{"both free", []election.State{{Masters: []election.MasterState{free}}, {Masters: []election.MasterState{free, free, free}}}, election.ErrNoLeader},
		{"the single primary is silent", []election.State{{Masters: []election.MasterState{silent}}, {Masters: []election.MasterState{free, free, free}}}, election.ErrUnreachable},
		{"one of three is", []election.State{{Masters: []election.MasterState{free}}, {Masters: []election.MasterState{free, silent, free}}}, election.ErrNoLeader},
	} {
		bubble(t, func(t *testing.T) {
			all := election.State{Parts: tt.parts}
			for _, p := range tt.parts {
				all.Masters = append(all.Masters, p.Masters...)
			}
			a := join(t, &hooks{Store: electiontest.NewMemory().Store(), inspect: func(context.Context) (election.State, error) { return all, nil }}, "a")
			if _, err := a.Leader(t.Context()); !errors.Is(err, tt.want) {
				t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
			}
		})
	}
}
