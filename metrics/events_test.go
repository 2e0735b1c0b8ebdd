package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/election"
	"incumbent/election/electiontest"
	"incumbent/metrics"
)

func masterError(kind error) error {
	return &election.MasterError{Master: "redis-a:6379", Op: "renew", Kind: kind}
}

// What events add to which series.
func TestEventsAreCounted(t *testing.T) {
	lossOf := func(reason error) error { return &election.Loss{Token: 7, Reason: reason} }
	tests := map[string]struct {
		kind election.EventKind
		err  error
		want string
	}{
		"held":                  {election.BidRefused, &election.HeldError{}, "bids_total{outcome=held}"},
		"guarded":               {election.BidRefused, &election.GuardError{Guards: election.ClockGuard}, "bids_total{outcome=guarded}"},
		"contended":             {election.BidRefused, election.ErrContended, "bids_total{outcome=contended}"},
		"late grant":            {election.BidRefused, fmt.Errorf("%w: 4 s", election.ErrTooSlow), "bids_total{outcome=too-slow}"},
		"token back":            {election.BidRefused, &election.RegressedError{}, "bids_total{outcome=token-regressed}"},
		"bid failed":            {election.BidRefused, masterError(election.ErrUnreachable), "bids_total{outcome=failed}"},
		"renewal unanswered":    {election.RenewFailed, masterError(election.ErrUnreachable), "renew_errors_total{kind=unreachable}"},
		"renewal timed out":     {election.RenewFailed, context.DeadlineExceeded, "renew_errors_total{kind=unreachable}"},
		"renewal late":          {election.RenewFailed, election.ErrTooSlow, "renew_errors_total{kind=too-slow}"},
		"renewal denied":        {election.RenewFailed, masterError(election.ErrNoPermission), "renew_errors_total{kind=no-permission}"},
		"renewal at replica":    {election.RenewFailed, masterError(election.ErrReadOnly), "renew_errors_total{kind=read-only}"},
		"renewal odd":           {election.RenewFailed, errors.New("odd"), "renew_errors_total{kind=other}"},
		"several masters":       {election.RenewFailed, errors.Join(masterError(election.ErrUnreachable), masterError(election.ErrAuth)), "renew_errors_total{kind=auth}"},
		"taken":                 {election.TermEnded, lossOf(election.ErrTaken), "losses_total{reason=taken}"},
		"fenced":                {election.TermEnded, lossOf(election.ErrFenced), "losses_total{reason=fenced}"},
		"asked to hand over":    {election.TermEnded, &election.Loss{Reason: election.ErrResigned, Err: &election.AskedError{}}, "losses_total{reason=resigned}"},
		"maximum term":          {election.TermEnded, lossOf(election.ErrMaxTerm), "losses_total{reason=max-term}"},
		"a renewal that counts": {election.Renewed, nil, "renew_duration_seconds_count"},
	}
	for what, test := range tests {
		t.Run(what, func(t *testing.T) {
			c := newCollector(t)
			before := scrape(t, c)
			c.Observe(election.Event{Kind: test.kind, Err: test.err, At: time.Now()})
			after := scrape(t, c)
			if _, ok := before["incumbent_"+test.want]; !ok {
				t.Fatalf("%s is not there from the start", test.want)
			}
			for series, v := range after {
				want := before[series]
				if series == "incumbent_"+test.want || series == "incumbent_renew_lag_seconds_count" && test.kind == election.Renewed {
					want++
				}
				if v != want && !strings.Contains(series, "guard") {
					t.Errorf("%s is %v, not %v", series, v, want)
				}
			}
		})
	}
}

// Package election has no list of its reasons; so the test reads its source.
func TestEveryReasonOfALossIsThere(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../election/errors.go", nil, 0)
	noErr(t, err)
	var words []string
	for _, d := range file.Decls {
		ast.Inspect(d, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok || v.Names[0].Name != "words" {
				return true
			}
			ast.Inspect(v, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					w, err := strconv.Unquote(lit.Value)
					noErr(t, err)
					words = append(words, w)
				}
				return true
			})
			return false
		})
	}
	if len(words) < 8 {
		t.Fatalf("found only %q", words)
	}
	got := scrape(t, newCollector(t))
	for _, w := range words {
		if _, ok := got["incumbent_losses_total{reason="+w+"}"]; !ok {
			t.Errorf("no series for reason %q", w)
		}
	}
}

