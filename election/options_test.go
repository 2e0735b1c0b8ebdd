package election_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/election"
	"incumbent/election/electiontest"
)

// E01: impossible values are refused with field, value and rule; the largest
// and smallest that are possible are taken.
func TestOptionsRules(t *testing.T) {
	long := strings.Repeat("x", 256)
	for _, c := range []struct {
		name  string
		o     election.Options
		field string // "" means valid
		value any
		rule  string
	}{
		{name: "zero value"},
		{name: "longest ID", o: election.Options{ID: long}},
		{"ID too long", election.Options{ID: long + "x"}, "ID", "257 bytes", "at most 256 bytes"},
		{name: "most metadata", o: election.Options{Metadata: map[string]string{"k": strings.Repeat("v", 4095)}}},
		{"metadata too large", election.Options{Metadata: map[string]string{"kk": strings.Repeat("v", 4095)}},
			"Metadata", "4097 bytes", "at most 4096 bytes in all"},
		{name: "least TTL", o: election.Options{TTL: 50 * ms}},
		{"TTL too short", election.Options{TTL: 49 * ms}, "TTL", 49 * ms, "at least 50ms"},
		{"TTL negative", election.Options{TTL: -time.Second}, "TTL", -time.Second, "at least 50ms"},
		{"TTL not whole", election.Options{TTL: time.Second + 1}, "TTL", time.Second + 1, "a whole number of milliseconds"},
		{name: "longest renew", o: election.Options{TTL: ttl, Renew: time.Second}},
		{name: "shortest renew", o: election.Options{Renew: time.Millisecond}},
		{"renew negative", election.Options{Renew: -1}, "Renew", time.Duration(-1), "at least 1ms"},
		{"renew tiny", election.Options{Renew: 1}, "Renew", time.Duration(1), "at least 1ms"},
		{"renew too long", election.Options{TTL: ttl, Renew: time.Second + 1}, "Renew", time.Second + 1,
			"at most TTL/3 = 1s, so that two tries can fail"},
		{"renew too long for the default TTL", election.Options{Renew: 6 * time.Second}, "Renew", 6 * time.Second,
			"at most TTL/3 = 5s, so that two tries can fail"},
		{name: "longest step-down", o: election.Options{TTL: ttl, StepDown: time.Second}},
		{"step-down negative", election.Options{StepDown: -1}, "StepDown", time.Duration(-1), "not negative"},
		{"step-down too long", election.Options{TTL: ttl, StepDown: time.Second + 1}, "StepDown", time.Second + 1,
			"at most TTL/3 = 1s, so that a renewal fits before it"},
		{name: "no grace", o: election.Options{Grace: -1}},
		{name: "least max term", o: election.Options{TTL: ttl, MaxTerm: ttl}},
		{"max term negative", election.Options{MaxTerm: -1}, "MaxTerm", time.Duration(-1), "not negative"},
		{"max term too short", election.Options{TTL: ttl, MaxTerm: ttl - 1}, "MaxTerm", ttl - 1, "at least TTL = 3s"},
		{name: "largest min token", o: election.Options{MinToken: election.MaxToken}},
		{"min token too large", election.Options{MinToken: election.MaxToken + 1}, "MinToken", election.MaxToken + 1, "at most 2^53 - 1"},
	} {
		_, err := election.New(electiontest.NewMemory().Store(), c.o)
		if valid := c.o.Validate(); fmt.Sprint(valid) != fmt.Sprint(err) {
			t.Errorf("%s: New says %v, Validate %v", c.name, err, valid)
		}
		if c.field == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		var oe *election.OptionError
		if !errors.As(err, &oe) || oe.Field != c.field || oe.Value != c.value || oe.Rule != c.rule {
			t.Errorf("%s: %v, want %s: %v: %s", c.name, err, c.field, c.value, c.rule)
			continue
		}
		if want := fmt.Sprintf("election: option %s: %v: %s", c.field, c.value, c.rule); err.Error() != want {
			t.Errorf("%s: text %q, want %q", c.name, err, want)
		}
	}
}

func TestNewNeedsAStore(t *testing.T) {
	_, err := election.New(nil, election.Options{})
	var oe *election.OptionError
	if !errors.As(err, &oe) || oe.Field != "Store" {
		t.Errorf("%v", err)
	}
}

// What zero means, as the documentation says.
func TestOptionsDefaults(t *testing.T) {
	var bids []election.Bid
	s := electiontest.NewMemory().Store()
	h := &hooks{Store: s, acquire: func(ctx context.Context, b election.Bid) (election.Grant, error) {
		bids = append(bids, b)
		return s.Acquire(ctx, b)
	}}
	for range 2 {
		e, err := election.New(h, election.Options{}) // in real time, by the system's clock
		if err != nil {
			t.Fatal(err)
		}
		term, err := e.Campaign(bg)
		if err != nil {
			t.Fatal(err)
		}
		if !term.Valid() || term.Remaining() > 15*time.Second-election.Drift(15*time.Second) {
			t.Errorf("%s remain", term.Remaining())
		}
		if err := e.Close(bg); err != nil {
			t.Fatal(err)
		}
	}
	host, _ := os.Hostname()
	b := bids[0]
	if b.TTL != 15*time.Second || b.Floor != 0 {
		t.Errorf("bid %+v", b)
	}
	if want := fmt.Sprintf("%s-%d", host, os.Getpid()); b.Candidate.ID != want || b.Candidate.Host != host || b.Candidate.PID != os.Getpid() {
		t.Errorf("candidate %+v, want ID %s", b.Candidate, want)
	}
	if bids[0].Candidate.Instance == bids[1].Candidate.Instance || bids[0].Value == bids[1].Value {
		t.Error("two electors drew the same numbers")
	}
	bubble(t, func(t *testing.T) { // Renew is TTL/3, StepDown TTL/10
		m := electiontest.NewMemory()
		c := join(t, m.Store(), "a", func(o *election.Options) { o.TTL, o.Renew = 0, 0 })
		term := lead(t, c)
		pass(5*time.Second - 1)
		if got := m.Calls(electiontest.OpRenew); got != 1 {
			t.Errorf("%d renewals in 5 s", got)
		}
		m.Unreachable(true)
		<-term.Context().Done()
		if got := term.Remaining(); got != 1500*ms {
			t.Errorf("context done %s before the deadline", got)
		}
		synctest.Wait()
	})
}
