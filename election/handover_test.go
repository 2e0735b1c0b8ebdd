package election_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/election"
	"incumbent/election/electiontest"
)

// ask asks the leader of m's election to hand over.
func ask(t *testing.T, m *electiontest.Memory, h election.HandOver) {
	t.Helper()
	if _, err := m.Store().(election.Asker).Ask(t.Context(), h); err != nil {
		t.Fatalf("ask: %v", err)
	}
}

// A leader that is asked resigns within a renewal interval, its work is waited for, and
// whoever waits leads next.
func TestAskedLeaderHandsOver(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		a, b := join(t, m.Store(), "a", func(o *election.Options) { o.Grace = 5 * ttl }), join(t, m.Store(), "b")
		var told, stopped time.Time
		ctx, cancel := context.WithCancel(bg)
		done := runIn(ctx, a, func(ctx context.Context, term *election.Term) error {
			<-ctx.Done()
			told = time.Now()
			<-time.After(2 * ttl) // it takes longer than a lease to stop
			if !term.Valid() {
				t.Error("the lease was not kept while the work was stopping")
			}
			stopped = time.Now()
			return nil
		})
		synctest.Wait()
		next := campaignIn(bg, b)
		pass(ttl)
		asked := time.Now()
		h := election.HandOver{Token: m.Token(), By: "ops", To: "b"}
		ask(t, m, h)
		won := <-next
		if won.err != nil || won.term.Token() <= h.Token {
			t.Fatalf("the next leader: %v", won.err)
		}
		if d := told.Sub(asked); d > renew {
			t.Errorf("told %s after it was asked", d)
		}
		if d := won.at.Sub(stopped); d < 0 || d > 50*ms {
			t.Errorf("the next term began %s after the work had ended", d)
		}
		var by *election.AskedError
		l := a.events.list(election.TermStopping)[0]
		if !errors.Is(l.Err, election.ErrResigned) || !errors.As(l.Err, &by) || by.HandOver != h {
			t.Errorf("stopped by %v", l.Err)
		}
		if l.Err.Error() != `term 1 ended: resigned: asked to hand over by "ops" to "b"` {
			t.Errorf("it says %q", l.Err)
		}
		if a.logs.count("INFO handing over", `asked to hand over by "ops"`) != 1 || a.logs.count("WARN") != 0 {
			t.Errorf("log:\n%s", a.logs)
		}
		pass(2 * ttl)
		if l, _ := m.Leader(); l.ID != "b" {
			t.Errorf("%s leads in the end", l.ID)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// Where nobody else waits, the same candidate leads again, with a larger token, and
// is not asked again by the same request.
func TestAskedLeaderWithoutOthersLeadsAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		a := join(t, m.Store(), "a")
		ctx, cancel := context.WithCancel(bg)
		done := runIn(ctx, a, untilDone)
		pass(ttl)
		ask(t, m, election.HandOver{Token: m.Token()})
		pass(10 * ttl)
		if l, held := m.Leader(); !held || l.Token != 2 {
			t.Errorf("leader %+v, %t: want the second term", l, held)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// What is not heeded, and what changes nothing.
func TestRequestsThatEndNoTerm(t *testing.T) {
	for name, c := range map[string]struct {
		asked *election.HandOver
		ends  bool
	}{
		"none":           {nil, false},
		"this term":      {&election.HandOver{Token: 1}, true},
		"an earlier one": {&election.HandOver{Token: 7, To: "b"}, false},
		"no term":        {&election.HandOver{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				m := electiontest.NewMemory()
				s := &hooks{Store: m.Store()}
				s.renew = func(ctx context.Context, g election.Grant) (election.Grant, error) {
					g, err := s.Store.Renew(ctx, g)
					g.Asked = c.asked
					return g, err
				}
				a := join(t, s, "a")
				term := lead(t, a)
				pass(5 * renew)
				if term.Valid() == c.ends && term.Loss() != nil != c.ends {
					t.Errorf("valid %t, loss %v", term.Valid(), term.Loss())
				}
				if stopped := term.Context().Err() != nil; stopped != c.ends {
					t.Errorf("stopped: %t", stopped)
				}
			})
		})
	}
}

// A second request, and one that comes while the term is stopping for another reason,
// change neither the reason nor when renewals end.
func TestAskedTwiceOrWhileStopping(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		a := join(t, m.Store(), "a", func(o *election.Options) { o.Grace = 2 * ttl })
		term := lead(t, a)
		ask(t, m, election.HandOver{Token: term.Token(), By: "first"})
		<-term.Context().Done()
		stopped := time.Now()
		ask(t, m, election.HandOver{Token: term.Token(), By: "second"})
		pass(renew)
		var by *election.AskedError
		if !errors.As(term.Loss(), &by) || by.By != "first" || !term.Valid() {
			t.Errorf("loss %v, valid %t", term.Loss(), term.Valid())
		}
		for term.Valid() {
			pass(100 * ms)
		}
		if d := time.Since(stopped); d < 2*ttl || d > 3*ttl+200*ms {
			t.Errorf("kept for %s after the first request, with a grace of %s", d, 2*ttl)
		}
		if a.logs.count("handing over") != 1 || a.events.count(election.TermStopping) != 1 {
			t.Errorf("log:\n%s", a.logs)
		}
	})
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		a := join(t, m.Store(), "a", func(o *election.Options) { o.Grace = 5 * ttl })
		ctx, cancel := context.WithCancel(bg)
		leave := make(chan struct{})
		done := runIn(ctx, a, func(ctx context.Context, _ *election.Term) error {
			<-ctx.Done()
			<-leave
			return nil
		})
		synctest.Wait()
		cancel()
		synctest.Wait()
		ask(t, m, election.HandOver{Token: 1, By: "late"})
		pass(3 * renew)
		close(leave)
		if err := <-done; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		var by *election.AskedError
		if ended := a.events.last(t, election.TermEnded); errors.As(ended.Err, &by) || !errors.Is(ended.Err, election.ErrResigned) {
			t.Errorf("ended by %v", ended.Err)
		}
		if a.logs.count("handing over") != 0 {
			t.Errorf("log:\n%s", a.logs)
		}
	})
}

