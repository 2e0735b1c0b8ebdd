package fault_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"incumbent/compare/fault"
)

// stage is a store in which time passes: a TTL is a second.
type stage struct {
	store
	now  time.Duration
	told []string // what was announced, with the time in TTLs
	thaw error
	// nobody leads from the first of these to the second.
	from, until time.Duration
}

func (s *stage) TTL() time.Duration     { return time.Second }
func (s *stage) Elapsed() time.Duration { return s.now }
func (s *stage) Pass(ttls float64)      { s.now += time.Duration(ttls * float64(time.Second)) }

func (s *stage) Leader() string {
	if s.now >= s.from && s.now < s.until {
		return ""
	}
	return s.leader
}

func (s *stage) tell(format string, args ...any) {
	s.told = append(s.told, fmt.Sprintf("%.2f ", s.now.Seconds())+fmt.Sprintf(format, args...))
}

func (s *stage) Begin(f fault.Fault)   { s.tell("begin %s", f.Name) }
func (s *stage) Struck(m int)          { s.tell("struck %d", m) }
func (s *stage) StruckLeader(c string) { s.tell("struck %s", c) }
func (s *stage) Healed(f fault.Fault)  { s.tell("healed %s", f.Name) }
func (s *stage) Note(text string)      { s.tell("%s", text) }
func (s *stage) Kill(c string) error   { s.tell("kill %s", c); return s.err }
func (s *stage) Thaw(c string) error   { s.tell("thaw %s", c); return s.thaw }

func perform(t *testing.T, s *stage, steps ...fault.Step) string {
	t.Helper()
	s.leader = "a"
	f := fault.Schedule{Name: "x", Steps: steps}.Fault()
	heal, err := f.Strike(s)
	if heal != nil || err != nil {
		t.Errorf("heal is there: %v, error %v", heal != nil, err)
	}
	return strings.Join(s.told, "; ")
}

