package planted

import (
	"context"
	"errors"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/compare/lab/virtual"
)

var (
	only   = flag.String("bug", "", "look only for bugs whose names contain this")
	hunt   = flag.String("hunt", "", "bugs to play everything with, to see which checks find them where")
	seeds  = flag.Int("seeds", 8, "how many runs of each cell TestShippedCode and TestHunt play")
	update = flag.Bool("update", false, "write docs/planted.md")
)

// built is the program with all bugs, made once.
var built = sync.OnceValues(func() (*program, error) {
	list, err := bugs()
	if err != nil {
		return nil, err
	}
	o, err := newOverlay(root(), list)
	if err != nil {
		return nil, err
	}
	return build(context.Background(), root(), buildDir, o, list)
})

var buildDir string

// prepared are all bugs, and the program that has them.
func prepared(t *testing.T) ([]bug, *program) {
	t.Helper()
	list, err := bugs()
	if err != nil {
		t.Fatal(err)
	}
	p, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return list, p
}

// root is the module's.
func root() string {
	dir, err := filepath.Abs("../..")
	if err != nil {
		panic(err)
	}
	return dir
}

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "planted")
	if err != nil {
		panic(err)
	}
	buildDir = dir
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(dir) // of a temporary folder
		os.Exit(code)
	}))
}

// TestDocs compares docs/planted.md with the bugs and the source.
func TestDocs(t *testing.T) {
	list, err := bugs()
	if err != nil {
		t.Fatal(err)
	}
	o, err := newOverlay(root(), list)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < leastBugs || len(o.marks) < leastMarks {
		t.Errorf("%d bugs and %d rare branches, at least %d and %d", len(list), len(o.marks), leastBugs, leastMarks)
	}
	path := filepath.Join(root(), "docs", "planted.md")
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := page(string(old), list, o.marks)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		err = os.WriteFile(path, []byte(want), 0o644)
	} else if string(old) != want {
		err = errors.New("docs/planted.md is not up to date: go test ./compare/planted -run TestDocs -update")
	}
	if err != nil {
		t.Error(err)
	}
}

// So many there must be at least.
const leastBugs, leastMarks = 28, 20

// row is a line of the table.
type row struct {
	bug
	catch
	took time.Duration
}

// TestBugsAreFound switches on one bug after the other. With -v it prints a table.
func TestBugsAreFound(t *testing.T) {
	list, p := prepared(t)
	var mu sync.Mutex
	var rows []row
	t.Run("each", func(t *testing.T) {
		for _, b := range list {
			if !strings.Contains(b.name, *only) {
				continue
			}
			t.Run(b.name, func(t *testing.T) {
				t.Parallel()
				start := time.Now()
				c, ok, err := p.find(t.Context(), b)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					t.Errorf("not found: %s", b.about)
				}
				mu.Lock()
				defer mu.Unlock()
				rows = append(rows, row{b, c, time.Since(start)})
			})
		}
	})
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.name, b.name) })
	for _, r := range rows {
		t.Logf("%-24s %-18s %-58s %-28s seed %3d run %4d %6s", r.name, r.rule, r.check, r.play, r.seed, r.runs, r.took.Round(time.Millisecond))
	}
}

// TestUnitTestsPass runs the unit tests that find bugs without any.
func TestUnitTestsPass(t *testing.T) {
	list, p := prepared(t)
	for _, u := range unitTests(list) {
		if failed, text, err := p.test(t.Context(), u, "", ""); failed || err != nil {
			t.Errorf("%s: %v\n%s", u.pkg, err, text)
		}
	}
}

// unitTests are all that bugs name, a package at a time.
func unitTests(list []bug) (units []unit) {
	all := map[string][]string{}
	for _, b := range list {
		for _, u := range b.tests {
			all[u.pkg] = append(all[u.pkg], u.run)
		}
	}
	for pkg, runs := range all {
		units = append(units, unit{pkg, strings.Join(runs, "|")})
	}
	return units
}

// asks marks the branches of a request to hand over, which no fault of the lab makes:
// the unit tests that find its bugs reach them.
func asks(m mark) bool { return strings.HasPrefix(m.name, "asked-") }

