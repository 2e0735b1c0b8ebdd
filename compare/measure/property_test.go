package measure_test

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"incumbent/compare/history"
	"incumbent/compare/measure"
)

// random is a history without order or sense.
func random(r *rand.Rand) history.Run {
	kinds := []history.Kind{
		history.Fault, history.Healed, history.TermStarted, history.TermStopping, history.TermEnded,
		history.Renewed, history.Checked, history.Acted, history.Note, history.MasterDown, history.MasterUp, "unheard-of",
	}
	out := history.Run{Masters: 1 + 2*r.IntN(2), Length: time.Duration(r.IntN(10_000))}
	for range r.IntN(40) {
		out.Events = append(out.Events, history.Event{
			At: time.Duration(r.IntN(10_000)), Actor: string(rune('a' + r.IntN(3))), N: len(out.Events),
			Kind: kinds[r.IntN(len(kinds))], Token: uint64(r.IntN(5)), Deadline: time.Duration(r.IntN(12_000)),
			Floor: time.Duration(r.IntN(3000)), Unfenced: true, Fenced: r.IntN(2) == 0,
		})
	}
	return out
}

// orderly is a history of terms that follow one another.
func orderly(r *rand.Rand) history.Run {
	var out history.Run
	at, token := time.Duration(0), uint64(0)
	for range 1 + r.IntN(8) {
		at += time.Duration(1 + r.IntN(1000))
		token += uint64(1 + r.IntN(3))
		actor := string(rune('a' + r.IntN(3)))
		end := at + time.Duration(10+r.IntN(1000))
		out.Events = append(out.Events,
			history.Event{At: at, Actor: actor, N: 0, Kind: history.TermStarted, Token: token, Deadline: end},
			history.Event{At: at, Actor: actor, N: 1, Kind: history.Checked, Token: token},
			history.Event{At: at + 1, Actor: actor, Kind: history.Acted, Token: token, Unfenced: true, Fenced: true},
			history.Event{At: end, Actor: actor, N: 0, Kind: history.TermStopping, Token: token},
			history.Event{At: end, Actor: actor, N: 1, Kind: history.TermEnded, Token: token})
		at = end
	}
	out.Length = at
	return out
}

// TestProperties checks what must hold of any history.
func TestProperties(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		run := random(r)
		before := append([]history.Event(nil), run.Events...)
		f := measure.Of(run)
		v := measure.Check(run)
		if !reflect.DeepEqual(run.Events, before) {
			t.Fatalf("seed %d: the history was changed", seed)
		}
		r.Shuffle(len(run.Events), func(i, j int) { run.Events[i], run.Events[j] = run.Events[j], run.Events[i] })
		if again := measure.Of(run); again != f {
			t.Fatalf("seed %d: the order of events matters: %+v and %+v", seed, f, again)
		}
		if again := measure.Check(run); !reflect.DeepEqual(again, v) {
			t.Fatalf("seed %d: the order of events matters: %v and %v", seed, v, again)
		}
		switch {
		case f.Outage < 0, f.Election < 0, f.Elected && (!f.StoreOut || !f.FailedOver || f.Outage+f.Election != f.Failover),
			f.Failover < 0, f.Leaderless < 0, f.BeliefOverlap < 0, f.ActOverlap < 0,
			f.Leaderless > max(run.Length, 10_000), f.StaleAttempted > f.Acts,
			f.StaleAcceptedUnfenced > f.StaleAttempted, f.StaleAcceptedFenced > f.StaleAttempted,
			(f.ActOverlap > 0) != (f.StaleAttempted > 0), !f.FailedOver && (f.Failover != 0 || f.Overshoot != 0):
			t.Fatalf("seed %d: impossible figures: %+v", seed, f)
		}
	}
}

// TestOrderlyHistories: terms in sequence break no rule, and leave exactly the gaps
// between them without a leader.
func TestOrderlyHistories(t *testing.T) {
	for seed := range uint64(1000) {
		run := orderly(rand.New(rand.NewPCG(seed, 2)))
		if v := measure.Check(run); len(v) > 0 {
			t.Fatalf("seed %d: %v", seed, v)
		}
		var gaps, end time.Duration
		for _, e := range run.Events {
			if e.Kind == history.TermStarted && end > 0 {
				gaps += e.At - end
			}
			if e.Kind == history.TermEnded {
				end = e.At
			}
		}
		if f := measure.Of(run); f.Leaderless != gaps || f.BeliefOverlap != 0 || f.ActOverlap != 0 || f.StaleAttempted != 0 {
			t.Fatalf("seed %d: %+v, want gaps of %s", seed, f, gaps)
		}
	}
}

// TestAnyOverlapIsFound moves the start of one term before the end of another
// candidate's.
func TestAnyOverlapIsFound(t *testing.T) {
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 3))
		end := time.Duration(100 + r.IntN(1000))
		by := time.Duration(1 + r.IntN(99))
		run := history.Run{Length: 2 * end, Events: []history.Event{
			{At: 1, Actor: "a", Kind: history.TermStarted, Token: 1, Deadline: end},
			{At: end, Actor: "a", Kind: history.TermEnded, Token: 1},
			{At: end - by, Actor: "b", Kind: history.TermStarted, Token: 2, Deadline: 3 * end},
		}}
		if f := measure.Of(run); f.BeliefOverlap != by {
			t.Fatalf("seed %d: overlap %s, want %s", seed, f.BeliefOverlap, by)
		}
		if v := measure.Check(run); len(v) != 1 || v[0].Rule != measure.BeliefOverlap {
			t.Fatalf("seed %d: %v", seed, v)
		}
	}
}
