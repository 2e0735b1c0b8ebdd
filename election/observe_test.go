package election_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/election"
	"incumbent/election/electiontest"
)

func TestLeader(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		c := join(t, m.Store(), "a", func(o *election.Options) { o.Metadata = map[string]string{"addr": "here"} })
		_, err := c.Leader(bg)
		wantIs(t, err, election.ErrNoLeader)
		lead(t, c)
		pass(100 * ms)
		l, err := c.Leader(bg)
		if err != nil || l.ID != "a" || l.Token != 1 || l.TTL != ttl || l.Left != ttl-100*ms || l.Metadata["addr"] != "here" {
			t.Errorf("%+v, %v", l, err)
		}
		m.Unreachable(true)
		_, err = c.Leader(bg)
		wantIs(t, err, election.ErrUnreachable)
	})
}

// With so many masters silent that a leader may hide there, nobody can say
// that nobody leads.
func TestLeaderWithSilentMasters(t *testing.T) {
	down := election.MasterState{Err: errors.New("down")}
	up := election.MasterState{Reachable: true}
	x, y := election.MasterState{Reachable: true, Value: "x"}, election.MasterState{Reachable: true, Value: "y"}
	asked := errors.New("cannot be asked")
	for _, c := range []struct {
		masters []election.MasterState
		err     error
		want    error
	}{
		{[]election.MasterState{up, up, up}, nil, election.ErrNoLeader},
		{[]election.MasterState{down, up, up}, nil, election.ErrNoLeader},
		{[]election.MasterState{down, down, up}, nil, down.Err},
		{[]election.MasterState{down, down, up, up}, nil, election.ErrNoLeader}, // 2 of 4 elect nobody
		{[]election.MasterState{down, down, down, up}, nil, down.Err},
		{[]election.MasterState{down, x, up}, nil, down.Err}, // x may have the silent one, too
		{[]election.MasterState{down, x, x, up, up}, nil, down.Err},
		{[]election.MasterState{down, x, y, up, up}, nil, election.ErrNoLeader},
		{[]election.MasterState{x, y, up}, nil, election.ErrNoLeader},
		{[]election.MasterState{down}, nil, down.Err},
		{[]election.MasterState{down, down, up, up, up}, nil, election.ErrNoLeader},
		{nil, nil, election.ErrNoLeader},
		{nil, asked, asked},
	} {
		h := &hooks{Store: electiontest.NewMemory().Store(), inspect: func(context.Context) (election.State, error) {
			return election.State{Masters: c.masters}, c.err
		}}
		_, err := join(t, h, "a").Leader(bg)
		wantIs(t, err, c.want)
		if got := errors.Is(err, election.ErrNoLeader); got != (c.want == election.ErrNoLeader) {
			t.Errorf("%v for %v", err, c.masters)
		}
	}
}

// sight is what Observe yielded, and when: "id/token", or the kind of error.
type sight struct {
	at   time.Duration
	what string
}

// watch collects what Observe yields.
func watch(ctx context.Context, e election.Elector) (seen *[]sight, done chan struct{}) {
	seen, done = new([]sight), make(chan struct{})
	start := time.Now()
	go func() {
		defer close(done)
		for l, err := range e.Observe(ctx) {
			what := fmt.Sprintf("%s/%d", l.ID, l.Token)
			switch {
			case errors.Is(err, election.ErrNoLeader):
				what = "nobody"
			case err != nil:
				what = "trouble"
			}
			*seen = append(*seen, sight{time.Since(start), what})
		}
	}()
	return seen, done
}

func TestObserveYieldsEachChange(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		ctx, cancel := context.WithCancel(bg)
		seen, done := watch(ctx, join(t, m.Store(), "watcher"))
		step := func(f func()) {
			pass(20 * time.Second)
			f()
		}
		step(func() { m.StealBy("a") })              // 20 s, for 15 s
		step(func() { m.StealBy("b") })              // 40 s
		step(func() { m.StealBy("b") })              // 60 s: another term of the same
		step(func() { m.Free() })                    // 80 s: it had run out at 75 s
		step(func() { m.Unreachable(true) })         // 100 s
		step(func() { m.Fail(errors.New("other")) }) // 120 s: the same to a watcher until 140 s
		step(func() { m.Unreachable(false) })        // 140 s: trouble of another kind
		step(func() { m.Fail(nil) })                 // 160 s
		pass(5 * time.Second)
		cancel()
		<-done
		want := []sight{{0, "nobody"}, {20, "a/1"}, {35, "nobody"}, {40, "b/2"}, {55, "nobody"}, {60, "b/3"},
			{75, "nobody"}, {100, "trouble"}, {140, "trouble"}, {160, "nobody"}}
		if len(*seen) != len(want) {
			t.Fatalf("saw %v, want %v", *seen, want)
		}
		for i, got := range *seen { // each within a third of a TTL
			if late := got.at - want[i].at*time.Second; got.what != want[i].what || late < 0 || late > ttl/3+ms {
				t.Errorf("saw %v, want %v", got, want[i])
			}
		}
		synctest.Wait()
		if got := m.Listeners(); got != 0 {
			t.Errorf("%d subscriptions left", got)
		}
	})
}