// The heir leads next, though another one has waited longer; who waits for it looks now
// and then, and leads once the reserve is over where no heir comes.
func TestHeirGoesFirst(t *testing.T) {
	for name, comes := range map[string]bool{"it comes": true, "it does not": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				m := electiontest.NewMemory()
				a, b, heir := join(t, m.Store(), "a"), join(t, m.Store(), "b"), join(t, m.Store(), "heir")
				ctx, cancel := context.WithCancel(bg)
				actx, leave := context.WithCancel(bg)
				running := runIn(actx, a, untilDone)
				synctest.Wait()
				other := campaignIn(ctx, b)
				synctest.Wait()
				var next <-chan outcome
				if comes {
					next = campaignIn(ctx, heir)
				}
				synctest.Wait()
				ask(t, m, election.HandOver{Token: 1, To: "heir", Reserve: 2 * time.Second})
				for held := true; held; {
					pass(10 * ms)
					l, _ := m.Leader()
					held = l.ID == "a"
				}
				released := time.Now()
				leave() // it does not campaign again
				before := m.Calls(electiontest.OpAcquire)
				if comes {
					if won := <-next; won.err != nil || won.at.Sub(released) > 50*ms {
						t.Errorf("the heir: %v, after %s", won.err, won.at.Sub(released))
					}
					select {
					case won := <-other:
						t.Errorf("another led: %v", won.err)
					default:
					}
				} else {
					won := <-other
					if d := won.at.Sub(released); won.err != nil || d < 1900*ms || d > 2100*ms {
						t.Errorf("the other one: %v, after %s", won.err, d)
					}
					if n := m.Calls(electiontest.OpAcquire) - before; n > 10 { // in 2 s, with a TTL of 3 s
						t.Errorf("%d bids while the lease was kept for another", n)
					}
					if b.logs.count("INFO the lease was handed over to another candidate") != 1 || b.logs.count("nobody can lead yet") != 0 {
						t.Errorf("log:\n%s", b.logs)
					}
				}
				cancel()
				if err := <-running; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Events of work: it starts after the term, and returns with how long it ran and by how
// much it outlived that.
func TestEventsOfWork(t *testing.T) {
	failed := errors.New("failed")
	for name, c := range map[string]struct {
		work func(ctx context.Context, term *election.Term, m *electiontest.Memory) error
		took time.Duration
		lag  [2]time.Duration // from and to
		err  error
	}{
		"it ends":     {func(context.Context, *election.Term, *electiontest.Memory) error { return nil }, 0, [2]time.Duration{}, nil},
		"it fails":    {func(context.Context, *election.Term, *electiontest.Memory) error { return failed }, 0, [2]time.Duration{}, failed},
		"it panics":   {func(context.Context, *election.Term, *electiontest.Memory) error { panic(failed) }, 0, [2]time.Duration{}, failed},
		"it exits":    {func(context.Context, *election.Term, *electiontest.Memory) error { runtime.Goexit(); return nil }, 0, [2]time.Duration{}, nil},
		"in time":     {func(context.Context, *election.Term, *electiontest.Memory) error { pass(renew * 5); return nil }, renew * 5, [2]time.Duration{}, nil},
		"it outlives": {outlive, 0, [2]time.Duration{4 * time.Second, 4*time.Second + 10*ms}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				m := electiontest.NewMemory()
				a := join(t, m.Store(), "a")
				ctx, cancel := context.WithCancel(bg)
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					_ = election.Run(ctx, a, func(ctx context.Context, term *election.Term) error {
						defer cancel()
						return c.work(ctx, term, m)
					})
				}()
				<-ended
				synctest.Wait()
				started, returned := a.events.last(t, election.WorkStarted), a.events.last(t, election.WorkReturned)
				if started.Token != 1 || started.Term == nil || started.Term != returned.Term || started.Term.Token() != 1 {
					t.Errorf("started %+v", started)
				}
				if c.took > 0 && returned.Took != c.took || returned.Took != returned.At.Sub(started.At) {
					t.Errorf("took %s, want %s", returned.Took, c.took)
				}
				if returned.Lag < c.lag[0] || returned.Lag > c.lag[1] {
					t.Errorf("lag %s, want from %s to %s", returned.Lag, c.lag[0], c.lag[1])
				}
				if !errors.Is(returned.Err, c.err) || (name == "it panics") != errors.As(returned.Err, new(*election.PanicError)) {
					t.Errorf("error %v, want %v", returned.Err, c.err)
				}
				wantWorkInTerms(t, a.events.list())
			})
		})
	}
}

