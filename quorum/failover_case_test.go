package quorum_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"incumbent/election"
	"incumbent/internal/simnet"
)

// untilDone is work that stops when it is told to.
func untilDone(ctx context.Context, _ *election.Term) error {
	<-ctx.Done()
	return nil
}

// B02: the parent context ends while a renewal is in flight, at another instant each
// time: between the masters' receiving it and the answers. Each time, a thousand times
// with one master, the lease is gone within 500 ms.
func TestB02_ParentEndsWhileARenewalIsInFlight(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		e := w.elector("a", ttl(time.Second))
		renewal := make(chan struct{}, 1)
		w.OnCommand(func(c simnet.Command) {
			if isScript(c.Args, "renew") {
				select {
				case renewal <- struct{}{}:
				default: // one that nobody has seen yet
				}
			}
		})
		rounds := 1000
		if len(w.masters) > 1 {
			rounds = 100
		}
		for i := range rounds {
			for len(renewal) > 0 {
				<-renewal
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- election.Run(ctx, e, untilDone) }()
			<-renewal
			time.Sleep(time.Duration(i%50) * 20 * time.Microsecond)
			cancel()
			start := time.Now()
			if err := <-done; err != nil {
				t.Fatalf("round %d: %v", i, err)
			}
			for w.holders("") != len(w.masters) && time.Since(start) < time.Minute {
				time.Sleep(time.Millisecond) // the slowest masters are released in the background
			}
			if took := time.Since(start); took > 500*time.Millisecond {
				t.Fatalf("round %d: the lease is gone after %s", i, took)
			}
		}
		w.OnCommand(nil)
		shut(t, e)
	})
}

// B04: a candidate with a shorter TTL warns once that candidates disagree, however
// often it bids.
func TestB04_MismatchIsSaidOnce(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		var log safeBuffer
		a, b := w.elector("a", ttl(30*time.Second)), w.elector("b", ttl(10*time.Second), func(o *election.Options) { o.Logger = logTo(&log) })
		lead(t, a)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		if _, err := b.Campaign(ctx); !errors.Is(err, election.ErrNotAcquired) {
			t.Errorf("got %v", err)
		}
		if n := strings.Count(log.String(), "candidates disagree on the TTL"); n != 1 {
			t.Errorf("said %d times:\n%s", n, &log)
		}
		shut(t, a, b)
	})
}

// B05: masters that keep their data restart and load it for 20 s. The leader steps
// down by its deadline, candidates say that the store is loading and never that
// anybody holds it, and somebody leads within two retries after the loading ends.
// With guards it takes a TTL more: a server with another run_id than the one that
// granted last may have missed a lease, and that guard is armed by the first bid.
func TestB05_ReelectedWhenLoadingEnds(t *testing.T) {
	for guards, limit := range map[election.StoreGuards]time.Duration{
		election.AllGuards: 2 * time.Second, election.FailoverGuard: 2 * time.Second, election.NoGuards: 2*time.Second + 3*time.Second,
	} {
		eachMode(t, func(t *testing.T, w *world) {
			w.opt.GuardsOff = guards
			var rec recorder
			var log safeBuffer
			a, b := w.elector("a"), w.elector("b", rec.on, func(o *election.Options) { o.Logger = logTo(&log) })
			term := lead(t, a)
			standby := campaign(t.Context(), b)
			time.Sleep(1500 * time.Millisecond)
			deadline := term.Deadline()
			for _, m := range w.masters {
				m.Restart(false)
				m.Intercept(func(string, []string) (string, bool) { return "LOADING Redis is loading the dataset in memory", true })
			}
			if err := lossOf(t, term, 4*time.Second); !errors.Is(err, election.ErrLoading) || heldByOther(err) || time.Now().After(deadline) {
				t.Errorf("%s after the deadline: %v", time.Since(deadline), err)
			}
			time.Sleep(time.Until(deadline) + time.Second)
			before := len(rec.of(election.BidRefused))
			if _, err := b.Leader(t.Context()); !errors.Is(err, election.ErrLoading) || heldByOther(err) {
				t.Errorf("the status is %v", err)
			}
			time.Sleep(15 * time.Second)
			refused := rec.of(election.BidRefused)[before:]
			for _, ev := range refused {
				if !errors.Is(ev.Err, election.ErrLoading) || heldByOther(ev.Err) {
					t.Errorf("the candidate says %v", ev.Err)
				}
			}
			if n := linesWith(&log, election.ErrLoading.Error()); len(refused) == 0 || n != 1 {
				t.Errorf("%d tries, said in %d lines:\n%s", len(refused), n, &log)
			}
			for _, m := range w.masters {
				m.Intercept(nil)
			}
			up := time.Now()
			if r := <-standby; r.err != nil || r.at.Sub(up) > limit {
				t.Errorf("guards off %s: re-elected %s after loading ended: %v", guards, r.at.Sub(up), r.err)
			}
			shut(t, a, b)
		})
	}
}

