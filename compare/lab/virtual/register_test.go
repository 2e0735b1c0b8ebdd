package virtual_test

import (
	"fmt"
	"testing"

	"github.com/anishathalye/porcupine"

	"incumbent/compare/history"
)

// A register that all candidates write, as a linearizability checker sees it. With
// a fence it takes a write only from whoever has the highest token so far; a reader
// sees whose write was taken last.
var fencedRegister = porcupine.Model{
	Init: func() any { return register{} },
	Step: func(state, input, output any) (bool, any) {
		r, in := state.(register), input.(operation)
		if in.write == 0 {
			return output.(answer).value == r.value, r
		}
		takes := in.token >= r.top
		if !takes {
			return !output.(answer).taken, r
		}
		return output.(answer).taken, register{top: in.token, value: in.write}
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %+v", input, output) },
}

type register struct {
	top   uint64 // the highest token that wrote
	value int    // the last write that was taken
}

// operation is a write, numbered from 1, under a token; or a read, with write 0.
type operation struct {
	write int
	token uint64
}

type answer struct {
	taken bool
	value int
}

// operations are what a run did to its register, with or without a fence. A write
// lasts from the check before it to its arrival: a pause may lie in between. A
// reader looks between any two arrivals.
func operations(run history.Run, fence bool) (ops []porcupine.Operation, stale int) {
	const reader = 1000
	checked, clients := map[string]history.Event{}, map[string]int{}
	value, top := 0, uint64(0)
	for i, ev := range run.Events {
		if _, ok := clients[ev.Actor]; !ok {
			clients[ev.Actor] = len(clients)
		}
		switch ev.Kind {
		case history.Checked:
			checked[ev.Actor] = ev
		case history.Acted:
			taken := ev.Unfenced
			if fence {
				taken = ev.Fenced
			}
			if ev.Token < top {
				stale++
			}
			top = max(top, ev.Token)
			if taken {
				value = i + 1
			}
			at := 2 * int64(ev.At)
			ops = append(ops,
				porcupine.Operation{
					ClientId: clients[ev.Actor], Input: operation{i + 1, ev.Token}, Output: answer{taken: taken},
					Call: 2 * int64(checked[ev.Actor].At), Return: at,
				},
				porcupine.Operation{ClientId: reader, Input: operation{}, Output: answer{value: value}, Call: at + 1, Return: at + 1})
		}
	}
	return ops, stale
}

// A pause exactly between check and write: the history of a register that takes
// whatever comes is not that of a fenced one, and the checker says so in every run
// in which a stale write arrived; with the fence all are in order.
func TestFencedRegisterIsLinearizable(t *testing.T) {
	seeds := uint64(40)
	if testing.Short() {
		seeds = 10
	}
	runs, hurt := 0, 0
	for _, m := range modes {
		for seed := range seeds {
			run := play(t, spec(7000+seed, m.mode, m.masters, "pause-write"))
			ops, stale := operations(run, true)
			if !porcupine.CheckOperations(fencedRegister, ops) {
				t.Errorf("seed %d, %s: the fenced register is out of order", run.Seed, m.mode)
			}
			runs++
			ops, _ = operations(run, false)
			inOrder := porcupine.CheckOperations(fencedRegister, ops)
			if stale > 0 {
				hurt++
			}
			if inOrder != (stale == 0) {
				t.Errorf("seed %d, %s: %d stale writes were taken without a fence, and the checker says in order: %t",
					run.Seed, m.mode, stale, inOrder)
			}
		}
	}
	if hurt == 0 {
		t.Error("no stale write ever arrived: nothing was tested")
	}
	t.Logf("%d runs, a stale write in %d: fenced all in order, unfenced out of order in each of the %d", runs, hurt, hurt)
}