// TestSchedule: steps strike when they are due, and are healed when they are due, also
// while another one strikes.
func TestSchedule(t *testing.T) {
	for _, tt := range []struct {
		name  string
		stage stage
		steps []fault.Step
		want  string
	}{
		{"one after the other", stage{}, []fault.Step{{After: 1, Fault: "pause", For: 1.5}, {After: 2, Fault: "crash"}},
			"1.00 begin pause; 1.00 struck a; 2.50 healed pause; 2.50 thaw a; 3.00 begin crash; 3.00 kill a; 3.00 struck a"},
		{"one on top of the other", stage{}, []fault.Step{{Fault: "pause", For: 1.5}, {After: 0.3, Fault: "restart-empty"}},
			"0.00 begin pause; 0.00 struck a; 0.30 begin restart-empty; 0.30 struck 0; 1.50 healed pause; 1.50 thaw a"},
		{"healed while another one prepares", stage{store: store{masters: 3, random: []float64{0, 0, 0, 0.9}}},
			[]fault.Step{{Fault: "pause", For: 0.5}, {After: 0.2, Fault: "failover"}},
			"0.00 begin pause; 0.00 struck a; 0.20 begin failover; 0.50 healed pause; 0.50 thaw a; 0.80 struck 2"},
		{"the later one is healed first", stage{}, []fault.Step{{Fault: "pause", For: 3}, {After: 0.5, Fault: "pause", For: 1}},
			"0.00 begin pause; 0.00 struck a; 0.50 begin pause; 0.50 struck a; 1.50 healed pause; 1.50 thaw a; 3.00 healed pause; 3.00 thaw a"},
		{"its own length", stage{}, []fault.Step{{Fault: "pause"}}, "0.00 begin pause; 0.00 struck a; 1.25 healed pause; 1.25 thaw a"},
		{"a step waits for a leader", stage{from: time.Second, until: 3 * time.Second}, []fault.Step{{After: 1, Fault: "crash"}},
			"3.00 begin crash; 3.00 kill a; 3.00 struck a"},
		{"but not for ever", stage{from: 0, until: 7 * time.Second}, []fault.Step{{Fault: "crash"}, {After: 2, Fault: "crash"}},
			"6.00 step 1, crash, is skipped: it struck nobody: nobody led in time; 8.00 begin crash; 8.00 kill a; 8.00 struck a"},
		{"calm needs nobody", stage{from: 0, until: time.Hour}, []fault.Step{{Fault: "calm", For: 2}},
			"0.00 begin calm; 0.00 struck lab; 2.00 healed calm"},
	} {
		if tt.stage.masters == 0 {
			tt.stage.masters = 1
		}
		if got := perform(t, &tt.stage, tt.steps...); got != tt.want {
			t.Errorf("%s: %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// TestScheduleErrors: who is dead is skipped, and needs no healing; other errors are
// errors.
func TestScheduleErrors(t *testing.T) {
	boom, dead := errors.New("boom"), fmt.Errorf("a is dead: %w", fault.ErrMissed)
	for _, tt := range []struct{ strike, heal, want error }{
		{nil, nil, nil}, {boom, nil, boom}, {dead, nil, nil}, {nil, boom, boom}, {nil, dead, nil},
	} {
		s := &stage{store: store{world: world{err: tt.strike}, masters: 1, leader: "a"}, thaw: tt.heal}
		_, err := fault.Schedule{Name: "x", Steps: []fault.Step{{Fault: "pause"}}}.Fault().Strike(s)
		if !errors.Is(err, tt.want) {
			t.Errorf("%v and %v: error is %v, want %v", tt.strike, tt.heal, err, tt.want)
		}
	}
	if _, err := (fault.Schedule{Name: "x"}).Fault().Strike(&store{}); !errors.Is(err, fault.ErrUnsupported) {
		t.Errorf("without a stage the error is %v", err)
	}
}

// TestWorst: a schedule is as bad as the worst of its steps.
func TestWorst(t *testing.T) {
	for _, tt := range []struct {
		steps  string
		danger fault.Danger
		stalls bool
		acks   int
		kills  int
		loses  int
	}{
		{"resign", fault.Harmless, false, 0, 0, 0},
		{"crash crash pause", fault.Harmless, true, 0, 2, 0},
		{"pause-write crash", fault.Harmless, true, 0, 1, 0},
		{"del master-crash", fault.Guarded, false, 0, 0, 1},
		{"old-primary del failover-acks", fault.Remaining, false, 1, 0, 0},
		{"unheard-of", fault.Harmless, false, 0, 0, 0},
	} {
		f := fault.Together(strings.Fields(tt.steps))
		if f.Danger != tt.danger || f.Stalls != tt.stalls || f.Acks != tt.acks || f.Kills != tt.kills || f.Loses != tt.loses {
			t.Errorf("%s: %+v", tt.steps, f)
		}
	}
}

func TestScheduleValidate(t *testing.T) {
	good := fault.Schedule{Name: "x", Steps: []fault.Step{{Fault: "crash"}}}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	good.Steps = slices.Repeat(good.Steps, fault.MaxSteps)
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	if f := good.Fault(); len(f.Name+": "+f.About) > 80 {
		t.Errorf("its description is %q", f.About)
	}
	good.Steps = append(good.Steps, good.Steps[0])
	if err := good.Validate(); err == nil {
		t.Error("too many steps are taken")
	}
	bad := fault.Schedule{Name: "x", Steps: []fault.Step{{Fault: "pause", For: math.NaN()}}}
	if err := bad.Validate(); err == nil {
		t.Error("NaN is taken")
	}
}

// luck is a stage whose dice are those of a generator.
type luck struct {
	stage
	state uint64
}

func (l *luck) Random() float64 {
	l.state = l.state*6364136223846793005 + 1442695040888963407
	return float64(l.state>>11) / (1 << 53)
}

// TestRandom: a random schedule has all faults that guards rule out, but kills no last
// candidate and no majority of masters.
func TestRandom(t *testing.T) {
	f, err := fault.ByName(fault.Random)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for seed := range uint64(400) {
		l := &luck{stage: stage{store: store{masters: 3, leader: "a"}}, state: seed}
		if _, err := f.Strike(l); err != nil {
			t.Fatal(err)
		}
		n, kills, loses, replaces := 0, 0, 0, 0
		for _, text := range l.told {
			_, name, ok := strings.Cut(text, " begin ")
			if !ok {
				continue
			}
			step, err := fault.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			n, kills, loses, replaces = n+1, kills+step.Kills, loses+step.Loses, replaces+step.Replaces
			seen[name]++
		}
		if n < 3 || n > 8 || kills > 1 || loses > 1 || replaces > 3 {
			t.Errorf("seed %d: %d steps kill %d of 2 candidates and %d of 3 masters, and replace %d", seed, n, kills, loses, replaces)
		}
	}
	for _, f := range fault.All() {
		want := f.Danger != fault.Remaining && f.Acks == 0 && !f.Calm && f.Name != fault.Random
		if drawn := seen[f.Name] > 0; drawn != want {
			t.Errorf("%s was drawn %d times", f.Name, seen[f.Name])
		}
	}
	t.Logf("%d faults: %v", len(seen), slices.Sorted(maps.Keys(seen)))
}