// reachedByTests adds the branches that the unit tests of bugs reach.
func reachedByTests(t *testing.T, list []bug, p *program, where map[string][]string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "reached")
	for _, u := range unitTests(list) {
		if failed, text, err := p.test(t.Context(), u, "", file); failed || err != nil {
			t.Errorf("%s: %v\n%s", u.pkg, err, text)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range p.marks {
		if asks(m) && slices.Contains(strings.Fields(string(text)), m.name) {
			where[m.name] = append(where[m.name], "unit tests")
		}
	}
}

// TestShippedCode plays all faults, and whatever bugs are looked for in, with no bug
// on: no check finds anything, and every rare branch is reached, those of a request to
// hand over by unit tests.
func TestShippedCode(t *testing.T) {
	list, p := prepared(t)
	var mu sync.Mutex
	where := map[string][]string{} // faults by branch
	t.Run("each", func(t *testing.T) {
		for name, specs := range control(list, *seeds) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				file := filepath.Join(t.TempDir(), "reached")
				err := p.pool("", file).Play(t.Context(), specs, func(i int, run history.Run, err error) {
					for _, f := range judge(run, err) {
						t.Errorf("%s, seed %d: %s: %s", playName(specs[i]), specs[i].Seed, f.check, f.text)
					}
				})
				if err != nil {
					t.Fatal(err)
				}
				text, err := os.ReadFile(file)
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
				mu.Lock()
				defer mu.Unlock()
				for _, branch := range strings.Fields(string(text)) {
					if !slices.Contains(where[branch], name) {
						where[branch] = append(where[branch], name)
					}
				}
			})
		}
	})
	reachedByTests(t, list, p, where)
	for _, m := range p.marks {
		slices.Sort(where[m.name])
		t.Logf("%-30s %-24s %s", m.name, m.file, strings.Join(where[m.name], " "))
		if len(where[m.name]) == 0 {
			t.Errorf("%s: the rare branch %s was not reached", m.file, m.name)
		}
	}
}

// control is what is played without a bug, by fault.
func control(list []bug, seeds int) map[string][]virtual.Spec {
	specs := map[string][]virtual.Spec{}
	add := func(s virtual.Spec) {
		for seed := range seeds {
			s.Seed = uint64(1001 + seed)
			specs[s.Fault] = append(specs[s.Fault], s)
		}
	}
	for _, f := range fault.All() {
		for _, mode := range []string{"single", "quorum3", "quorum5"} {
			for _, guards := range []string{history.GuardsOn, history.GuardsOff} {
				if s, err := parsePlay(f.Name + " " + mode + " " + guards); err == nil && (f.Danger != fault.Harmless || guards == history.GuardsOn) {
					add(s)
				}
			}
		}
	}
	for _, b := range list {
		for _, s := range b.plays {
			add(s)
		}
	}
	for _, text := range hard {
		s, err := parsePlay(text)
		if err != nil {
			panic(err)
		}
		for seed := range 4 * seeds {
			s.Seed = uint64(1001 + seed)
			specs["hard"] = append(specs["hard"], s)
		}
	}
	return specs
}

// hard are worse days than one fault makes: long ways, losses, many candidates, and
// faults on top of each other. Some branches are reached in no other way.
var hard = []string{
	"random quorum5 on loss=0.2",
	"random quorum3 on link=wan ttl=4s",
	"lossy-link quorum3 on loss=0.2 candidates=10",
	"resign quorum3 on link=wan ttl=4s loss=0.2",
	"resign quorum5 on link=wan ttl=4s candidates=20",
	// Many hand-overs on a lossy way: requests of one term come when another has begun.
	"resign@0+resign@0.5+resign@0.5+resign@0.5+resign@0.5+resign@0.5+resign@0.5+resign@0.5 quorum3 on link=wan ttl=4s loss=0.2",
	"resign@0+resign@0.2+resign@0.2+resign@0.2+resign@0.2+resign@0.2+resign@0.2+resign@0.2 quorum5 on link=wan ttl=4s loss=0.2",
	"hung-master quorum3 on loss=0.1 candidates=10",
	"failover@0+failover@0.3+failover@0.3+failover@0.3+failover@0.3 single on",
	"failover@0+restart-old@0.1+failover@0.1+restart-old@0.1+failover@0.1 single on",
	"pause@0+pause@0+pause@0+pause@0 single on loss=0.2",
	"slow-link@0+lost-reply@0.2+resign@0.2 quorum3 on loss=0.2",
	"clock-back@0+resign@1 single off", // a lease that lasts longer than any bid asked for
}

// TestHunt plays everything with the bugs of -hunt, and lists what is found.
func TestHunt(t *testing.T) {
	if *hunt == "" {
		t.Skip("this is a tool: -hunt NAME,NAME")
	}
	_, p := prepared(t)
	var specs []virtual.Spec
	for _, list := range control(nil, *seeds) {
		specs = append(specs, list...)
	}
	for name := range strings.SplitSeq(*hunt, ",") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := map[string]int{}
			err := p.pool(name, "").Play(t.Context(), specs, func(i int, run history.Run, err error) {
				for _, f := range judge(run, err) {
					found[f.check+": "+playName(specs[i])]++
				}
			})
			if err != nil {
				t.Error(err)
			}
			for _, k := range slices.Sorted(maps.Keys(found)) {
				t.Logf("%4d of %d  %s", found[k], *seeds, k)
			}
		})
	}
}
