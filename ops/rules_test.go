package ops

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
)

// requireEnv turns the skip without promtool into a failure when it is "1".
const requireEnv = "INCUMBENT_REQUIRE_PROMTOOL"

type rule struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for,omitempty"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

type group struct {
	Name  string `yaml:"name"`
	Rules []rule `yaml:"rules"`
}

type ruleFile struct {
	Groups []group `yaml:"groups"`
}

func loadRules(t *testing.T) ruleFile {
	t.Helper()
	var f ruleFile
	noErr(t, yaml.UnmarshalWithOptions(read(t, "alerts.yaml"), &f, yaml.Strict()))
	return f
}

func (f ruleFile) rules() (all []rule) {
	for _, g := range f.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

func noErr(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	noErr(t, err)
	return text
}

// promtool runs Prometheus' own tool. Its error is nil only if the tool is content.
func promtool(t *testing.T, args ...string) (output string, err error) {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv(requireEnv) == "1" {
			t.Fatalf("%s=1: %v", requireEnv, err)
		}
		t.Skip("no promtool (of Prometheus) in PATH")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, args...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || ctx.Err() != nil) {
		t.Fatalf("promtool: %v", err)
	}
	return string(out), err
}

func TestRulesAreValid(t *testing.T) {
	if out, err := promtool(t, "check", "rules", "alerts.yaml"); err != nil {
		t.Error(out)
	}
}

// Prometheus evaluates the rules over made up histories.
func TestRulesFireWhenTheyShould(t *testing.T) {
	if out, err := promtool(t, "test", "rules", "alerts_test.yaml"); err != nil {
		t.Error(out)
	}
}

// Every alert says how bad it is, what is wrong, and where to read on; and is told from
// the others by its name.
func TestRulesAreDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range loadRules(t).rules() {
		a := r.Annotations
		want := "docs/operations.md#" + strings.ToLower(r.Alert)
		if a["runbook_url"] != want || len(a) != 3 || a["summary"] == "" || a["description"] == "" {
			t.Errorf("%s: annotations are %v", r.Alert, a)
		}
		if !slices.Contains([]string{"critical", "warning", "info"}, r.Labels["severity"]) || len(r.Labels) != 1 {
			t.Errorf("%s: labels are %v", r.Alert, r.Labels)
		}
		if seen[r.Alert] || !strings.HasPrefix(r.Alert, "Incumbent") {
			t.Errorf("%s: not a name of its own", r.Alert)
		}
		seen[r.Alert] = true
	}
}

// numbers of an expression, but not those within words, durations and strings.
var numbers = regexp.MustCompile(`(?:^|[\s(])([0-9]+(?:\.[0-9]+)?)(?:$|[\s),])`)

// mutants are the ways in which a rule can be wrong.
func mutants(r rule) map[string]rule {
	change := func(f func(*rule)) rule {
		m := r
		f(&m)
		return m
	}
	out := map[string]rule{
		"never fires": change(func(m *rule) { m.Expr = "vector(0) > 1" }),
		"fires whenever there are metrics": change(func(m *rule) {
			m.Expr += ` or max by (job, election) ({__name__=~"incumbent_.+"})`
		}),
	}
	if r.For != "" {
		out["does not wait"] = change(func(m *rule) { m.For = "" })
		out["waits for too long"] = change(func(m *rule) { m.For = "1h" })
	}
	for i, at := range numbers.FindAllStringSubmatchIndex(r.Expr, -1) {
		before, text, after := r.Expr[:at[2]], r.Expr[at[2]:at[3]], r.Expr[at[3]:]
		v, _ := strconv.ParseFloat(text, 64) // the pattern has only numbers
		for what, changed := range map[string]float64{"more": 4*v + 1, "less": v/4 - 0.01} {
			key := fmt.Sprintf("number %d, %s, is %s", i+1, text, what)
			out[key] = change(func(m *rule) { m.Expr = fmt.Sprintf("%s%g%s", before, changed, after) })
		}
	}
	return out
}

// A test of a rule that cannot fail tests nothing: each rule is made wrong in several
// ways, and each time the tests must notice.
func TestTheTestsNoticeWrongRules(t *testing.T) {
	if testing.Short() {
		t.Skip("some 60 runs of promtool")
	}
	all := loadRules(t)
	for _, r := range all.rules() {
		t.Run(r.Alert, func(t *testing.T) {
			t.Parallel()
			ms := mutants(r)
			for _, what := range slices.Sorted(maps.Keys(ms)) {
				if out, err := promtool(t, "test", "rules", writeMutant(t, ms[what])); err == nil {
					t.Errorf("%s: nothing is noticed\n%s\n%s", what, ms[what].Expr, out)
				}
			}
		})
	}
}

// writeRules writes a file of rules and returns its name.
func writeRules(t *testing.T, rules ...rule) string {
	t.Helper()
	text, err := yaml.Marshal(ruleFile{Groups: []group{{Name: "incumbent", Rules: rules}}})
	noErr(t, err)
	name := filepath.Join(t.TempDir(), "alerts.yaml")
	noErr(t, os.WriteFile(name, text, 0o600))
	return name
}

// writeMutant writes a file with that rule alone, and beside it the tests, whose name it
// returns. What they ask of other alerts, which are not there, is left out.
func writeMutant(t *testing.T, m rule) string {
	t.Helper()
	var tests map[string]any
	noErr(t, yaml.Unmarshal(read(t, "alerts_test.yaml"), &tests))
	var kept []any
	for _, x := range tests["tests"].([]any) {
		x := x.(map[string]any)
		checks := slices.DeleteFunc(slices.Clone(x["alert_rule_test"].([]any)), func(c any) bool {
			return c.(map[string]any)["alertname"] != m.Alert
		})
		if x["alert_rule_test"] = checks; len(checks) > 0 {
			kept = append(kept, x)
		}
	}
	tests["tests"] = kept
	text, err := yaml.Marshal(tests)
	noErr(t, err)
	name := filepath.Join(filepath.Dir(writeRules(t, m)), "alerts_test.yaml")
	noErr(t, os.WriteFile(name, text, 0o600))
	return name
}
