package fault_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"incumbent/compare/fault"
)

// store is a world with masters that notes what is asked of it.
type store struct {
	world
	masters int
	random  []float64 // what Random returns; then 0
	leader  string
}

func (s *store) Leader() string { return s.leader }
func (s *store) Masters() int   { return s.masters }

func (s *store) Random() float64 {
	if len(s.random) == 0 {
		return 0
	}
	r := s.random[0]
	s.random = s.random[1:]
	return r
}

func (s *store) Pass(ttls float64)    { s.calls = append(s.calls, fmt.Sprintf("pass %.2f", ttls)) }
func (s *store) Struck(m int)         { s.calls = append(s.calls, fmt.Sprint("struck ", m)) }
func (s *store) Stop(m int) error     { return s.note("stop", fmt.Sprint(m)) }
func (s *store) Flush(m int) error    { return s.note("flush", fmt.Sprint(m)) }
func (s *store) Demote(m int) error   { return s.note("demote", fmt.Sprint(m)) }
func (s *store) Refresh() error       { return s.note("refresh", "") }
func (s *store) Snapshot(m int) error { return s.note("snapshot", fmt.Sprint(m)) }

func (s *store) Hang(m int) error         { return s.note("hang", fmt.Sprint(m)) }
func (s *store) Resume(m int) error       { return s.note("resume", fmt.Sprint(m)) }
func (s *store) FlushScripts(m int) error { return s.note("flush scripts", fmt.Sprint(m)) }
func (s *store) Suspend(c string) error   { return s.note("suspend", c) }
func (s *store) Wake(c string) error      { return s.note("wake", c) }
func (s *store) Candidates() []string     { return []string{"a", "b"} }

func (s *store) Slow(c string, ttls float64) error {
	return s.note("slow", fmt.Sprintf("%s %.2f", c, ttls))
}
func (s *store) Lose(c string, share float64) error {
	return s.note("lose", fmt.Sprintf("%s %.2f", c, share))
}
func (s *store) LoseReply(c string, m int, reset bool) error {
	return s.note("lose reply", fmt.Sprint(c, m, reset))
}

func (s *store) CutFrom(c string, m int) error  { return s.note("cut", fmt.Sprint(c, m)) }
func (s *store) HealFrom(c string, m int) error { return s.note("heal", fmt.Sprint(c, m)) }
func (s *store) Follow(c string, m int) error   { return s.note("follow", fmt.Sprint(c, m)) }

func (s *store) KillClients(m int) error { return s.note("kill clients", fmt.Sprint(m)) }
func (s *store) Accept(m int) error      { return s.note("accept", fmt.Sprint(m)) }

func (s *store) PauseClients(m int, ttls float64) error {
	return s.note("pause clients", fmt.Sprintf("%d %.2f", m, ttls))
}
func (s *store) Refuse(m int, why fault.Refusal) error {
	return s.note("refuse", fmt.Sprint(m, []string{"memory", "replicas", "empty", "stale"}[why]))
}
func (s *store) Restart(m int, with fault.Data) error {
	return s.note("restart", fmt.Sprint(m, []string{"nothing", "saved", "all"}[with]))
}
func (s *store) Jump(m int, ttls float64) error {
	return s.note("jump", fmt.Sprintf("%d %.2f", m, ttls))
}
func (s *store) Forget(m int) error              { return s.note("forget", fmt.Sprint(m)) }
func (s *store) Evict(m int, record bool) error  { return s.note("evict", fmt.Sprint(m, record)) }
func (s *store) Promote(m int, but string) error { return s.note("promote", fmt.Sprint(m, but)) }

