package local_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/compare/lab/local"
	"incumbent/compare/measure"
)

// TestSentinel has replicas that lag promoted twice in a row, under one set of
// candidates that live on: first since the primary is killed, then since the sentinels
// are asked to. A primary that is well goes on to serve whoever hears of the promotion
// late: no guard of the new one helps against that, only acknowledgements do.
func TestSentinel(t *testing.T) {
	t.Parallel()
	for _, unguarded := range []bool{false, true} {
		for acks, faults := range [][]string{{"failover", "old-primary"}, {"failover-acks", "old-primary-acks"}} {
			t.Run(fmt.Sprintf("guards off %v, acks %d", unguarded, acks), func(t *testing.T) {
				t.Parallel()
				l, ctx := open(t, local.Options{TTL: time.Second, Sentinels: true, GuardsOff: unguarded, ReplicaAcks: acks})
				pids := processes(l)
				for _, name := range faults {
					promoted(t, ctx, l, name)
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

// promoted plays one promotion, and logs what windows it leaves.
func promoted(t *testing.T, ctx context.Context, l *local.Lab, name string) {
	t.Helper()
	f, err := fault.ByName(name)
	if err != nil {
		t.Fatal(err)
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
}

// mostBack is how many leaders that resign may win their own lease back: on a busy
// machine a standby that was woken may come too late.
const mostBack = 1

// everybodyWins ends terms until each candidate has led: by turns its leader resigns,
// so that those who listen have to be heard of at the new primary, and is frozen.
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
	if back > mostBack {
		t.Errorf("%d leaders that resigned won their own lease back", back)
	}
}

// A player plays what sentinels do, on servers that it uses again, and nothing else.
func TestPlayerWithSentinels(t *testing.T) {
	t.Parallel()
	p := &local.Player{Sentinels: true}
	spec := local.Spec{Seed: 1, Mode: "single", Masters: 1, Fault: "failover-twice", TTL: time.Second, Candidates: 3}
	specs := []local.Spec{spec, spec}
	specs[1].Seed, specs[1].Fault, specs[1].Guards = 2, "old-primary", history.GuardsOff
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	err := p.Play(ctx, specs, func(i int, run history.Run, err error) {
		if err != nil {
			t.Errorf("%s: %v", specs[i].Fault, err)
			return
		}
		if run.Lab != local.SentinelName || leaderInTheEnd(run) == "" {
			t.Errorf("in lab %q, led in the end by %q:\n%s", run.Lab, leaderInTheEnd(run), timeline(run))
		}
		for _, v := range measure.Check(run) {
			t.Errorf("%v\n%s", v, timeline(run))
		}
	})
	if err != nil {
		t.Error(err)
	}
	for _, wrong := range []local.Spec{
		{Mode: "single", Masters: 1, Fault: "crash"},
		{Mode: "quorum", Masters: 3, Fault: "failover"},
	} {
		if err := p.Supports(wrong); err == nil {
			t.Errorf("%s in %s is played", wrong.Fault, wrong.Mode)
		}
	}
}
