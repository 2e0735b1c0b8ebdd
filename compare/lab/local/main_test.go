package local_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"incumbent/compare/history"
	"incumbent/compare/lab/local"
	"incumbent/compare/measure"
	"incumbent/internal/redisproc/redistest"
)

func TestMain(m *testing.M) {
	local.ChildMain()
	if os.Getenv(ownerEnv) != "" {
		ownLab()
	}
	flag.Parse()
	if err := flag.Set("test.parallel", sideBySide); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// sideBySide is how many parallel tests run at once, whatever the machine: they
// mostly wait.
const sideBySide = "12"

var trace = flag.Bool("trace", false, "print the events of the slowest runs")

// mode is a column of every table: what the issue states targets for.
type mode struct {
	name    string
	options local.Options
}

func modes() []mode {
	return []mode{
		{"single", local.Options{Mode: "single"}},
		{"quorum3", local.Options{Mode: "quorum", Masters: 3}},
		{"quorum5", local.Options{Mode: "quorum", Masters: 5}},
	}
}

// open starts a lab and closes it at the end of the test.
func open(t *testing.T, o local.Options) (*local.Lab, context.Context) {
	t.Helper()
	redistest.Require(t)
	o.Stderr, o.Trace = os.Stderr, *trace
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	t.Cleanup(cancel)
	l, err := local.Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l, ctx
}

// dist is a sample of durations.
type dist []time.Duration

// at is the q-quantile by nearest rank: the largest value for q = 1.
func (d dist) at(q float64) time.Duration {
	s := slices.Sorted(slices.Values(d))
	i := int(q*float64(len(s))+0.999999) - 1
	return s[max(0, min(i, len(s)-1))]
}

func (d dist) String() string {
	r := func(q float64) time.Duration { return d.at(q).Round(10 * time.Microsecond) }
	return fmt.Sprintf("n %d, min %v, p50 %v, p90 %v, p99 %v, max %v", len(d), r(0), r(0.5), r(0.9), r(0.99), r(1))
}

// figures measures a run, and fails the test when a rule was broken or nobody
// took over.
func figures(t *testing.T, run history.Run) measure.Figures {
	t.Helper()
	for _, v := range measure.Check(run) {
		t.Errorf("%v\n%s", v, timeline(run))
	}
	f := measure.Of(run)
	if !f.FailedOver {
		t.Fatalf("no next term:\n%s", timeline(run))
	}
	return f
}

// timeline prints a run without its acts, for people.
func timeline(run history.Run) string {
	var b strings.Builder
	for _, e := range run.Events {
		if e.Kind == history.Checked || e.Kind == history.Acted {
			continue
		}
		fmt.Fprintf(&b, "%12.3fms %-6s %-13s %-13s %d %s", float64(e.At.Microseconds())/1000, e.Actor, e.Kind, e.Name, e.Token%100000, e.Err)
		if e.Floor > 0 {
			fmt.Fprintf(&b, " floor until %.3fms", float64((e.At+e.Floor).Microseconds())/1000)
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}