// linesWith counts the lines of a log that have a text.
func linesWith(log *safeBuffer, text string) (n int) {
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// B10: a standby that is cut off for ten TTLs says so to whoever asks it for the
// leader, and to those who follow it, once; never that nobody leads.
func TestB10_StatusWhileCutOff(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		a, b := w.elector("a"), w.elector("b")
		term := lead(t, a)
		standby := campaign(t.Context(), b)
		type look struct {
			leader election.Leader
			err    error
		}
		looks := make(chan look, 100)
		ctx, cancel := context.WithCancel(t.Context())
		watched := make(chan struct{})
		go func() {
			defer close(watched)
			for l, err := range b.Observe(ctx) {
				looks <- look{l, err}
			}
		}()
		time.Sleep(2 * time.Second)
		if l := <-looks; l.err != nil || l.leader.Token != term.Token() {
			t.Errorf("before: %+v, %v", l.leader, l.err)
		}
		w.Isolate("b")
		for range 10 {
			time.Sleep(3 * time.Second)
			if l, err := b.Leader(t.Context()); !errors.Is(err, election.ErrUnreachable) || errors.Is(err, election.ErrNoLeader) {
				t.Errorf("while cut off: %+v, %v", l, err)
			}
		}
		if l := <-looks; !errors.Is(l.err, election.ErrUnreachable) || len(looks) != 0 {
			t.Errorf("%d more looks after %v", len(looks), l.err)
		}
		w.Rejoin("b")
		time.Sleep(6 * time.Second)
		if l, err := b.Leader(t.Context()); err != nil || l.Token != term.Token() {
			t.Errorf("afterwards: %+v, %v", l, err)
		}
		if l := <-looks; l.err != nil || l.leader.Token != term.Token() {
			t.Errorf("afterwards it sees %+v, %v", l.leader, l.err)
		}
		cancel()
		<-watched
		w.Isolate("a")
		start := time.Now()
		if r := <-standby; r.err != nil || r.at.Sub(start) > 4*time.Second {
			t.Errorf("took over after %s: %v", r.at.Sub(start), r.err)
		}
		w.Rejoin("a")
		shut(t, a, b)
	})
}

// B12: each loss is followed by another term, without anybody's doing, and the terms
// are counted by their events.
func TestB12_TermsAreCounted(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		var rec recorder
		e := w.elector("a", rec.on)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- election.Run(ctx, e, untilDone) }()
		const losses = 5
		for i := range losses {
			time.Sleep(10 * time.Second)
			if n := len(rec.of(election.TermStarted)); n != i+1 {
				t.Fatalf("%d terms after %d losses", n, i)
			}
			w.deleteLease(len(w.masters))
		}
		time.Sleep(3 * time.Second)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		shut(t, e)
		started, ended := rec.of(election.TermStarted), rec.of(election.TermEnded)
		if len(started) != losses+1 || len(ended) != losses+1 {
			t.Fatalf("%d terms began, %d ended", len(started), len(ended))
		}
		for i := range losses {
			if gap := started[i+1].At.Sub(ended[i].At); gap > 2*time.Second || started[i+1].Token <= started[i].Token {
				t.Errorf("term %d begins %s after the one before", i+1, gap)
			}
		}
	})
}

