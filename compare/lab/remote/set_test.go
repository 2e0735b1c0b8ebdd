package remote_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"incumbent/compare/fault"
	"incumbent/compare/lab/remote"
	"incumbent/config"
	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

// TestLoad: which modes a configuration gives, and what flags change in it.
func TestLoad(t *testing.T) {
	const single = "single:\n  address: 127.0.0.1:1\n"
	const three = "quorum:\n  masters: [127.0.0.1:1, 127.0.0.1:2, 127.0.0.1:3]\n"
	const four = "quorum:\n  masters: [127.0.0.1:1, 127.0.0.1:2, 127.0.0.1:3, 127.0.0.1:4]\n"
	for _, tt := range []struct {
		name, text string
		o          remote.Options
		modes      string
		fails      string
	}{
		{"one section", "mode: single\n" + single, remote.Options{}, "single", ""},
		{"both, one selected", "mode: single\n" + single + three, remote.Options{}, "single quorum", ""},
		{"the other alone", "mode: single\n" + single + three, remote.Options{Modes: []config.Mode{"quorum"}}, "quorum", ""},
		{"no section", "mode: single\n" + single, remote.Options{Modes: []config.Mode{"quorum"}}, "", "no section"},
		{"even", "mode: quorum\n" + four, remote.Options{}, "", "odd number"},
		{"TTL too short for the timeout", "mode: single\ntimeout: 1s\n" + single, remote.Options{TTL: time.Second}, "", "timeout"},
		{"prefix", "mode: single\n" + single, remote.Options{Prefix: "{x}"}, "", "prefix"},
		{"typing mistake", "mode: single\nsingel:\n", remote.Options{}, "", "single"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Path, tt.o.Environ = file(t, "%s", tt.text), []string{}
			s, err := remote.Load(tt.o)
			if (err != nil) != (tt.fails != "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
				t.Fatalf("error %v, want %q", err, tt.fails)
			}
			if err != nil {
				return
			}
			var modes []string
			for _, m := range s.Modes() {
				modes = append(modes, m.Kind)
			}
			if got := strings.Join(modes, " "); got != tt.modes || s.TTL != 15*time.Second || s.Prefix != "incumbent" {
				t.Errorf("modes %q, TTL %s, prefix %q", got, s.TTL, s.Prefix)
			}
		})
	}
}

// TestRefused: whatever is not known to strike candidates alone is refused.
func TestRefused(t *testing.T) {
	for _, f := range fault.All() {
		err := remote.Refused(f.Name)
		if allowed := slices.Contains(remote.Faults(), f.Name); allowed != (err == nil) {
			t.Errorf("%s: %v", f.Name, err)
		}
		if err != nil && !errors.Is(err, fault.ErrUnsupported) {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
	for _, name := range remote.Faults() {
		if _, err := fault.ByName(name); err != nil {
			t.Error(err)
		}
	}
	if err := remote.Refused("flushall"); !errors.Is(err, remote.ErrServerSide) {
		t.Errorf("flushall: %v", err)
	}
}

// TestID: what is printed can be read, and nothing else can.
func TestID(t *testing.T) {
	id := remote.NewID(12)
	back, err := remote.ParseID(id.String())
	if err != nil || back != id || len(back.Names(100)) != 12 || id.Election(3) == id.Election(4) {
		t.Errorf("%v is read as %v, %v", id, back, err)
	}
	if remote.NewID(12) == id {
		t.Error("two comparisons have one name")
	}
	for _, s := range []string{"", "12", "abc-1", "0f1e2d3c4b5a-0", "0f1e2d3c4b5a-x", "0f1e2d3c4b5g-1", "0f1e2d3c4b5a0f-1"} {
		if _, err := remote.ParseID(s); err == nil {
			t.Errorf("%q is read", s)
		}
	}
}

// TestLook: a look writes nothing, and says which of two kinds of trouble there is.
func TestLook(t *testing.T) {
	s := redistest.StartT(t, redisproc.Options{})
	down := redistest.StartT(t, redisproc.Options{})
	locked := redistest.StartT(t, redisproc.Options{Password: "hush"})
	noErr(t, down.Kill())
	for _, tt := range []struct {
		name, addr  string
		bad         bool
		unreachable bool
	}{{"good", s.Addr(), false, false}, {"down", down.Addr(), true, true}, {"locked", locked.Addr(), true, false}} {
		set := load(t, remote.Options{Path: file(t, "mode: single\nsingle:\n  address: %s\nttl: 2s\n", tt.addr)})
		look, err := set.Look(t.Context(), "compare-x-0")
		noErr(t, err)
		e := look.Endpoints[0]
		if (look.Err != nil) != tt.bad || look.Unreachable() != tt.unreachable || (e.Err != nil) != tt.bad || !tt.bad && (e.RTT <= 0 || e.Role != "master") {
			t.Errorf("%s: %+v, %v", tt.name, e, look.Err)
		}
	}
	empty(t, admin(t, s.Addr()))
}

// TestRemoveMany: thousands of elections are forgotten in a few requests, and keys of
// others stay.
func TestRemoveMany(t *testing.T) {
	t.Parallel()
	const elections = 250
	s := redistest.StartT(t, redisproc.Options{})
	c := admin(t, s.Addr())
	id := remote.NewID(elections)
	noErr(t, c.Set(t.Context(), "incumbent:{job}:lease", "somebody's", 0).Err())
	for _, name := range id.Names(elections) {
		noErr(t, c.MSet(t.Context(), "incumbent:{"+name+"}:lease", "x", "incumbent:{"+name+"}:record", "x").Err())
	}
	set := load(t, remote.Options{Path: file(t, "mode: single\nsingle:\n  address: %s\n", s.Addr())})
	if r := set.Remove(t.Context(), id.Names(elections)); r.Keys != 2*elections || r.Missed != nil {
		t.Errorf("removed %+v", r)
	}
	noErr(t, c.Del(t.Context(), "incumbent:{job}:lease").Err())
	empty(t, c)
	stats := c.Info(t.Context(), "commandstats").Val()
	if !strings.Contains(stats, "cmdstat_del:calls=4,") { // ours is the fourth
		t.Errorf("it took other than three requests:\n%s", stats)
	}
}