// outlive is work that notices only 4 s later that its term is over.
func outlive(_ context.Context, term *election.Term, m *electiontest.Memory) error {
	m.Expire()
	for term.Valid() {
		<-time.After(ms)
	}
	<-time.After(4 * time.Second)
	return nil
}

// wantWorkInTerms checks that each piece of work starts in a term that has started, and
// returns once, before the term is released; and that all events of a term carry it.
func wantWorkInTerms(t *testing.T, events []election.Event) {
	t.Helper()
	state := map[election.Token]election.EventKind{}
	for _, ev := range events {
		if (ev.Token != 0) != (ev.Term != nil) || ev.Term != nil && ev.Term.Token() != ev.Token {
			t.Errorf("%s: token %d, term %v", ev.Kind, ev.Token, ev.Term)
		}
		before := state[ev.Token]
		switch ev.Kind {
		case election.WorkStarted:
			if before != election.TermStarted {
				t.Errorf("work started after %q", before)
			}
		case election.WorkReturned:
			if before != election.WorkStarted {
				t.Errorf("work returned after %q", before)
			}
		case election.TermReleased:
			if before == election.WorkStarted {
				t.Error("released while there was work")
			}
		case election.TermStarted:
		default:
			continue
		}
		state[ev.Token] = ev.Kind
	}
}

// Who was asked does not win its own lease back from an heir that does not come, while
// another one waits; and whoever waited for an heir is woken when that gives the lease back.
func TestWaitingForAnHeir(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for range 20 {
			m := electiontest.NewMemory()
			a, b := join(t, m.Store(), "a"), join(t, m.Store(), "b")
			ctx, cancel := context.WithCancel(bg)
			running := runIn(ctx, a, untilDone)
			synctest.Wait()
			next := campaignIn(ctx, b)
			synctest.Wait()
			ask(t, m, election.HandOver{Token: 1, To: "nobody", Reserve: time.Second})
			won := <-next
			if won.err != nil || won.term.Token() != 2 {
				t.Fatalf("the other one: %v", won.err)
			}
			cancel()
			if err := errors.Join(<-running, won.term.Resign(bg)); err != nil {
				t.Fatal(err)
			}
		}
	})
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		a, b, heir := join(t, m.Store(), "a"), join(t, m.Store(), "b"), join(t, m.Store(), "heir")
		ctx, leave := context.WithCancel(bg)
		running := runIn(ctx, a, untilDone)
		synctest.Wait()
		other := campaignIn(bg, b)
		synctest.Wait()
		ask(t, m, election.HandOver{Token: 1, To: "heir", Reserve: ttl})
		pass(renew)
		leave()
		if err := <-running; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		won := lead(t, heir) // it comes a little later
		pass(400 * ms)
		if b.logs.count("INFO the lease was handed over to another candidate") != 1 {
			t.Fatalf("it did not wait for the heir:\n%s", b.logs)
		}
		gone := time.Now()
		if err := won.Resign(bg); err != nil {
			t.Fatal(err)
		}
		if o := <-other; o.err != nil || o.at.Sub(gone) > 50*ms {
			t.Errorf("led %s after the heir had resigned: %v", o.at.Sub(gone), o.err)
		}
	})
}

// Whoever waits for an heir that does not come looks less and less often: a fixed pause of
// TTL/10 would be ten looks in a TTL.
func TestLooksAtAnHeirsTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		a, b := join(t, m.Store(), "a"), join(t, m.Store(), "b")
		ctx, leave := context.WithCancel(bg)
		running := runIn(ctx, a, untilDone)
		synctest.Wait()
		other := campaignIn(bg, b)
		synctest.Wait()
		ask(t, m, election.HandOver{Token: 1, To: "nobody", Reserve: ttl})
		pass(renew)
		leave()
		if err := <-running; err != nil {
			t.Error(err)
		}
		before := m.Calls(electiontest.OpAcquire)
		won := <-other
		if won.err != nil {
			t.Fatal(won.err)
		}
		if n := m.Calls(electiontest.OpAcquire) - before; n < 3 || n > 6 {
			t.Errorf("%d bids in an heir's turn of a TTL", n)
		}
		if err := won.term.Resign(bg); err != nil {
			t.Error(err)
		}
	})
}