var storeFaults = map[string]struct {
	danger fault.Danger
	calls  string // with one master, whose number is 0, and no randomness
	heals  string
}{
	"master-crash":       {fault.Harmless, "pass 0.00, struck 0, stop 0", ""},
	"master-partition":   {fault.Harmless, "pass 0.00, struck 0, cut a0", "heal a0"},
	"partition-majority": {fault.Harmless, "pass 0.00, struck 0, cut a0", "heal a0"},
	"hung-master":        {fault.Harmless, "pass 0.00, struck 0, hang 0", "resume 0"},
	"lost-reply": {fault.Harmless, "pass 0.00, resign a, struck 0, lose reply a0 true, lose reply b0 true",
		"heal a0, heal b0"},
	"script-flush":     {fault.Harmless, "pass 0.00, kill a, struck 0, flush scripts 0", ""},
	"client-kill":      {fault.Harmless, "pass 0.00, resign a, struck 0, kill clients 0", ""},
	"client-pause":     {fault.Harmless, "pass 0.00, struck 0, pause clients 0 0.30", ""},
	"out-of-memory":    {fault.Harmless, "pass 0.00, resign a, struck 0, refuse 0memory", "accept 0"},
	"no-replicas":      {fault.Harmless, "pass 0.00, struck 0, refuse 0replicas", "accept 0"},
	"restart-aof":      {fault.Harmless, "pass 0.00, struck 0, restart 0all", ""},
	"read-only":        {fault.Guarded, "snapshot 0, resign a, pass 0.50, pass 0.60, pass 0.00, struck 0, refuse 0stale", "accept 0"},
	"clock-back":       {fault.Harmless, "pass 0.00, struck 0, jump 0 -0.50, kill a", ""},
	"failover-acks":    {fault.Harmless, "pass 0.00, snapshot 0, pass 0.00, struck 0, promote 0", ""},
	"old-primary-acks": {fault.Harmless, "pass 0.00, snapshot 0, pass 0.00, struck 0, promote 0a", "follow a0"},
	"restart-empty":    {fault.Guarded, "pass 0.00, struck 0, restart 0nothing", ""},
	"restart-old":      {fault.Guarded, "snapshot 0, resign a, pass 0.50, pass 0.60, pass 0.00, struck 0, restart 0saved", ""},
	"failover":         {fault.Guarded, "snapshot 0, resign a, pass 0.50, pass 0.60, pass 0.00, struck 0, promote 0", ""},
	"failover-twice": {fault.Guarded, "snapshot 0, resign a, pass 0.50, pass 0.60, pass 0.00, struck 0, promote 0, " +
		"pass 0.00, demote 0, pass 0.00, struck 0, promote 0", ""},
	"flushall":       {fault.Guarded, "pass 0.00, struck 0, flush 0", ""},
	"del":            {fault.Guarded, "pass 0.00, struck 0, forget 0", ""},
	"evict":          {fault.Guarded, "pass 0.00, struck 0, evict 0 true", ""},
	"clock-jump":     {fault.Guarded, "pass 0.00, struck 0, jump 0 1.10", ""},
	"old-primary":    {fault.Remaining, "snapshot 0, resign a, pass 0.50, pass 0.60, pass 0.00, struck 0, promote 0a", "follow a0"},
	"clock-jump-new": {fault.Remaining, "pass 0.00, struck 0, jump 0 1.10, refresh ", ""},
}

// strike plays a fault and returns what it did, and what healing did.
func strike(t *testing.T, f fault.Fault, s *store) (calls, heals string) {
	t.Helper()
	s.leader = "a"
	heal, err := f.Strike(s)
	if err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	calls, s.calls = strings.Join(s.calls, ", "), nil
	if heal != nil {
		if err := heal(); err != nil {
			t.Errorf("%s: heal: %v", f.Name, err)
		}
	}
	return calls, strings.Join(s.calls, ", ")
}

func TestStoreFaults(t *testing.T) {
	for _, name := range storeNames() {
		f, err := fault.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		want := storeFaults[name]
		if calls, heals := strike(t, f, &store{masters: 1}); calls != want.calls || heals != want.heals {
			t.Errorf("%s did %q and healed with %q, want %q and %q", name, calls, heals, want.calls, want.heals)
		}
		acks := 0
		if strings.HasSuffix(name, "-acks") {
			acks = 1
		}
		if f.Danger != want.danger || f.Acks != acks || f.Stalls || f.Releases {
			t.Errorf("%s: Danger is %v, want %v; Acks %d, Stalls %v, Releases %v", name, f.Danger, want.danger, f.Acks, f.Stalls, f.Releases)
		}
	}
	if len(storeFaults) != len(storeNames()) {
		t.Errorf("%d faults, tested %d", len(storeNames()), len(storeFaults))
	}
}

// storeNames are all faults of the store but the one that is made of others.
func storeNames() []string {
	return slices.DeleteFunc(fault.Group(fault.Store), func(name string) bool { return name == fault.Random })
}

// TestWhatIsGoneForGood: nobody can lead when too much is.
func TestWhatIsGoneForGood(t *testing.T) {
	kills := map[string]int{"crash": 1, "clock-back": 1, "script-flush": 1}
	loses := map[string]int{"master-crash": 1}
	for _, f := range fault.All() {
		if f.Kills != kills[f.Name] || f.Loses != loses[f.Name] {
			t.Errorf("%s: Kills is %d, Loses %d", f.Name, f.Kills, f.Loses)
		}
	}
}

