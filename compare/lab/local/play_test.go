package local_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/compare/lab/local"
	"incumbent/internal/redisproc/redistest"
)

// TestPlay plays every fault of the leader once, each in a lab of its own.
func TestPlay(t *testing.T) {
	redistest.Require(t)
	var specs []local.Spec
	for i, name := range fault.Group(fault.Leader) {
		specs = append(specs, local.Spec{
			Seed: uint64(i), Mode: "quorum", Masters: 3, Fault: name, TTL: 300 * time.Millisecond, Candidates: 2,
		})
	}
	played := 0
	err := local.Play(t.Context(), specs, os.Stderr, func(i int, run history.Run, err error) {
		if err != nil {
			t.Errorf("%+v: %v", specs[i], err)
			return
		}
		f := figures(t, run)
		if run.Fault != specs[i].Fault || run.Masters != 3 || run.Lab != local.Name || f.Acts == 0 {
			t.Errorf("run %+v of %d acts", run, f.Acts)
		}
		t.Logf("%s: failover %v, overshoot %v", run.Fault, f.Failover, f.Overshoot)
		played++
	})
	if err != nil || played != len(specs) {
		t.Errorf("%d of %d played: %v", played, len(specs), err)
	}
}

// TestStoreFaultsAreNotSupported: this lab strikes no masters, and says so.
func TestStoreFaultsAreNotSupported(t *testing.T) {
	for _, name := range fault.Group(fault.Store) {
		_, err := new(local.Lab).Run(t.Context(), name)
		if !errors.Is(err, fault.ErrUnsupported) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}
