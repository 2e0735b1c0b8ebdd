package quorum

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/internal/vote"
)

func held(value string, left time.Duration, token, last election.Token) vote.Reply {
	return vote.Reply{Status: "held", Value: value, Left: left, Token: last, Holder: election.Leader{
		Candidate: election.Candidate{ID: value}, Token: token, Left: left,
	}}
}

func TestTally(t *testing.T) {
	a, a2, b := held("a", 3*time.Second, 5, 9), held("a", time.Second, 5, 5), held("b", 2*time.Second, 7, 7)
	unsealed := held("c", time.Second, 12, 9) // a vote of its own, above all that was sealed
	for _, tt := range []struct {
		name  string
		t     tally
		need  int
		who   string
		n     int
		left  time.Duration
		last  election.Token
		token election.Token // with a floor of 4
	}{
		{"nobody", tally{}, 2, "", 0, 0, 0, 5},
		{"two of three for one", tally{held: []vote.Reply{a, a2}}, 2, "a", 2, 3 * time.Second, 9, 10},
		{"one free", tally{yes: []vote.Reply{{Token: 3}}, held: []vote.Reply{a, a2}}, 2, "a", 2, time.Second, 9, 10},
		{"split", tally{held: []vote.Reply{a, b}}, 2, "b", 1, 3 * time.Second, 9, 10},
		{"split with one that is not sealed", tally{held: []vote.Reply{unsealed, b}}, 2, "b", 1, 2 * time.Second, 12, 10},
		{"the same, the other way round", tally{held: []vote.Reply{b, unsealed}}, 2, "b", 1, 2 * time.Second, 12, 10},
		{"three of five", tally{held: []vote.Reply{a, b, a2, a}}, 3, "a", 3, 3 * time.Second, 9, 10},
		{"all for us", tally{yes: []vote.Reply{{Token: 8}, {Token: 12}, {Token: 11}}}, 2, "", 0, 0, 0, 12},
		{"all for us, below the floor", tally{yes: []vote.Reply{{Token: 2}, {Token: 3}}}, 2, "", 0, 0, 0, 5},
	} {
		l, n := tt.t.leader()
		if l.ID != tt.who || n != tt.n {
			t.Errorf("%s: leader %q of %d, want %q of %d", tt.name, l.ID, n, tt.who, tt.n)
		}
		if left := tt.t.left(tt.need); left != tt.left {
			t.Errorf("%s: %s left, want %s", tt.name, left, tt.left)
		}
		if last := tt.t.last(); last != tt.last {
			t.Errorf("%s: last token %d, want %d", tt.name, last, tt.last)
		}
		if token := tt.t.token(4); token != tt.token {
			t.Errorf("%s: token %d, want %d", tt.name, token, tt.token)
		}
	}
}

// Why there was no majority, in words that cannot be confused (A06, A21).
func TestRefusal(t *testing.T) {
	s := &Store{need: 2, masters: make([]*vote.Master, 3)}
	b := election.Bid{TTL: 3 * time.Second}
	h := held("a", time.Second, 5, 5)
	down := &election.MasterError{Master: "m", Op: "acquire", Kind: election.ErrUnreachable, Err: errors.New("x")}
	var he *election.HeldError
	var qe *Error
	for _, tt := range []struct {
		t  tally
		ok func(error) bool
	}{
		{tally{yes: make([]vote.Reply, 3)}, func(err error) bool {
			return errors.Is(err, election.ErrTooSlow) && strings.Contains(err.Error(), "4s of a TTL of 3s")
		}},
		{tally{held: []vote.Reply{h, h}}, func(err error) bool { return errors.As(err, &he) && he.Holder.ID == "a" && he.Left == time.Second }},
		{tally{held: []vote.Reply{h, h}, errs: []error{down}}, func(err error) bool { return errors.As(err, &he) }},
		{tally{yes: make([]vote.Reply, 1), held: []vote.Reply{h, held("b", 1, 1, 1)}}, func(err error) bool { return errors.Is(err, election.ErrContended) }},
		{tally{yes: make([]vote.Reply, 1), held: []vote.Reply{h}, errs: []error{down}}, func(err error) bool { return errors.Is(err, election.ErrContended) }},
		{tally{held: []vote.Reply{h}, errs: []error{down, down}}, func(err error) bool { return errors.As(err, &qe) && errors.Is(err, election.ErrUnreachable) }},
		{tally{yes: make([]vote.Reply, 1), errs: []error{down, down}}, func(err error) bool { return errors.As(err, &qe) && len(qe.Errs) == 2 }},
		{tally{}, func(err error) bool { return errors.As(err, &qe) && errors.Is(err, errNoMajority) }},
	} {
		if err := s.refusal(tt.t, b, 4*time.Second); !tt.ok(err) {
			t.Errorf("%+v: %v (%T)", tt.t, err, err)
		}
	}
}

