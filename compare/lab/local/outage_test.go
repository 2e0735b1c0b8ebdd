package local

import (
	"os"
	"slices"
	"testing"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/compare/measure"
	"incumbent/internal/redisproc/redistest"
)

// TestOutage: what a server's own outage takes and what the election after it takes are the
// failover. A restart takes time here.
func TestOutage(t *testing.T) {
	t.Parallel()
	redistest.Require(t)
	const ttl = 500 * time.Millisecond
	var specs []Spec
	for _, name := range []string{"hung-master", "client-pause", "no-replicas", "restart-empty", "flushall"} {
		specs = append(specs, Spec{Seed: 1, Mode: "single", Masters: 1, Fault: name, TTL: ttl, Candidates: 2})
	}
	p := Player{Stderr: os.Stderr}
	err := p.Play(t.Context(), specs, func(i int, run history.Run, err error) {
		f, name := measure.Of(run), specs[i].Fault
		t.Logf("%s: outage %v %v, election %v %v, failover %v %v", name, f.StoreOut, f.Outage, f.Elected, f.Election, f.FailedOver, f.Failover)
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case name == "flushall":
			if f.StoreOut {
				t.Errorf("%s: the store was out", name)
			}
		case !f.StoreOut || f.Outage <= 0 || f.Elected != f.FailedOver || f.Elected && f.Outage+f.Election != f.Failover:
			t.Errorf("%s: %+v", name, f)
		case name == "restart-empty" && f.Election < ttl: // the guard
			t.Errorf("%s: elected %v after the outage", name, f.Election)
		case name == "hung-master" && f.Outage < ttl/2:
			t.Errorf("%s: it hung for %v", name, f.Outage)
		}
	})
	noErr(t, err)
}

// TestMastersComeAndGo: a master goes down once, and serves again when nothing keeps it
// from that any more.
func TestMastersComeAndGo(t *testing.T) {
	t.Parallel()
	l := inLab(t, Options{Candidates: 1})
	l.quiet(t)
	begin := monotonic()
	for _, do := range []func(int) error{
		l.Hang, l.Resume,
		func(m int) error { return l.Restart(m, fault.NoData) },
		func(m int) error { return l.Refuse(m, fault.NoReplicas) },
		func(m int) error { return l.PauseClients(m, 1) },
		l.Accept, l.Flush,
		func(m int) error { return l.PauseClients(m, 1) },
		func(int) error { return l.Wait(t.Context(), l.ttls(1)+pauseSlack) },
		l.Stop, l.Accept,
	} {
		noErr(t, do(0))
	}
	var kinds []history.Kind
	for _, line := range l.Lines(begin) {
		if line.Kind == history.MasterDown || line.Kind == history.MasterUp {
			kinds = append(kinds, line.Kind)
		}
	}
	down, up := history.MasterDown, history.MasterUp
	if want := []history.Kind{down, up, down, up, down, up, down, up, down}; !slices.Equal(kinds, want) {
		t.Errorf("it says %q, want %q", kinds, want)
	}
}