func TestObserveIsWokenByARelease(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		m.StealBy("a")
		ctx, cancel := context.WithCancel(bg)
		seen, done := watch(ctx, join(t, m.Store(), "watcher"))
		pass(2 * time.Second)
		m.Free()
		synctest.Wait()
		cancel()
		<-done
		if want := []sight{{0, "a/1"}, {2 * time.Second, "nobody"}}; !slices.Equal(*seen, want) {
			t.Errorf("saw %v, want %v", *seen, want)
		}
	})
}

// After a release the next leader is seen soon, with a few looks and not for good.
func TestObserveLooksSoonAfterARelease(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		m.StealBy("a")
		ctx, cancel := context.WithCancel(bg)
		seen, done := watch(ctx, join(t, m.Store(), "watcher"))
		pass(2 * time.Second)
		m.Free()
		pass(100 * ms)
		m.StealBy("b")
		pass(ttl / 20) // far less than a third of a TTL
		if n := len(*seen); n != 3 || (*seen)[2].what != "b/2" {
			t.Errorf("saw %v", *seen)
		}
		m.Free()
		before := m.Calls(electiontest.OpInspect)
		pass(2 * ttl)
		cancel()
		<-done
		if n := m.Calls(electiontest.OpInspect) - before; n < 8 || n > 14 {
			t.Errorf("%d looks in two TTLs after a release", n)
		}
	})
}

// Without wake-ups, and with a lease far longer than one's own, an observer
// looks at least once a TTL. A renewed lease is looked at no more often.
func TestObserveLooksNowAndThen(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		h := &hooks{Store: m.Store(), listen: func(context.Context) (<-chan struct{}, error) { return nil, errors.New("no") }}
		leader := join(t, m.Store(), "leader", func(o *election.Options) { o.TTL, o.Renew = time.Minute, 0 })
		lead(t, leader)
		ctx, cancel := context.WithCancel(bg)
		defer cancel()
		_, done := watch(ctx, join(t, h, "watcher"))
		pass(10*ttl + ms)
		if got := m.Calls(electiontest.OpInspect); got != 11 {
			t.Errorf("%d looks in 10 TTL, want 11", got)
		}
		cancel()
		<-done
	})
}

func TestObserveEndsWithItsLoop(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		c := join(t, m.Store(), "a")
		for range c.Observe(bg) {
			break
		}
		synctest.Wait()
		if got := m.Listeners(); got != 0 {
			t.Errorf("%d subscriptions left", got)
		}
		for range c.Observe(canceledContext()) {
			t.Error("a context that is done yields something")
		}
		ctx, cancel := context.WithTimeout(bg, 100*ms)
		defer cancel()
		m.Hang(true)
		for _, err := range c.Observe(ctx) {
			t.Errorf("the end of the context was yielded: %v", err)
		}
	})
}

// Another term of the same holder is a change, and so is another holder whose
// token is not known.
func TestObserveTellsTermsApart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		seen := []election.Leader{
			{Candidate: election.Candidate{ID: "a", Instance: "1"}, Token: 1},
			{Candidate: election.Candidate{ID: "a", Instance: "1"}, Token: 2},
			{Candidate: election.Candidate{ID: "a", Instance: "1"}, Token: 2}, // no change
			{Candidate: election.Candidate{ID: "a", Instance: "2"}, Token: 2},
		}
		looks := 0
		h := &hooks{Store: electiontest.NewMemory().Store(), inspect: func(context.Context) (election.State, error) {
			l := seen[min(looks, len(seen)-1)]
			looks++
			return election.State{Leader: &l}, nil
		}}
		ctx, cancel := context.WithTimeout(bg, 10*ttl)
		defer cancel()
		var got []string
		for l := range join(t, h, "watcher").Observe(ctx) {
			got = append(got, fmt.Sprintf("%s-%d", l.Instance, l.Token))
		}
		if want := []string{"1-1", "1-2", "2-2"}; !slices.Equal(got, want) {
			t.Errorf("saw %q, want %q", got, want)
		}
	})
}
