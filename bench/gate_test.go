package bench

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestParseGate(t *testing.T) {
	for text, want := range map[string]Gate{
		"renew<=2.0xfloor":             {Op: "renew", Unit: "xfloor", Limit: 2},
		"renew/single <= 2.5 xfloor":   {Op: "renew", Mode: "single", Unit: "xfloor", Limit: 2.5},
		"acquire+release/quorum3<=2ms": {Op: "acquire+release", Mode: "quorum3", Unit: "sec", Limit: 0.002},
		"evalsha<=150us":               {Op: "evalsha", Unit: "sec", Limit: 150e-6},
		"renew<=40allocs":              {Op: "renew", Unit: "allocs", Limit: 40},
		"renew/quorum5<=1commands":     {Op: "renew", Mode: "quorum5", Unit: "commands", Limit: 1},
	} {
		got, err := ParseGate(text)
		want.text = text
		if err != nil || math.Abs(got.Limit-want.Limit) > 1e-12 || got.Op != want.Op || got.Mode != want.Mode || got.Unit != want.Unit || got.String() != text {
			t.Errorf("%q: %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "renew", "renew<2xfloor", "renew<=2", "renew<=xfloor", "renew<=-1xfloor", "renew<=2parsecs", "<=2ms",
		"renew/<=2ms", "renew<=NaNms", "renew<=1e3ms", "renew<=2ms<=3ms", "renew<=9999999999999ms", "RENEW<=2ms", "renew<=2.xfloor"} {
		var wrong *GateError
		if g, err := ParseGate(text); !errors.As(err, &wrong) || wrong.Gate != text {
			t.Errorf("%q: %+v, %v", text, g, err)
		}
	}
}

// FuzzParseGate: what is understood has a limit, and can be decided.
func FuzzParseGate(f *testing.F) {
	for _, text := range []string{"renew<=2.0xfloor", "renew/single<=40allocs", "acquire+release<=2ms", "x<=1s", "<="} {
		f.Add(text)
	}
	r := example()
	f.Fuzz(func(t *testing.T, text string) {
		g, err := ParseGate(text)
		if err != nil {
			return
		}
		if g.Op == "" || !(g.Limit >= 0) || math.IsInf(g.Limit, 0) {
			t.Errorf("%q: %+v", text, g)
		}
		for _, o := range Check(r, []Gate{g}) {
			if o.Status != Passed && o.Status != Missed && o.Status != Inconclusive {
				t.Errorf("%q: %+v", text, o)
			}
		}
	})
}

// TestCheck: a time is decided only beyond its interval and the noise; a count always.
func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		gate string
		want Status
	}{
		{"renew/single<=2.1xfloor", Passed}, // 1.8 [1.7 to 1.9], A/A 5 %
		{"renew/single<=1.98xfloor", Inconclusive},
		{"renew/single<=1.8xfloor", Inconclusive},
		{"renew/single<=1.65xfloor", Inconclusive},
		{"renew/single<=1.6xfloor", Missed},
		{"renew/single<=60us", Passed}, // 50 us [49 to 52]
		{"renew/single<=53us", Inconclusive},
		{"renew/single<=40us", Missed},
		{"renew/single<=38allocs", Passed},
		{"renew/single<=37allocs", Missed},
		{"renew/single<=1commands", Passed},
		{"renew/single<=0commands", Missed},
		{"renew<=2.1xfloor", Passed}, // of this library's modes only: redsync's is 9
		{"renew/redsync3<=2.1xfloor", Missed},
		{"evalsha<=1ms", Passed},
	} {
		g, err := ParseGate(tt.gate)
		if err != nil {
			t.Fatal(err)
		}
		got := Check(example(), []Gate{g})
		if len(got) != 1 || got[0].Status != tt.want || Worst(got) != tt.want {
			t.Errorf("%s: %+v, want %s", tt.gate, got, tt.want)
		}
	}
}

// TestCheckNoisyFloor: what the floor lacks in calm, its ratios lack too.
func TestCheckNoisyFloor(t *testing.T) {
	r := example()
	r.Op(FloorRenew, "").AA = Interval{1, 0.7, 1.4}
	g, err := ParseGate("renew/single<=2.1xfloor")
	if err != nil {
		t.Fatal(err)
	}
	if got := Check(r, []Gate{g}); got[0].Status != Inconclusive {
		t.Errorf("with a floor that differs from itself by 40 %%: %+v", got)
	}
	r.Op(OpRenew, "single").XFloor.Hi = math.NaN()
	if got := Check(r, []Gate{g}); got[0].Status != Inconclusive {
		t.Errorf("without an interval: %+v", got)
	}
}

func TestWorst(t *testing.T) {
	for list, want := range map[string]Status{
		"": Passed, "passed": Passed, "passed inconclusive": Inconclusive, "inconclusive passed": Inconclusive,
		"missed inconclusive": Missed, "inconclusive missed passed": Missed,
	} {
		var outcomes []Outcome
		for s := range strings.FieldsSeq(list) {
			outcomes = append(outcomes, Outcome{Status: Status(s)})
		}
		if got := Worst(outcomes); got != want {
			t.Errorf("worst of %q is %s, want %s", list, got, want)
		}
	}
}

func TestMatch(t *testing.T) {
	for text, ok := range map[string]bool{
		"renew<=1ms": true, "renew/single<=1ms": true, "renew/redsync1<=1ms": true, "ping<=1ms": true,
		"renew/quorum3<=1ms": false, "renwe<=1ms": false, "ping/single<=1ms": false,
	} {
		g, err := ParseGate(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := Match([]Gate{g}, Modes()[:1]); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}