// A wait for guards counts once for each guard of a campaign, and shows how long it
// has lasted and will; when the campaign is given up, of which no event tells, it ends.
func TestGuardWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCollector(t)
		wait := func(g election.StoreGuards, left time.Duration) {
			c.Observe(election.Event{Kind: election.BidRefused, At: time.Now(), Err: &election.GuardError{Guards: g, Left: left}})
		}
		c.Observe(election.Event{Kind: election.CampaignStarted, At: time.Now()})
		wait(election.RestartGuard, 5*time.Second)
		pass(2 * time.Second)
		scrape(t, c).want(t, map[string]float64{"guard_waited_seconds": 2, "guard_remaining_seconds": 3})
		wait(election.RestartGuard|election.ClockGuard, 4*time.Second)
		pass(time.Second)
		scrape(t, c).want(t, map[string]float64{
			"guard_waited_seconds": 3, "guard_remaining_seconds": 3,
			"guard_waits_total{guard=restart}": 1, "guard_waits_total{guard=clock}": 1, "guard_waits_total{guard=no-record}": 0,
		})
		pass(2*ttl - time.Second)
		scrape(t, c).want(t, map[string]float64{"guard_waited_seconds": 8, "guard_remaining_seconds": 0})
		pass(time.Nanosecond)
		scrape(t, c).want(t, map[string]float64{"guard_waited_seconds": 0, "guard_remaining_seconds": 0})

		wait(election.ClockGuard, time.Second)
		c.Observe(election.Event{Kind: election.BidRefused, At: time.Now(), Err: &election.HeldError{}})
		scrape(t, c).want(t, map[string]float64{"guard_waited_seconds": 0, "guard_remaining_seconds": 0})
		wait(election.ClockGuard, time.Second)
		scrape(t, c).want(t, map[string]float64{"guard_waits_total{guard=restart}": 1, "guard_waits_total{guard=clock}": 2})
	})
}

// Work that ignores its context shows while it overruns, and is counted afterwards.
func TestWorkOverrun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, c := electiontest.NewMemory(), newCollector(t)
		e := watched(m, c, "me")
		ctx, cancel := contextOf(t)
		obey := make(chan struct{})
		done := make(chan error)
		go func() {
			done <- election.Run(ctx, e, func(ctx context.Context, _ *election.Term) error {
				select {
				case <-obey:
				case <-time.After(10 * ttl):
				}
				return ctx.Err()
			})
		}()
		pass(ttl)
		scrape(t, c).want(t, map[string]float64{"work_running": 1, "work_overrun_current_seconds": 0})
		term := m.StealBy("thief")
		pass(ttl / 3) // it is told with the next renewal
		first := scrape(t, c)
		pass(time.Second)
		second := scrape(t, c)
		first.want(t, map[string]float64{"work_running": 1, "is_leader": 0, "losses_total{reason=taken}": 1})
		const series = "incumbent_work_overrun_current_seconds"
		if grown := second[series] - first[series]; first[series] <= 0 || grown < 0.999 || grown > 1.001 {
			t.Errorf("the overrun went from %v to %v within a second (term %d)", first[series], second[series], term)
		}
		close(obey)
		synctest.Wait()
		over := scrape(t, c)
		over.want(t, map[string]float64{"work_running": 0, "work_overrun_current_seconds": 0, "work_overrun_seconds_count": 1})
		if got := over["incumbent_work_overrun_seconds_sum"]; got != second[series] {
			t.Errorf("an overrun of %v s was counted as %v", second[series], got)
		}
		cancel()
		noErr(t, <-done)
		closeAll(t, e)
	})
}

// Commands count for the role at the time at which they were sent, as nearly as events
// tell it, whenever somebody scrapes.
func TestCommandsByRole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := electiontest.NewMemory()
		sent := uint64(1000) // before the collector: not its concern
		c := newCollector(t, func(o *metrics.Options) { o.Commands = func() uint64 { return sent } })
		e := watched(m, c, "me")
		sent += 10
		term, err := e.Campaign(t.Context())
		noErr(t, err)
		synctest.Wait()
		sent += 100
		noErr(t, term.Resign(t.Context()))
		synctest.Wait()
		sent += 1
		scrape(t, c).want(t, map[string]float64{"store_commands_total{role=standby}": 11, "store_commands_total{role=leader}": 100})
		scrape(t, c).want(t, map[string]float64{"store_commands_total{role=standby}": 11, "store_commands_total{role=leader}": 100})
		closeAll(t, e)
	})
}

// refusing is a guard that knows a token.
type refusing election.Token

func (r refusing) Raise(_ context.Context, t election.Token) error {
	if t < election.Token(r) {
		return &election.FencedError{Resource: "table", Token: t, Known: election.Token(r)}
	}
	return nil
}

func (r refusing) Do(ctx context.Context, t election.Token, act func(context.Context) error) error {
	if err := r.Raise(ctx, t); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return act(ctx)
}

// Refused acts are counted where they are refused, and pass through unchanged.
func TestFencedActs(t *testing.T) {
	c := newCollector(t)
	acts := c.Acts(refusing(5))
	nothing := func(context.Context) error { return nil }
	plain := errors.New("plain")
	for _, test := range []struct {
		err    error
		fenced bool
	}{
		{acts.Do(t.Context(), 4, nothing), true},
		{acts.Do(t.Context(), 5, nothing), false},
		{acts.Raise(t.Context(), 3), true},
		{c.Guard(refusing(5)).Raise(t.Context(), 2), true},
		{c.Guard(refusing(5)).Raise(t.Context(), 6), false},
		{c.Fenced(errors.Join(plain, &election.FencedError{Token: 1, Known: 2})), true},
		{c.Fenced(nil), false},
	} {
		if errors.Is(test.err, election.ErrFenced) != test.fenced {
			t.Errorf("%v came back", test.err)
		}
	}
	if err := c.Fenced(plain); !errors.Is(err, plain) {
		t.Errorf("%v came back", err)
	}
	scrape(t, c).want(t, map[string]float64{"fenced_acts_total{op=act}": 2, "fenced_acts_total{op=raise}": 2})
}
