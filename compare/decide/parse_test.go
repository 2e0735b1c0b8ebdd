package decide_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"incumbent/compare/decide"
)

func within[T int | float64 | time.Duration](v T) decide.Limit[T] {
	return decide.Limit[T]{Set: true, Max: v}
}

func TestParse(t *testing.T) {
	for _, test := range []struct {
		text  string
		want  decide.SLO
		canon string
	}{
		{"failover=10s", decide.SLO{Failover: within(10 * time.Second)}, "failover=10s"},
		{"failover<=10s", decide.SLO{Failover: within(10 * time.Second)}, "failover=10s"},
		{" servers <= 3 , failover = 1m0s ", decide.SLO{Failover: within(time.Minute), Servers: within(3)}, "failover=1m,servers<=3"},
		{"overlap=0,fence=yes", decide.SLO{Overlap: within(time.Duration(0)), Fence: decide.Yes}, "overlap=0,fence=yes"},
		{"overlap=0s", decide.SLO{Overlap: within(time.Duration(0))}, "overlap=0"},
		{"fence=NO", decide.SLO{Fence: decide.No}, "fence=no"},
		{"Handover=1.5ms", decide.SLO{Handover: within(1500 * time.Microsecond)}, "handover=1.5ms"},
		{"leaderless=0", decide.SLO{Leaderless: within(time.Duration(0))}, "leaderless=0"},
		{"leaderless=1h30m", decide.SLO{Leaderless: within(90 * time.Minute)}, "leaderless=1h30m"},
		{"leaderless=3600s", decide.SLO{Leaderless: within(time.Hour)}, "leaderless=1h"},
		{"leaderless=3605s", decide.SLO{Leaderless: within(time.Hour + 5*time.Second)}, "leaderless=1h0m5s"},
		{"leaderless=10m", decide.SLO{Leaderless: within(10 * time.Minute)}, "leaderless=10m"},
		{"commands=2.50", decide.SLO{Commands: within(2.5)}, "commands<=2.5"},
		{"loss-of-master=survive", decide.SLO{Survive: decide.Yes}, "loss-of-master=survive"},
		{"loss-of-master=stop", decide.SLO{Survive: decide.No}, "loss-of-master=stop"},
		{
			"loss-of-master=survive,commands<=20,servers<=5,fence=yes,overlap=0,leaderless=5s,handover=100ms,failover=10s",
			decide.SLO{
				Failover: within(10 * time.Second), Handover: within(100 * time.Millisecond), Leaderless: within(5 * time.Second),
				Overlap: within(time.Duration(0)), Fence: decide.Yes, Servers: within(5), Commands: within(20.0), Survive: decide.Yes,
			},
			"failover=10s,handover=100ms,leaderless=5s,overlap=0,fence=yes,servers<=5,commands<=20,loss-of-master=survive",
		},
	} {
		got, err := decide.Parse(test.text)
		if err != nil {
			t.Errorf("Parse(%q): %v", test.text, err)
			continue
		}
		if got != test.want {
			t.Errorf("Parse(%q) = %+v, want %+v", test.text, got, test.want)
		}
		if !got.Asks() {
			t.Errorf("Parse(%q) asks for nothing", test.text)
		}
		if s := got.String(); s != test.canon {
			t.Errorf("Parse(%q).String() = %q, want %q", test.text, s, test.canon)
		}
	}
}

// TestParseRefuses: each refusal names the field, the value and the rule.
func TestParseRefuses(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", `slo: "": must ask for something`},
		{"  ", `slo: "  ": must ask for something`},
		{"failover=10s,", `slo: "": must be a key and a value, such as failover=10s`},
		{",", "must be a key and a value"},
		{"failover", `slo: "failover": must be a key and a value`},
		{"failover=", `slo: failover: "": must have a value, such as 10s`},
		{"failover=10", `slo: failover: "10": must have a unit, such as 10s`},
		{"failover=ten", `slo: failover: "ten": must be a duration`},
		{"failover=1d", "must be a duration"},
		{"failover=10 s", "must be a duration"},
		{"failover=99999999999h", "must be a duration"},
		{"failover=-1s", "must not be negative"},
		{"failover=0", "must be more than 0: nothing takes no time"},
		{"handover=0s", "must be more than 0"},
		{"overlap=-1ms", "must not be negative"},
		{"failover=1s,failover=2s", `slo: failover: "failover=2s": must be given once`},
		{"failover=1s,FAILOVER<=1s", "must be given once"},
		{"failover>=10s", "must be followed by = or <="},
		{"failover<10s", "must be followed by = or <="},
		{"failover==10s", "must be followed by = or <="},
		{"fence<=yes", "is no limit: must be followed by ="},
		{"fence=maybe", `slo: fence: "maybe": must be yes or no`},
		{"loss-of-master=yes", "must be survive or stop"},
		{"servers=0", "must be a whole number from 1 on"},
		{"servers=2.5", "must be a whole number from 1 on"},
		{"servers<=-3", "must be a whole number from 1 on"},
		{"commands=0", "more than 0"},
		{"commands=NaN", "more than 0"},
		{"commands=Inf", "more than 0"},
		{"commands=many", "must be a number"},
		{"=10s", `must be one of failover, handover`},
		{"failver=10s", `slo: failver: "failver=10s": must be one of failover, handover, leaderless, overlap, fence, servers, commands, loss-of-master; failover is nearest`},
		{"over=10s", "; overlap is nearest"},
		{"server<=3", "; servers is nearest"},
		{"loss=survive", "; loss-of-master is nearest"},
		{"colour=red", "commands, loss-of-master"},
		{strings.Repeat("x", 4096) + "=1", "must be one of"},
	} {
		got, err := decide.Parse(test.text)
		if err == nil {
			t.Errorf("Parse(%q) = %+v, want an error with %q", test.text, got, test.want)
			continue
		}
		var field *decide.Error
		if !errors.As(err, &field) {
			t.Errorf("Parse(%q): %v is a %T", test.text, err, err)
		}
		if !strings.Contains(err.Error(), test.want) {
			t.Errorf("Parse(%q): %v, want %q in it", test.text, err, test.want)
		}
		if got.Asks() {
			t.Errorf("Parse(%q) asks for something though it is wrong", test.text)
		}
	}
}

func TestAboutNamesEveryKey(t *testing.T) {
	about := decide.About()
	for _, key := range decide.Keys() {
		if !strings.Contains(about, key) {
			t.Errorf("%s is missing:\n%s", key, about)
		}
	}
	if (decide.SLO{}).String() != "" {
		t.Errorf("an SLO that asks for nothing is %q", decide.SLO{})
	}
}

// FuzzParse: whatever comes in, an error is an *Error, and what is read is written in
// one form that reads as the same.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"failover=10s,overlap=0,fence=yes,servers<=3", "commands<=1e9", "commands=0.1,loss-of-master=stop", "leaderless = 1h2m3s4ms",
		"fence=no,,", "a<=b", "overlap=1ns", "failover=\x00", "=", "<=>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		slo, err := decide.Parse(text)
		if err != nil {
			var field *decide.Error
			if !errors.As(err, &field) || field.Rule == "" {
				t.Fatalf("%q: %v is a %T", text, err, err)
			}
			return
		}
		canon := slo.String()
		again, err := decide.Parse(canon)
		if err != nil || again != slo || again.String() != canon {
			t.Fatalf("%q is %q, which is read as %+v, %v", text, canon, again, err)
		}
	})
}
