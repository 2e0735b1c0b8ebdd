package config

import (
	"strings"
	"testing"
	"time"

	"incumbent/election"
	"incumbent/internal/redisproc/redistest"
)

// waitingFor is a master at which guards wait for a while.
func waitingFor(g election.StoreGuards) election.MasterState {
	now := time.Now()
	return election.MasterState{Name: "a:1", Guards: g, GuardUntil: now.Add(11500 * time.Millisecond), Now: now}
}

// Guards end by themselves. Init is named only where a master is new to an election that
// nobody has led anywhere.
func TestRemedyOfGuards(t *testing.T) {
	const isNew = election.NoRecordGuard | election.FailoverGuard
	for name, c := range map[string]struct {
		guards election.StoreGuards
		other  election.MasterState
		init   bool
	}{
		"no record":               {election.NoRecordGuard, election.MasterState{}, true},
		"no record, and failover": {isNew, election.MasterState{}, true},
		"started just now":        {isNew | election.RestartGuard, election.MasterState{}, false},
		"restart":                 {election.RestartGuard, election.MasterState{}, false},
		"failover":                {election.FailoverGuard, election.MasterState{}, false},
		"somebody leads":          {isNew, election.MasterState{Holder: &election.Leader{}}, false},
		"somebody led":            {isNew, election.MasterState{Last: 7}, false},
	} {
		m := waitingFor(c.guards)
		found := waits("job", m, []election.MasterState{m, c.other})
		if len(found) != 1 || !strings.HasPrefix(found[0].Remedy, "wait for 12s") || strings.Contains(found[0].Remedy, "incumbent init") != c.init {
			t.Errorf("%s: %v", name, found)
		}
	}
	if found := waits("", waitingFor(isNew), nil); found != nil {
		t.Errorf("without a name: %v", found)
	}
}

// TestPreflightStrangeLease: what no candidate wrote keeps all of them out.
func TestPreflightStrangeLease(t *testing.T) {
	s := redistest.StartT(t, keeps)
	cfg := quiet(ModeSingle, s.Addr())
	cl := open(t, cfg)
	noErr(t, cl.Init(t.Context(), "job"))
	e, err := cl.Elector("job")
	noErr(t, err)
	term, err := e.Campaign(t.Context())
	noErr(t, err)
	wantFound(t, notWarnings(preflight(t, cfg, "job")))
	noErr(t, term.Resign(t.Context()))
	for _, c := range []struct {
		left time.Duration
		code string
	}{{0, "no-expiry"}, {time.Minute, "foreign-key"}} {
		noErr(t, cl.clients[0].Set(t.Context(), cfg.Prefix+":{job}:lease", "bogus", c.left).Err())
		found := notWarnings(preflight(t, cfg, "job"))
		wantFound(t, found, "error "+s.Addr()+" "+c.code)
		if !strings.Contains(full(found), "delete the lease if nobody works by it") {
			t.Errorf("no remedy: %s", full(found))
		}
	}
}
