package remote

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/compare/fault"
	"incumbent/compare/lab/local"
	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

// opened is a set of one server, and a client that may do anything there.
func opened(t *testing.T, s *redisproc.Server) (*Set, *redis.Client) {
	t.Helper()
	set := loaded(t, "mode: single\nttl: 2s\nsingle:\n  address: "+s.Addr()+"\n")
	if err := set.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = set.Close() })
	c := redis.NewClient(&redis.Options{Addr: s.Addr(), MaxRetries: -1})
	t.Cleanup(func() { _ = c.Close() })
	return set, c
}

// loaded reads a configuration, and no variables.
func loaded(t *testing.T, text string) *Set {
	t.Helper()
	path := filepath.Join(t.TempDir(), "incumbent.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := Load(Options{Path: path, Environ: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestClientSide: the list is written down twice, so that no fault joins it by mistake.
func TestClientSide(t *testing.T) {
	want := []string{
		"calm", "crash", "lossy-link", "lost-reply", "master-partition", "partition", "partition-majority", "pause",
		"pause-write", "resign", "slow-link",
	}
	if got := slices.Sorted(slices.Values(Faults())); !slices.Equal(got, want) {
		t.Errorf("played at masters of somebody else: %v, want %v", got, want)
	}
}

// TestScheduleSupported: each step of a schedule counts, wherever it stands.
func TestScheduleSupported(t *testing.T) {
	for _, tt := range []struct {
		steps   []string
		refused bool
	}{
		{[]string{"crash", "partition"}, false},
		{[]string{"flushall", "crash"}, true},
		{[]string{"crash", "flushall"}, true},
		{[]string{"crash", "pause", "restart-empty"}, true},
	} {
		s := &fault.Schedule{Name: "test"}
		for _, name := range tt.steps {
			s.Steps = append(s.Steps, fault.Step{Fault: name})
		}
		err := Supports(local.Spec{Fault: "calm", Schedule: s})
		if errors.Is(err, ErrServerSide) != tt.refused || (err != nil) != tt.refused {
			t.Errorf("%v: %v", tt.steps, err)
		}
	}
}

// TestGuardsReachCandidates: with guards off candidates are told so, and the set's own
// settings stay as they were.
func TestGuardsReachCandidates(t *testing.T) {
	one := loaded(t, "mode: single\nguards_off: [restart]\nassume_new: true\nsingle:\n  address: 127.0.0.1:1\n").targets[0]
	if on := one.withGuards(false).Flags; on["guards-off"] != "none" || on["assume-new"] != "false" || on["retention"] != "1h0m0s" {
		t.Errorf("with guards candidates get %v", on)
	}
	if off := one.withGuards(true).Flags; off["guards-off"] != "all" || off["assume-new"] != "false" {
		t.Errorf("without guards candidates get %v", off)
	}
	if again := one.withGuards(false).Flags; again["guards-off"] != "none" {
		t.Errorf("with guards after that they get %v", again)
	}
}

// TestEstimate: more candidates and a shorter TTL are more requests, runs and what is
// measured before them take time.
func TestEstimate(t *testing.T) {
	short, long := &Set{TTL: time.Second}, &Set{TTL: 10 * time.Second}
	if a, b := short.Estimate(nil, 50), long.Estimate(nil, 50); a.Requests <= b.Requests || a.Requests < 50*(requestsAtStart+requestsPerTTL) {
		t.Errorf("%d requests a second with a TTL of 1s, %d with 10s", a.Requests, b.Requests)
	}
	set := loaded(t, "mode: single\nttl: 2s\nsingle:\n  address: 127.0.0.1:1\n")
	if e := new(Set).Estimate(nil, 3); e != (Estimate{}) {
		t.Errorf("without modes: %+v", e)
	}
	if e := set.Estimate(nil, 3); e.Length != 2*Samples*Pace || e.Elections != 1 || e.Keys != 2 {
		t.Errorf("without runs: %+v", e)
	}
	crash := local.Spec{Mode: "single", Masters: 1, Fault: "crash"}
	if e := set.Estimate([]local.Spec{crash, crash}, 3); e.Length < 2*Samples*Pace+2*(runStart+set.TTL) || e.Elections != 3 {
		t.Errorf("with two crashes: %+v", e)
	}
}

// TestTidy: in the end the keys of all elections are removed, those of the last one too,
// and of nobody else; a master that cannot be asked is named.
func TestTidy(t *testing.T) {
	server := redistest.StartT(t, redisproc.Options{})
	set, c := opened(t, server)
	p := &Player{Set: set, ID: NewID(4)}
	const foreign = "incumbent:{compare-0}:record"
	keys := []string{foreign}
	for range 3 {
		keys = append(keys, "incumbent:{"+p.next()+"}:record")
	}
	for _, k := range keys {
		if err := c.Set(t.Context(), k, "x", 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	p.tidy()
	left, err := c.Keys(t.Context(), "*").Result()
	if err != nil || !slices.Equal(left, []string{foreign}) || p.figures.Removed.Keys != 3 || p.figures.Removed.Missed != nil {
		t.Errorf("left %v, %v; %+v", left, err, p.figures.Removed)
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	p.tidy()
	if r := p.Figures().Removed; len(r.Missed) != 1 || !strings.HasPrefix(r.Missed[0], server.Addr()) || r.Keys != 3 {
		t.Errorf("with the server gone: %+v", r)
	}
}