// D09: refusals are told once with the server's words, not once a try, and once more
// when they are over: of a leader's renewals, and of a candidate's bids.
func TestD09_RefusalsAreSaidOnce(t *testing.T) {
	for _, text := range []string{
		"NOREPLICAS Not enough good replicas to write.",
		"MISCONF Errors writing to the AOF file: No space left on device",
		"READONLY You can't write against a read only replica. script: f3a2, on @user_script:1.",
	} {
		t.Run(strings.Fields(text)[0], func(t *testing.T) {
			eachMode(t, func(t *testing.T, w *world) {
				var rec recorder
				var log safeBuffer
				e := w.elector("a", rec.on, func(o *election.Options) { o.Logger = logTo(&log); o.Renew = 200 * time.Millisecond })
				term := lead(t, e)
				time.Sleep(time.Second)
				for _, m := range w.masters {
					m.Intercept(answerScripts(text))
				}
				if err := lossOf(t, term, 4*time.Second); !errors.Is(err, election.ErrRefused) || heldByOther(err) {
					t.Errorf("cause %v", err)
				}
				standby := campaign(t.Context(), e)
				time.Sleep(15 * time.Second)
				renewals, bids := len(rec.of(election.RenewFailed)), len(rec.of(election.BidRefused))
				lines, per := linesWith(&log, text), 0
				for line := range strings.Lines(log.String()) {
					per = max(per, strings.Count(line, text))
				}
				// For a leader: when renewals begin to fail, that the term ends, what it was
				// given back with; for a candidate: when its bids begin to be refused.
				if said := strings.Count(log.String(), "\n"); said > 8 || renewals < 3 || bids < 3 || lines == 0 {
					t.Errorf("%d lines for %d renewals and %d bids; the server's words stand in %d:\n%s", said, renewals, bids, lines, &log)
				}
				if per > len(w.masters) {
					t.Errorf("one line says it %d times:\n%s", per, &log)
				}
				for _, m := range w.masters {
					m.Intercept(nil)
				}
				if r := <-standby; r.err != nil {
					t.Error(r.err)
				}
				shut(t, e)
			})
		})
	}
}

// D10: whatever stands before the code, between all calls of a term, a bid and a
// release: nothing is lost, and nothing is asked twice for it.
func TestD10_OddWordsForForgottenScripts(t *testing.T) {
	for i, text := range []string{
		"NOSCRIPT No matching script. Please use EVAL.", "ERR (error) NOSCRIPT No matching script. Please use EVAL.",
		"ERR upstream failure: -NOSCRIPT",
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			eachMode(t, func(t *testing.T, w *world) {
				var rec recorder
				for _, m := range w.masters {
					m.Intercept(func(_ string, args []string) (string, bool) { return text, strings.EqualFold(args[0], "EVALSHA") })
				}
				e := w.elector("a", rec.on)
				term := lead(t, e)
				time.Sleep(10 * time.Second)
				if !term.Valid() || len(rec.of(election.RenewFailed, election.BidRefused)) != 0 || len(rec.of(election.Renewed)) < 9 {
					t.Errorf("valid %t, %v", term.Valid(), rec.of(election.RenewFailed, election.BidRefused))
				}
				if err := term.Resign(t.Context()); err != nil {
					t.Error(err)
				}
				time.Sleep(50 * time.Millisecond)
				if w.holders("") != len(w.masters) {
					t.Error("not given back")
				}
				shut(t, e)
			})
		})
	}
}
