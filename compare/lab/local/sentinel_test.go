package local_test

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/lab/local"
	"incumbent/compare/measure"
)

var sentinel = flag.Bool("sentinel", false, "play promotions by Sentinel, whose times are its own: some runs take longer than a run may")

// TestSentinel has replicas that lag promoted twice in a row, under one set of
// candidates that live on: first since the primary is killed, then since the sentinels
// are asked to.
func TestSentinel(t *testing.T) {
	if !*sentinel {
		t.Skip("promotions by Sentinel take as long as it likes: -args -sentinel plays them")
	}
	t.Parallel()
	for _, unguarded := range []bool{false, true} {
		for _, acks := range []int{0, 1} {
			t.Run(fmt.Sprintf("guards off %v, acks %d", unguarded, acks), func(t *testing.T) {
				t.Parallel()
				l, ctx := open(t, local.Options{TTL: time.Second, Sentinels: true, GuardsOff: unguarded, ReplicaAcks: acks})
				pids := processes(l)
				for _, kill := range []bool{true, false} {
					failover(t, ctx, l, kill)
				}
				everybodyWins(t, ctx, l)
				if now := processes(l); now != pids {
					t.Errorf("processes %v became %v", pids, now)
				}
			})
		}
	}
}

func processes(l *local.Lab) (pids [3]int) {
	for i := range pids {
		pids[i] = l.PID(fmt.Sprintf("c%d", i+1))
	}
	return pids
}

// failover plays one promotion, and logs what windows it leaves. A primary that is well
// goes on to serve whoever hears of the promotion late: no guard of the new one helps
// against that, only acknowledgements do.
func failover(t *testing.T, ctx context.Context, l *local.Lab, kill bool) {
	t.Helper()
	acks := l.Options().ReplicaAcks
	name := map[bool]string{true: "failover", false: "old-primary"}[kill] + map[int]string{0: "", 1: "-acks"}[acks]
	f, err := fault.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	f.Least, f.Most = 0, 0 // there is nothing to heal
	f.Strike = func(w fault.World) (func() error, error) {
		if err := l.Lag(ctx); err != nil {
			return nil, err
		}
		if acks == 0 { // the next term is one of which replicas know nothing
			leader := l.Leader()
			if err := l.Resign(leader); err != nil {
				return nil, err
			}
			l.Pass(0.5)
		}
		l.Struck(0)
		return nil, l.Failover(ctx, kill)
	}
	run, err := l.Play(ctx, f)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range measure.Check(run) {
		t.Errorf("%v\n%s", v, timeline(run))
	}
	got := measure.Of(run)
	if leaderInTheEnd(run) == "" || !got.FailedOver {
		t.Errorf("not elected again:\n%s", timeline(run))
	}
	t.Logf("%-16s guards %-3s: next term after %v, nobody led for %v, two for %v", run.Fault, run.Guards,
		got.Failover.Round(time.Millisecond), got.Leaderless.Round(time.Millisecond), got.BeliefOverlap.Round(time.Millisecond))
	if *trace {
		t.Log(timeline(run))
	}
	if err := l.Rejoin(ctx); err != nil {
		t.Fatal(err)
	}
}

// everybodyWins ends terms until each candidate has led. A leader that resigns may win
// its own lease back: those who listen at the old primary, which is a replica now, are
// woken, but are not counted. So each one after it is frozen until another one leads.
func everybodyWins(t *testing.T, ctx context.Context, l *local.Lab) {
	t.Helper()
	won := map[string]bool{}
	back := 0
	for terms := 1; len(won) < l.Options().Candidates; terms++ {
		leader, token, err := l.Settle(ctx)
		if err != nil || terms > 30 {
			t.Fatalf("after %d terms only %v have led: %v", terms, won, err)
		}
		won[leader] = true
		end := l.Resign
		if terms%2 == 0 {
			end = l.Freeze
		}
		mark := l.Mark()
		if err := end(leader); err != nil {
			t.Fatal(err)
		}
		next, err := l.NextTerm(ctx, mark, token)
		if err != nil {
			t.Fatal(err)
		}
		if next.Actor == leader {
			back++
		}
		if err := l.Thaw(leader); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("all have led; %d leaders that resigned won their own lease back", back)
}
