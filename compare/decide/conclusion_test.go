package decide_test

import (
	"strings"
	"testing"

	"incumbent/compare"
	"incumbent/compare/decide"
	"incumbent/compare/history"
	"incumbent/compare/measure"
)

// TestConclusion: the answer comes first, and what could not be told is not a miss.
func TestConclusion(t *testing.T) {
	same := func(r *compare.Result) *compare.Result { return r }
	few := func(r *compare.Result) *compare.Result {
		return change(r, "crash", func(c *measure.Cell) { c.Runs, c.Failover.N = 19, 19 })
	}
	for _, test := range []struct {
		name, slo string
		result    func(*compare.Result) *compare.Result
		undecided bool
		begins    string
	}{
		{"met", "failover=4s", same, false, "For failover=4s choose single with TTL 2s, renewed every 666ms: 1 server, 3 commands a second; failover after a crash is expected within 2.01s."},
		{"met, with room", "failover=10s", same, false, "For failover=10s choose single with TTL 2s, renewed every 666ms: 1 server, 3 commands a second; failover after a crash is expected within 2.01s; a longer TTL, 8.5s, may do: measure it."},
		{"another TTL", "failover=1s", same, false, "NO MODE FITS failover=1s: single may with a TTL of 850ms: measure it. At a TTL of 2s, failover rules out single (2.01s), quorum3 (2.01s) and quorum5 (2.01s)."},
		{"consensus", "leaderless=0,overlap=0,fence=yes", same, false, "NO MODE FITS leaderless=0,overlap=0,fence=yes: consensus is due (etcd, ZooKeeper). At a TTL of 2s, leaderless rules out single"},
		{"resource", "overlap=0,fence=no", same, false, "NO MODE FITS overlap=0,fence=no: no elector can give that; only a resource that compares tokens. At a TTL of 2s"},
		{"nowhere", "failover=50ms", same, false, "NO MODE FITS failover=50ms: one requirement must give way. At a TTL of 2s"},
		{"no quorum", "loss-of-master=survive", func(r *compare.Result) *compare.Result {
			r.Plan.Modes = r.Plan.Modes[:1]
			return without(r, func(c measure.Cell) bool { return c.Masters > 1 })
		}, false, "NO MODE FITS loss-of-master=survive: no quorum was played. At a TTL of 2s, loss-of-master rules out single (one master)."},
		{"too few runs", "failover=10s", few, true, "NOT DECIDED failover=10s: not measured: failover; add --runs 100."},
		{"too few runs, where one misses all the same", "failover=10s,servers<=2", few, true, "NOT DECIDED failover=10s,servers<=2: not measured: failover; add --runs 100."},
		{"a miss decides, though something was not measured", "failover=10s,loss-of-master=survive,servers<=2", few, false, "NO MODE FITS failover=10s,servers<=2,loss-of-master=survive: one requirement must give way."},
		{"not played", "failover=10s,handover=1s", func(r *compare.Result) *compare.Result { return only(r, "calm") }, true, "NOT DECIDED failover=10s,handover=1s: not measured: failover and handover; add --faults all."},
		{"one fault not played", "handover=1s", func(r *compare.Result) *compare.Result { return only(r, "crash") }, true, "NOT DECIDED handover=1s: not measured: handover; add --faults resign."},
		{"guards off", "overlap=0,fence=yes", func(r *compare.Result) *compare.Result {
			r.Plan.Guards = []string{history.GuardsOff}
			return without(r, func(c measure.Cell) bool { return c.Guards == history.GuardsOn })
		}, true, "NOT DECIDED overlap=0,fence=yes: not measured: fence and overlap; add --faults pause-write --guards on."},
		{"interrupted", "failover=1s", func(r *compare.Result) *compare.Result { r.Interrupted = true; r.Runs = 7; return r }, true, "NOT DECIDED failover=1s: only 7 of"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := decide.Decide(must(t, test.slo), test.result(played()))
			if got := d.Conclusion(); !strings.HasPrefix(got, test.begins) {
				t.Errorf("got  %s\nwant %s", got, test.begins)
			}
			if d.Undecided() != test.undecided {
				t.Errorf("undecided %v: %s", d.Undecided(), d.Reason)
			}
			if none := d.Elsewhere == decide.Here; (d.Elsewhere.Step() == "") != none || !none && d.Next != "" {
				t.Errorf("the next step is %q, the next command %q", d.Elsewhere.Step(), d.Next)
			}
		})
	}
}

// TestConfirm: what confirms a decision plays seeds that it does not rest on.
func TestConfirm(t *testing.T) {
	r := played()
	want := "--ttl 2s --candidates 3 --seed 101 --runs 100 --slo 'failover=3s'"
	for lab, begin := range map[string]string{
		history.Virtual: "incumbent compare --modes ", history.Local: "incumbent compare --lab local --modes ", "sentinel": "incumbent compare --lab sentinel --modes ",
	} {
		r.Lab = lab
		if got := decide.Confirm(r, must(t, "failover=3s")); !strings.HasPrefix(got, begin) || !strings.HasSuffix(got, want) {
			t.Errorf("lab %s: got %s, want %s...%s", lab, got, begin, want)
		}
	}
}
