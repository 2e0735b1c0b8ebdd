package election_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"incumbent/election"
)

func TestPermanent(t *testing.T) {
	master := func(kind error) error { return &election.MasterError{Master: "m1", Op: "acquire", Kind: kind} }
	for err, want := range map[error]bool{
		nil:                                 false,
		errors.New("odd"):                   false,
		election.ErrUnreachable:             false,
		master(election.ErrLoading):         false,
		master(election.ErrNoPermission):    false,
		&election.HeldError{}:               false,
		election.ErrCrossSlot:               true,
		master(election.ErrWrongClient):     true,
		master(election.ErrScriptsDisabled): true,
		fmt.Errorf("at start: %w", master(election.ErrServerTooOld)): true,
		outvoted{master(election.ErrServerTooOld)}:                   false,
		fmt.Errorf("round: %w", outvoted{election.ErrCrossSlot}):     false,
		decided{errors.New("all of them")}:                           true,
	} {
		if got := election.Permanent(err); got != want {
			t.Errorf("Permanent(%v) = %v", err, got)
		}
	}
}

// outvoted and decided know better than the errors inside of them.
type outvoted struct{ error }

func (outvoted) Permanent() bool { return false }
func (o outvoted) Unwrap() error { return o.error }

type decided struct{ error }

func (decided) Permanent() bool { return true }

func TestLossWords(t *testing.T) {
	for reason, word := range map[error]string{
		election.ErrTaken: "taken", election.ErrExpired: "expired", election.ErrLostContact: "unreachable",
		election.ErrRefused: "refused", election.ErrResigned: "resigned", election.ErrFenced: "fenced",
		election.ErrUnhealthy: "unhealthy", election.ErrMaxTerm: "max-term",
	} {
		l := &election.Loss{Token: 7, Reason: reason}
		if l.Word() != word {
			t.Errorf("%v is %q, want %q", reason, l.Word(), word)
		}
		if want := "term 7 ended: " + reason.Error(); l.Error() != want {
			t.Errorf("text %q, want %q", l, want)
		}
		wantIs(t, l, reason)
		detailed := &election.Loss{Token: 7, Reason: reason, Err: errWork}
		if want := fmt.Sprintf("term 7 ended: %v: work failed", reason); detailed.Error() != want {
			t.Errorf("text %q, want %q", detailed, want)
		}
		wantIs(t, detailed, reason, errWork)
		if same := (&election.Loss{Token: 7, Reason: reason, Err: reason}); same.Error() != l.Error() {
			t.Errorf("text %q repeats itself", same)
		}
	}
}

func TestErrorTexts(t *testing.T) {
	refused := errors.New("connection refused")
	for _, c := range []struct {
		err  error
		text string
		is   []error
	}{
		{&election.HeldError{Holder: election.Leader{Candidate: election.Candidate{ID: "a"}, Token: 3}, Left: time.Second},
			`held by "a" (token 3) for another 1s`, []error{election.ErrNotAcquired}},
		{&election.HeldError{Left: time.Second}, `held by "unknown" (token 0) for another 1s`, []error{election.ErrNotAcquired}},
		{&election.RegressedError{Offered: 2, Known: 5},
			"fencing token would go back: offered 2, known 5 (the next bid asks for more; MinToken does so from the start)",
			[]error{election.ErrTokenRegressed}},
		{&election.TakenError{By: election.Leader{Candidate: election.Candidate{ID: "b"}, Token: 4}},
			`lease taken by "b" (token 4)`, []error{election.ErrTaken}},
		{&election.MasterError{Master: "10.0.0.1:6379", Op: "renew", Kind: election.ErrUnreachable, Err: refused, Remedy: "start it"},
			"master 10.0.0.1:6379: renew: unreachable: connection refused (start it)", []error{election.ErrUnreachable, refused}},
		{&election.MasterError{Master: "m", Op: "seal", Kind: election.ErrBusy, Err: election.ErrBusy}, "master m: seal: busy", []error{election.ErrBusy}},
		{&election.MasterError{Master: "m", Op: "seal", Kind: election.ErrBusy}, "master m: seal: busy", []error{election.ErrBusy}},
	} {
		if c.err.Error() != c.text {
			t.Errorf("text %q, want %q", c.err, c.text)
		}
		wantIs(t, c.err, c.is...)
	}
	for _, err := range []error{&election.HeldError{}, &election.RegressedError{}, &election.TakenError{}} {
		for _, other := range []error{election.ErrClosed, election.ErrExpired, election.ErrUnreachable} {
			if errors.Is(err, other) {
				t.Errorf("%v matches %v", err, other)
			}
		}
	}
}

// What a hostile server answers must not reach a terminal as it is.
func TestMasterErrorIsHarmless(t *testing.T) {
	err := &election.MasterError{Master: "a:1", Op: "inspect", Kind: election.ErrRejected, Err: errors.New("ERR \x1b[2J\x1b]0;gone\x07 \u202efoo \u00e9\nnext")}
	const want = "master a:1: inspect: rejected: ERR ?[2J?]0;gone? ?foo \u00e9\nnext"
	if got := err.Error(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
