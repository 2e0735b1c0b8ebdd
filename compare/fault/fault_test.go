package fault_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"incumbent/compare/fault"
)

// world notes what is asked of it.
type world struct {
	calls []string
	err   error
}

func (w *world) Leader() string { return "a" }

func (w *world) note(what, candidate string) error {
	w.calls = append(w.calls, what+" "+candidate)
	return w.err
}

func (w *world) Resign(c string) error            { return w.note("resign", c) }
func (w *world) Kill(c string) error              { return w.note("kill", c) }
func (w *world) Freeze(c string) error            { return w.note("freeze", c) }
func (w *world) FreezeBeforeWrite(c string) error { return w.note("freeze before write", c) }
func (w *world) Thaw(c string) error              { return w.note("thaw", c) }
func (w *world) Cut(c string) error               { return w.note("cut", c) }
func (w *world) Heal(c string) error              { return w.note("heal", c) }

// TestStrikeAndHeal: what faults of the leader do. Those of the store are in
// store_test.go.
func TestStrikeAndHeal(t *testing.T) {
	want := map[string][]string{
		"calm":        nil,
		"resign":      {"resign a"},
		"crash":       {"kill a"},
		"pause":       {"freeze a", "thaw a"},
		"pause-write": {"freeze before write a", "thaw a"},
		"suspend":     {"suspend a", "wake a"},
		"partition":   {"cut a", "heal a"},
		"slow-link":   {"slow a 0.05", "slow a 0.00"},
		"lossy-link":  {"lose a 0.30", "lose a 0.00"},
	}
	for _, f := range leaderFaults() {
		w := &store{leader: "a"}
		heal, err := f.Strike(w)
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		if healed := heal != nil; healed != (f.Most > 0) {
			t.Errorf("%s: healed is %v, but it lasts %v TTLs at most", f.Name, healed, f.Most)
		}
		if heal != nil {
			if err := heal(); err != nil {
				t.Errorf("%s: heal: %v", f.Name, err)
			}
		}
		if !slices.Equal(w.calls, want[f.Name]) {
			t.Errorf("%s did %q, want %q", f.Name, w.calls, want[f.Name])
		}
		if f.Releases != (f.Name == "resign") || f.Stalls != (strings.HasPrefix(f.Name, "pause") || f.Name == "suspend") {
			t.Errorf("%s: Releases is %v, Stalls %v", f.Name, f.Releases, f.Stalls)
		}
		_, err = f.Strike(&world{})
		if simulated := errors.Is(err, fault.ErrUnsupported); simulated != f.Simulated {
			t.Errorf("%s: Simulated is %v; error in a world of processes: %v", f.Name, f.Simulated, err)
		}
		if f.Calm != (f.Name == "calm") || f.Kills != map[string]int{"crash": 1}[f.Name] || f.Loses != 0 {
			t.Errorf("%s: Calm is %v, Kills %d, Loses %d", f.Name, f.Calm, f.Kills, f.Loses)
		}
		if f.Danger != fault.Harmless || f.Acks != 0 {
			t.Errorf("%s: Danger is %v, Acks %d", f.Name, f.Danger, f.Acks)
		}
	}
	if len(want) != len(leaderFaults()) {
		t.Errorf("%d faults, tested %d", len(leaderFaults()), len(want))
	}
}

func leaderFaults() []fault.Fault {
	return slices.DeleteFunc(fault.All(), func(f fault.Fault) bool { return f.Store })
}

func TestAbout(t *testing.T) {
	for _, f := range fault.All() {
		if n := len(f.Name + ": " + f.About); f.About == "" || n > 80 {
			t.Errorf("%s: its description has %d characters", f.Name, n)
		}
	}
}

func TestGroups(t *testing.T) {
	leader, store := fault.Group(fault.Leader), fault.Group(fault.Store)
	if all := slices.Concat(leader, store); len(leader) != 9 || len(store) == 0 || !slices.Equal(all, fault.Names()) {
		t.Errorf("leader %v, store %v, all %v", leader, store, fault.Names())
	}
	if g := fault.Group("flood"); g != nil {
		t.Errorf("a group that does not exist has %v", g)
	}
	want := slices.Concat([]string{"del"}, leader, []string{"flood"})
	if got := fault.Expand([]string{"del", "leader", "flood"}); !slices.Equal(got, want) {
		t.Errorf("expanded to %v, want %v", got, want)
	}
	for short, names := range map[string][]string{"all": fault.Names(), "store": store, "leader": leader, "del,crash": {"del", "crash"}} {
		if got := strings.Join(fault.Shorten(names), ","); got != short {
			t.Errorf("%v is shortened to %q, want %q", names, got, short)
		}
	}
}

func TestStrikeFails(t *testing.T) {
	boom := errors.New("boom")
	for _, f := range leaderFaults() {
		if _, err := f.Strike(&store{world: world{err: boom}}); !errors.Is(err, boom) && !f.Calm {
			t.Errorf("%s: error is %v", f.Name, err)
		}
	}
}

func TestLength(t *testing.T) {
	f, err := fault.ByName("pause")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		random float64
		want   time.Duration
	}{{0, 2500 * time.Millisecond}, {0.5, 3250 * time.Millisecond}, {1, 4 * time.Second}} {
		if got := f.Length(2*time.Second, tt.random); got != tt.want {
			t.Errorf("Length(2s, %v) = %v, want %v", tt.random, got, tt.want)
		}
	}
	if f, _ := fault.ByName("crash"); f.Length(time.Second, 0.9) != 0 {
		t.Error("a crash is healed")
	}
}

func TestByName(t *testing.T) {
	for _, name := range fault.Names() {
		if f, err := fault.ByName(name); err != nil || f.Name != name {
			t.Errorf("ByName(%q) = %q, %v", name, f.Name, err)
		}
	}
	_, err := fault.ByName("flood")
	if err == nil || !strings.Contains(err.Error(), `"flood"`) || !strings.Contains(err.Error(), "pause-write") {
		t.Errorf("error is %v", err)
	}
}
