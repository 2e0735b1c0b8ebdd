package ops

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"incumbent/metrics"
)

// exported are the names of the series that a Collector has, those of histograms with
// their suffixes, each with its labels.
func exported(t *testing.T) map[string][]string {
	t.Helper()
	c, err := metrics.New(metrics.Options{Election: "eu"})
	noErr(t, err)
	r := prometheus.NewRegistry()
	noErr(t, r.Register(c))
	families, err := r.Gather()
	noErr(t, err)
	out := map[string][]string{}
	for _, f := range families {
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		if f.GetType() == dto.MetricType_HISTOGRAM {
			out[f.GetName()+"_bucket"] = append(slices.Clone(labels), "le")
			out[f.GetName()+"_sum"], out[f.GetName()+"_count"] = labels, labels
			continue
		}
		out[f.GetName()] = labels
	}
	return out
}

// use is a metric in an expression, with what is asked of its labels.
type use struct {
	metric string
	labels []string
}

var (
	metricName = regexp.MustCompile(`\b(incumbent_[a-z_]+)(?:\{([^}]*)\})?`)
	labelName  = regexp.MustCompile(`([a-z_]+)\s*(?:=~|!~|!=|=)\s*"`)
)

func uses(expr string) (all []use) {
	for _, m := range metricName.FindAllStringSubmatch(expr, -1) {
		u := use{metric: m[1]}
		for _, l := range labelName.FindAllStringSubmatch(m[2], -1) {
			u.labels = append(u.labels, l[1])
		}
		all = append(all, u)
	}
	return all
}

// fromPrometheus are labels that a scrape adds.
var fromPrometheus = []string{"job", "instance", "namespace"}

type panel struct {
	ID          int    `json:"id"`
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Datasource  struct {
		UID string `json:"uid"`
	} `json:"datasource"`
	GridPos struct {
		X, Y, W, H int
	} `json:"gridPos"`
	FieldConfig struct {
		Defaults struct {
			Unit string `json:"unit"`
		} `json:"defaults"`
	} `json:"fieldConfig"`
	Targets []struct {
		Expr   string `json:"expr"`
		Legend string `json:"legendFormat"`
	} `json:"targets"`
}

type dashboard struct {
	Title         string  `json:"title"`
	SchemaVersion int     `json:"schemaVersion"`
	Panels        []panel `json:"panels"`
	Templating    struct {
		List []struct {
			Name  string `json:"name"`
			Type  string `json:"type"`
			Query any    `json:"query"`
		} `json:"list"`
	} `json:"templating"`
}

func loadDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	noErr(t, json.Unmarshal(read(t, "dashboard.json"), &d))
	return d
}

// Whatever rules and dashboard ask for is exported under that name with those labels; and
// whatever is exported is looked at by one of them.
func TestNamesAreExported(t *testing.T) {
	all := exported(t)
	left := maps.Clone(all)
	check := func(where, expr string) {
		found := uses(expr)
		if len(found) == 0 {
			t.Errorf("%s: no metric in %q", where, expr)
		}
		for _, u := range found {
			labels, ok := all[u.metric]
			if !ok {
				t.Errorf("%s: %s is not exported", where, u.metric)
			}
			for _, l := range u.labels {
				if !slices.Contains(labels, l) && !slices.Contains(fromPrometheus, l) {
					t.Errorf("%s: %s has no label %s", where, u.metric, l)
				}
			}
			delete(left, u.metric)
		}
	}
	for _, r := range loadRules(t).rules() {
		check(r.Alert, r.Expr)
	}
	d := loadDashboard(t)
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			check(p.Title, q.Expr)
		}
	}
	for _, v := range d.Templating.List {
		if v.Type == "query" {
			check("variable "+v.Name, fmt.Sprint(v.Query))
		}
	}
	maps.DeleteFunc(left, func(name string, _ []string) bool {
		for _, base := range []string{"_count", "_sum", "_bucket"} { // one of the three will do
			if strings.HasSuffix(name, base) {
				return true
			}
		}
		return false
	})
	if len(left) > 0 {
		t.Errorf("neither rules nor dashboard look at %v", slices.Sorted(maps.Keys(left)))
	}
}

// Every panel says what it shows, in which unit, from the chosen source and elections.
func TestDashboard(t *testing.T) {
	d := loadDashboard(t)
	if d.SchemaVersion < 38 { // that of Grafana 10
		t.Errorf("schema version %d", d.SchemaVersion)
	}
	var names []string
	for _, v := range d.Templating.List {
		names = append(names, v.Name)
	}
	if !slices.Equal(names, []string{"datasource", "namespace", "job", "election"}) {
		t.Errorf("variables are %v", names)
	}
	ids, kinds := map[int]bool{}, map[string]int{}
	for i, p := range d.Panels {
		kinds[p.Type]++
		if p.Title == "" || len(p.Description) < 20 || p.FieldConfig.Defaults.Unit == "" || p.Datasource.UID != "${datasource}" {
			t.Errorf("panel %d %q: description %q, unit %q, source %q", p.ID, p.Title, p.Description, p.FieldConfig.Defaults.Unit, p.Datasource.UID)
		}
		if ids[p.ID] || p.GridPos.X+p.GridPos.W > 24 || len(p.Targets) == 0 {
			t.Errorf("panel %d %q: not a place of its own, or nothing in it", p.ID, p.Title)
		}
		ids[p.ID] = true
		for _, q := range p.Targets {
			for _, u := range uses(q.Expr) {
				if !slices.Contains(u.labels, "election") || !slices.Contains(u.labels, "job") {
					t.Errorf("panel %q: %s is not limited to the chosen elections", p.Title, u.metric)
				}
			}
			if q.Legend == "" {
				t.Errorf("panel %q: a curve without a name", p.Title)
			}
		}
		for _, o := range d.Panels[:i] {
			a, b := p.GridPos, o.GridPos
			if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				t.Errorf("panels %q and %q overlap", p.Title, o.Title)
			}
		}
	}
	if kinds["state-timeline"] == 0 || kinds["timeseries"] == 0 {
		t.Errorf("kinds of panels: %v", kinds)
	}
}

// PromQL in the dashboard is what Prometheus can read: its own tool says so, with
// Grafana's variables replaced.
func TestDashboardExpressionsAreValid(t *testing.T) {
	variables := strings.NewReplacer("$__rate_interval", "5m", "$job", "sync", "$election", "eu")
	var rules []rule
	for _, p := range loadDashboard(t).Panels {
		for i, q := range p.Targets {
			rules = append(rules, rule{Alert: fmt.Sprintf("Panel%dTarget%d", p.ID, i), Expr: variables.Replace(q.Expr)})
		}
	}
	if out, err := promtool(t, "check", "rules", writeRules(t, rules...)); err != nil {
		t.Error(out)
	}
}