// TestOtherRuns: faults that do another thing in the other half of the runs.
func TestOtherRuns(t *testing.T) {
	for _, tt := range []struct {
		name         string
		masters      int
		random       []float64
		calls, heals string
	}{
		{"lost-reply", 1, []float64{0, 0, 0.5, 0.5}, "pass 0.00, struck 0, lose reply a0 false", "heal a0"},
		{"lost-reply", 3, []float64{0, 0.99, 0.99, 0.99, 0, 0.5, 0, 0.5, 0},
			"pass 0.00, resign a, struck 0, lose reply a0 false, lose reply a2 false, lose reply b0 false, lose reply b2 false",
			"heal a0, heal a2, heal b0, heal b2"},
		{"script-flush", 3, []float64{0, 0.99, 0.99, 0.99, 0, 0.5}, "pass 0.00, resign a, struck 0, flush scripts 0, flush scripts 1, flush scripts 2", ""},
		{"script-flush", 3, []float64{0, 0.99, 0.99, 0, 0, 0.5}, "cut a1, pass 1.10, pass 0.00, resign a, struck 0, flush scripts 0, flush scripts 1, flush scripts 2", "heal a1"},
		{"client-kill", 3, []float64{0, 0.99, 0.99, 0.99, 0, 0.5, 0.5}, "pass 0.00, struck 0, kill clients 0", ""},
		{"client-kill", 3, []float64{0, 0.99, 0.99, 0.99, 0}, "pass 0.00, resign a, struck 0, kill clients 0, kill clients 1, kill clients 2", ""},
		{"out-of-memory", 1, []float64{0, 0, 0.5}, "pass 0.00, struck 0, refuse 0memory", "accept 0"},
		{"read-only", 1, []float64{0.5}, "pass 0.00, struck 0, refuse 0empty", "accept 0"},
		{"partition-majority", 5, []float64{0, 0.99, 0.99, 0.99, 0.99}, "pass 0.00, struck 0, cut a0, cut a1, cut a2", "heal a0, heal a1, heal a2"},
	} {
		f, err := fault.ByName(tt.name)
		if err != nil {
			t.Fatal(err)
		}
		calls, heals := strike(t, f, &store{masters: tt.masters, random: tt.random})
		if calls != tt.calls || heals != tt.heals {
			t.Errorf("%s did %q and healed with %q, want %q and %q", tt.name, calls, heals, tt.calls, tt.heals)
		}
	}
}

// TestBareMajority: in most runs of a quorum the leader is cut off from as many
// masters as it can do without, and another one is struck.
func TestBareMajority(t *testing.T) {
	f, err := fault.ByName("flushall")
	if err != nil {
		t.Fatal(err)
	}
	cut := regexp.MustCompile(`cut a(\d)`)
	for _, n := range []int{1, 3, 5, 9} {
		for _, bare := range []bool{true, false} {
			s := &store{masters: n, random: make([]float64, n)}
			if !bare {
				s.random = append(s.random, 0.76)
			}
			calls, heals := strike(t, f, s)
			var masters []string
			for _, m := range cut.FindAllStringSubmatch(calls, -1) {
				masters = append(masters, m[1])
			}
			want := 0
			if bare {
				want = n / 2
			}
			_, struck, _ := strings.Cut(calls, "flush ")
			if len(masters) != want || slices.Contains(masters, struck) || strings.Count(heals, "heal a") != want {
				t.Errorf("%d masters, bare %v: %s; healed with %s", n, bare, calls, heals)
			}
			if lapse := strings.Contains(calls, "pass 1.10"); lapse != (want > 0) {
				t.Errorf("%d masters, bare %v: does its lease run out elsewhere? %s", n, bare, calls)
			}
		}
	}
}

// TestAnyMasterIsStruck: each has its chance.
func TestAnyMasterIsStruck(t *testing.T) {
	f, err := fault.ByName("flushall")
	if err != nil {
		t.Fatal(err)
	}
	struck := map[string]bool{}
	for _, a := range []float64{0, 0.5, 0.99} {
		for _, b := range []float64{0, 0.5, 0.99} {
			for _, c := range []float64{0, 0.5, 0.99} {
				calls, _ := strike(t, f, &store{masters: 3, random: []float64{a, b, c, 0.99}})
				_, m, _ := strings.Cut(calls, "flush ")
				struck[m] = true
			}
		}
	}
	if !struck["0"] || !struck["1"] || !struck["2"] || len(struck) != 3 {
		t.Errorf("struck are %v", struck)
	}
}

func TestStoreFaultsFail(t *testing.T) {
	boom := errors.New("boom")
	for _, name := range storeNames() {
		f, err := fault.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Strike(&store{world: world{err: boom}, masters: 3, leader: "a"}); !errors.Is(err, boom) {
			t.Errorf("%s: error is %v", name, err)
		}
		if _, err := f.Strike(&world{}); !errors.Is(err, fault.ErrUnsupported) {
			t.Errorf("%s: where masters cannot be struck the error is %v", name, err)
		}
	}
}

// deposed is a world in which the leader changes whenever time passes.
type deposed struct{ store }

func (d *deposed) Pass(ttls float64) {
	d.store.Pass(ttls)
	d.leader = "b"
}

func TestLeaderLostBeforeTheFault(t *testing.T) {
	for _, name := range []string{"flushall", "failover", "old-primary", "master-partition", "partition-majority", "hung-master", "lost-reply", "script-flush", "client-kill", "out-of-memory"} {
		f, err := fault.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		d := &deposed{store{masters: 3, leader: "a", random: []float64{0, 0, 0, 0.9}}}
		_, err = f.Strike(d)
		if !errors.Is(err, fault.ErrMissed) || !strings.Contains(err.Error(), `a led, and "b" leads before any fault`) {
			t.Errorf("%s: error is %v", name, err)
		}
		if slices.ContainsFunc(d.calls, func(c string) bool { return strings.HasPrefix(c, "struck") }) {
			t.Errorf("%s struck: %v", name, d.calls)
		}
		calls := strings.Join(d.calls, ", ")
		if strings.Count(calls, "cut") != strings.Count(calls, "heal") {
			t.Errorf("%s left cuts behind: %s", name, calls)
		}
	}
}
