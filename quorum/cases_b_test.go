package quorum_test

import (
	"errors"
	"testing"
	"time"

	"incumbent/election"
	"incumbent/internal/simnet"
)

// A resignation hands over in a few round trips, whatever the TTL.
func TestB01_GracefulStopDoesNotWaitOutTheLease(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		a, b := w.elector("a", ttl(30*time.Second)), w.elector("b", ttl(30*time.Second))
		lead(t, a)
		standby := campaign(t.Context(), b)
		time.Sleep(time.Second)
		start := time.Now()
		shut(t, a)
		if r := <-standby; r.err != nil || r.at.Sub(start) > 100*time.Millisecond {
			t.Errorf("handed over after %s: %v", r.at.Sub(start), r.err)
		}
		shut(t, b)
	})
}

// The work's context ends at every instant around a renewal: the lease is given
// back at once, each time.
func TestB02_StopWhileARenewalIsInFlight(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		e := w.elector("a")
		sent := make(chan struct{}, 1)
		w.OnCommand(func(c simnet.Command) {
			select {
			case sent <- struct{}{}:
			default:
			}
		})
		for i := range 40 {
			term := lead(t, e)
			<-sent
			time.Sleep(800 * time.Millisecond)
			for len(sent) > 0 {
				<-sent
			}
			<-sent // a renewal has reached a master
			time.Sleep(time.Duration(i) * 20 * time.Microsecond)
			start := time.Now()
			if err := term.Resign(t.Context()); err != nil {
				t.Fatalf("resign: %v", err)
			}
			time.Sleep(10 * time.Millisecond)
			if w.holders("") != len(w.masters) {
				t.Fatalf("round %d: the lease is still there", i)
			}
			if took := time.Since(start); took > 500*time.Millisecond {
				t.Errorf("given back after %s", took)
			}
		}
		w.OnCommand(nil)
		shut(t, e)
	})
}

// A candidate with a shorter TTL waits for the leader's lease, not for its own.
func TestB04_ShorterTTLDoesNotSteal(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		a, b := w.elector("a", ttl(30*time.Second)), w.elector("b", ttl(10*time.Second))
		lead(t, a)
		standby := campaign(t.Context(), b)
		time.Sleep(40 * time.Second)
		if len(standby) != 0 {
			t.Fatal("stolen from a healthy leader")
		}
		w.Isolate("a")
		var free []time.Duration
		for _, m := range w.masters {
			free = append(free, m.PTTL(leaseKey))
		}
		from := time.Now()
		r := <-standby
		if least := kth(free, w.need()); r.err != nil || r.at.Sub(from) < least || r.at.Sub(from) > least+100*time.Millisecond {
			t.Errorf("won after %s, the lease ran for %v: %v", r.at.Sub(from), free, r.err)
		}
		w.Rejoin("a")
		shut(t, a, b)
	})
}

// All masters load their data for 20 s.
func TestB05_Loading(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		w.opt.GuardsOff = election.AllGuards
		var rec recorder
		a, b := w.elector("a"), w.elector("b", rec.on)
		term := lead(t, a)
		standby := campaign(t.Context(), b)
		time.Sleep(time.Second)
		deadline := term.Deadline()
		for _, m := range w.masters {
			m.Restart(true)
			m.Intercept(func(string, []string) (string, bool) {
				return "LOADING Redis is loading the dataset in memory", true
			})
		}
		if err := lossOf(t, term, 4*time.Second); !errors.Is(err, election.ErrLoading) || heldByOther(err) || time.Now().After(deadline.Add(time.Second)) {
			t.Errorf("%s after the deadline: %v", time.Since(deadline), err)
		}
		time.Sleep(20 * time.Second)
		for _, m := range w.masters {
			m.Intercept(nil)
		}
		up := time.Now()
		if r := <-standby; r.err != nil || r.at.Sub(up) > 2*time.Second {
			t.Errorf("re-elected %s after loading ended: %v", r.at.Sub(up), r.err)
		}
		loading := 0
		for _, ev := range rec.of(election.BidRefused) {
			if errors.Is(ev.Err, election.ErrLoading) {
				loading++
			}
		}
		if loading == 0 {
			t.Error("the candidate never said that the store is loading")
		}
		shut(t, a, b)
	})
}

