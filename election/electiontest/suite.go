package electiontest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"incumbent/election"
)

// A Setup is one fresh election, which nobody has led yet, with handles to do
// to its masters what the field does to them. Functions that may be nil say so:
// the suite then leaves out what needs them.
type Setup struct {
	// Masters is how many masters keep the lease; 1 in single mode.
	Masters int
	// Listeners is how many subscriptions a standby has at one server. 0 means 1.
	Listeners int
	// TTL is a lease that the environment can serve without a hurry: in real
	// time about a second, in virtual time anything.
	TTL time.Duration
	// Options are those that the environment asks of every elector, such as a
	// Clock. The suite sets ID, TTL and what a test is about.
	Options election.Options
	// Open makes the store of another candidate, with connections of its own.
	// Whoever made the Setup closes them.
	Open func() election.Store
	// Lease reads what master i stores as the lease: the value, "" if there is
	// none, and the time that it has left. It must not use a Store.
	Lease func(i int) (value string, left time.Duration)
	// Delete removes the lease at master i and nothing else.
	Delete func(i int)
	// Wipe makes master i forget everything. May be nil.
	Wipe func(i int)
	// Commands counts what clients have sent to all masters for this election
	// or in general. May be nil.
	Commands func() int
	// Wait lets time pass.
	Wait func(time.Duration)

	bids int
}

// A Factory calls test with a fresh Setup, inside a testing/synctest bubble if
// that is how its time passes.
type Factory func(t *testing.T, test func(t *testing.T, s *Setup))

// A check is one test of the suite.
type check struct {
	name string
	run  func(t *testing.T, s *Setup)
}

// RunStore checks all that election.Store promises, and election.Asker where the store
// is one.
func RunStore(t *testing.T, f Factory) {
	t.Helper()
	runChecks(t, f, acquireChecks, renewChecks, releaseChecks, tokenChecks, wakeChecks, inspectChecks, askChecks)
}

// RunElector checks what users see of an elector over such a store.
func RunElector(t *testing.T, f Factory) {
	t.Helper()
	runChecks(t, f, electorChecks, handOverChecks, askedChecks)
}

func runChecks(t *testing.T, f Factory, groups ...[]check) {
	t.Helper()
	for _, g := range groups {
		for _, c := range g {
			t.Run(c.name, func(t *testing.T) { f(t, c.run) })
		}
	}
}

// majority is how many masters make one.
func (s *Setup) majority() int { return s.Masters/2 + 1 }

// bid is a new bid of a candidate with that id.
func (s *Setup) bid(id string) election.Bid {
	s.bids++
	return s.bidAs(id, fmt.Sprintf("%s-%d", id, s.bids))
}

// bidAs is a bid with a value of its own choice.
func (s *Setup) bidAs(id, value string) election.Bid {
	who := election.Candidate{
		ID: id, Host: "host-of-" + id, PID: 7, Instance: "instance-of-" + id,
		Metadata: map[string]string{"addr": "10.0.0.1:80", "note": "ünï \" {}\n"},
	}
	return election.Bid{Value: value, Candidate: who, TTL: s.TTL}
}

// win acquires or fails the test.
func win(t *testing.T, st election.Store, b election.Bid) election.Grant {
	t.Helper()
	g, err := st.Acquire(t.Context(), b)
	if err != nil {
		t.Fatalf("acquire of a free lease by %s: %v", b.Candidate.ID, err)
	}
	return g
}

// winAfter acquires as soon as votes are not split any more: what a candidate
// does right after a release that a slow master has not applied yet.
func winAfter(t *testing.T, s *Setup, st election.Store, b election.Bid) election.Grant {
	t.Helper()
	for range 100 {
		g, err := st.Acquire(t.Context(), b)
		if err == nil {
			return g
		}
		settle(t, st)
		s.Wait(5 * time.Millisecond)
	}
	t.Fatalf("%s cannot acquire", b.Candidate.ID)
	return election.Grant{}
}

// settle waits for what the store does in the background.
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

// held counts the masters that store value.
func (s *Setup) held(value string) (n int) {
	for i := range s.Masters {
		if v, _ := s.Lease(i); v == value {
			n++
		}
	}
	return n
}

// mustHold fails the test unless every master stores value; "" means none.
func (s *Setup) mustHold(t *testing.T, value string) {
	t.Helper()
	for i := range s.Masters {
		if v, _ := s.Lease(i); v != value {
			t.Errorf("master %d stores %q as the lease, want %q", i, v, value)
		}
	}
}

// deleteAll removes the lease everywhere.
func (s *Setup) deleteAll() {
	for i := range s.Masters {
		s.Delete(i)
	}
}

// eventually waits until f is true, for at most limit.
func (s *Setup) eventually(t *testing.T, limit time.Duration, what string, f func() bool) {
	t.Helper()
	const step = 5 * time.Millisecond
	for waited := time.Duration(0); !f(); waited += step {
		if waited > limit {
			t.Fatalf("not within %s: %s", limit, what)
		}
		s.Wait(step)
	}
}

// receive waits for a value on c, for at most limit.
func receive[T any](t *testing.T, c <-chan T, limit time.Duration, what string) (v T) {
	t.Helper()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case v = <-c:
	case <-timer.C:
		t.Fatalf("not within %s: %s", limit, what)
	}
	return v
}

// limit is how long the suite waits for what should come soon.
func (s *Setup) limit() time.Duration { return 4*s.TTL + 5*time.Second }