// Permanent only where so many fail for good that no majority is left.
func TestErrorPermanent(t *testing.T) {
	for kinds, want := range map[string]bool{"": false, "p": false, "pp": true, "pt": false, "ttt": false, "ppp": true, "ppt": true} {
		e := &Error{Masters: 3, Need: 2}
		for _, k := range kinds {
			kind := election.ErrUnreachable
			if k == 'p' {
				kind = election.ErrServerTooOld
			}
			e.Errs = append(e.Errs, &election.MasterError{Master: "m", Op: "check", Kind: kind, Err: errors.New("x")})
		}
		if election.Permanent(e) != want {
			t.Errorf("%q: permanent %t", kinds, !want)
		}
	}
}

// A lane runs its calls in the order in which they were issued.
func TestLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lane
		order := make(chan int, 5)
		for i := range 5 {
			before, done := l.next()
			if (before == nil) != (i == 0) {
				t.Errorf("place %d: before is nil: %t", i, before == nil)
			}
			go func() {
				if before != nil {
					<-before
				}
				time.Sleep(time.Duration(5-i) * time.Second)
				order <- i
				close(done)
			}()
		}
		time.Sleep(time.Minute)
		for i := range 5 {
			if got := <-order; got != i {
				t.Errorf("call %d came in place %d", got, i)
			}
		}
	})
}

// Nothing is healed once a release was asked for, and what was begun before comes
// before it.
func TestNextUnlessReleased(t *testing.T) {
	m := newTerm(1)
	_, first, ok := m.nextUnlessReleased(0)
	if !ok {
		t.Fatal("not ok before a release")
	}
	m.release()
	if before, _ := m.lanes[0].next(); before != (<-chan struct{})(first) {
		t.Error("the release does not wait for what was begun before")
	}
	if _, _, ok := m.nextUnlessReleased(0); ok {
		t.Error("ok after a release")
	}
}

// A lease that is gone after a release whose outcome was unknown was released by
// it; one that was gone before the first release was not.
func TestReleaseAgain(t *testing.T) {
	gone := vote.Reply{Status: "expired"}
	lost := &election.MasterError{Master: "m", Op: "release", Kind: election.ErrUnreachable, Err: errors.New("x")}
	m := newTerm(2)
	if r, _ := m.again(0, gone, nil); r.Status != "expired" {
		t.Errorf("gone before: %q", r.Status)
	}
	if _, err := m.again(1, vote.Reply{}, lost); err == nil {
		t.Error("the error is lost")
	}
	if r, _ := m.again(1, gone, nil); r.Status != statusReleased {
		t.Errorf("gone after a lost reply: %q", r.Status)
	}
}

// A standby is woken once a majority has announced one release, or has been
// subscribed to anew.
func TestWaker(t *testing.T) {
	woken := func(w *waker) bool {
		select {
		case <-w.hints:
			return true
		default:
			return false
		}
	}
	w := &waker{need: 2, hints: make(chan struct{}, 1), heard: map[string]map[int]bool{}}
	for i, tt := range []struct {
		master int
		value  string
		want   bool
	}{
		{0, "", false}, {1, "", true}, {2, "", false},
		{0, "x", false}, {0, "x", false}, {1, "y", false}, {1, "x", true}, {2, "x", false}, {2, "y", true},
	} {
		w.add(tt.master, tt.value)
		if got := woken(w); got != tt.want {
			t.Errorf("step %d: woken %t", i, got)
		}
	}
	for i := range 10 * maxHeard {
		w.add(0, strings.Repeat("z", i+1))
	}
	if len(w.heard) > maxHeard || len(w.order) > maxHeard {
		t.Errorf("%d releases are remembered", len(w.heard))
	}
}

func TestNewRefuses(t *testing.T) {
	clients := func(addrs ...string) (out []redis.UniversalClient) {
		for _, a := range addrs {
			c := redis.NewClient(&redis.Options{Addr: a})
			t.Cleanup(func() { _ = c.Close() })
			out = append(out, c)
		}
		return out
	}
	for want, cs := range map[string][]redis.UniversalClient{
		"2 masters: at least 3, or use single": clients("a:1", "b:1"),
		"given twice":                          clients("a:1", "b:1", "a:1"),
		"no client":                            append(clients("a:1", "b:1"), nil),
	} {
		if _, err := New(cs, "job", Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := New(clients("a:1", "b:1", "c:1"), "a b", Options{}); err == nil {
		t.Error("a name with a space is accepted")
	}
}

// A grant from elsewhere has no order of calls, and gets one.
func TestTermOf(t *testing.T) {
	m := newTerm(3)
	if termOf(election.Grant{State: m}, 3) != m || termOf(election.Grant{State: m}, 5) == m || termOf(election.Grant{}, 3) == nil {
		t.Error("termOf")
	}
}

func TestBound(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if d := bound(t.Context(), 8*time.Second); d != 2*time.Second {
		t.Errorf("bound %s", d)
	}
	if d := bound(ctx, 8*time.Second); d > time.Second {
		t.Errorf("bound %s with a second left", d)
	}
	ended, cancel := context.WithTimeout(t.Context(), -time.Second)
	defer cancel()
	if d := bound(ended, 8*time.Second); d != time.Millisecond {
		t.Errorf("bound %s with nothing left", d)
	}
}