// A frozen host and one whose packets are dropped are replaced like a dead one.
func TestB09_FrozenHostIsReplaced(t *testing.T) {
	for name, stop := range map[string]func(w *world){
		"frozen": func(w *world) { w.Freeze("a") },
		"cut":    func(w *world) { w.Isolate("a") },
	} {
		t.Run(name, func(t *testing.T) {
			eachMode(t, func(t *testing.T, w *world) {
				a, b := w.elector("a"), w.elector("b")
				term := lead(t, a)
				standby := campaign(t.Context(), b)
				time.Sleep(5 * time.Second)
				stop(w)
				start := time.Now()
				r := <-standby
				if r.err != nil || r.at.Sub(start) > 3*time.Second+100*time.Millisecond {
					t.Errorf("replaced after %s: %v", r.at.Sub(start), r.err)
				}
				if term.Valid() {
					t.Error("two terms are valid")
				}
				w.Thaw("a")
				w.Rejoin("a")
				time.Sleep(time.Second)
				if !r.term.Valid() {
					t.Error("the old leader's return ended the new term")
				}
				shut(t, a, b)
			})
		})
	}
}

// A standby that was cut off for ten TTLs still takes over.
func TestB10_StandbyRecoversFromALongCut(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		var rec recorder
		a, b := w.elector("a"), w.elector("b", rec.on)
		lead(t, a)
		standby := campaign(t.Context(), b)
		time.Sleep(2 * time.Second)
		w.Isolate("b")
		time.Sleep(30 * time.Second)
		cut := 0
		for _, ev := range rec.of(election.BidRefused) {
			if errors.Is(ev.Err, election.ErrUnreachable) {
				cut++
			}
		}
		if cut == 0 {
			t.Error("while cut off it never said unreachable")
		}
		w.Rejoin("b")
		time.Sleep(5 * time.Second)
		w.Isolate("a")
		start := time.Now()
		if r := <-standby; r.err != nil || r.at.Sub(start) > 3100*time.Millisecond {
			t.Errorf("took over after %s: %v", r.at.Sub(start), r.err)
		}
		w.Rejoin("a")
		shut(t, a, b)
	})
}

func TestB12_OneLossIsNotTheEnd(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		e := w.elector("a")
		term := lead(t, e)
		for range 5 {
			w.deleteLease(len(w.masters))
			if err := lossOf(t, term, time.Second); !errors.Is(err, election.ErrExpired) {
				t.Errorf("cause %v", err)
			}
			start := time.Now()
			next := lead(t, e)
			if took := time.Since(start); took > time.Second || next.Token() <= term.Token() {
				t.Errorf("leads again after %s with token %d after %d", took, next.Token(), term.Token())
			}
			term = next
		}
		shut(t, e)
	})
}

// A hung master of three or five costs nothing, and nothing accumulates.
func TestB14_HungMaster(t *testing.T) {
	for _, n := range []int{3, 5} {
		inWorld(t, 1, n, func(t *testing.T, w *world) {
			clients := w.clients("a")
			st := newStore(t, clients, "job", w.opt)
			cycle := func() time.Duration {
				start := time.Now()
				g := win(t, st, bid("a", 5*time.Second))
				if _, err := st.Renew(t.Context(), g); err != nil {
					t.Fatal(err)
				}
				if _, err := st.Release(t.Context(), g); err != nil {
					t.Fatal(err)
				}
				return time.Since(start)
			}
			cycle()
			settle(t, st)
			healthy := cycle()
			settle(t, st)
			w.masters[1].Hang()
			for range 20 {
				if took := cycle(); took > 2*healthy {
					t.Errorf("acquire, renew and release take %s, before %s", took, healthy)
				}
				settle(t, st)
				if c := clients[1].PoolStats().TotalConns; c > 3 {
					t.Fatalf("%d connections to the hung master", c)
				}
			}
			var rec recorder
			e := w.electorOn("a", st, ttl(5*time.Second), rec.on)
			term := lead(t, e)
			for len(rec.of(election.Renewed)) < 100 && term.Valid() {
				time.Sleep(time.Second)
			}
			if !term.Valid() || len(rec.of(election.RenewFailed)) != 0 {
				t.Errorf("valid %t, %d failed renewals", term.Valid(), len(rec.of(election.RenewFailed)))
			}
			w.masters[1].Resume()
			time.Sleep(6 * time.Second) // a late vote of an old bid costs at most a TTL
			shut(t, e)
			if w.holders("") != n {
				t.Error("what came late to the hung master left a lease")
			}
		})
	}
}
