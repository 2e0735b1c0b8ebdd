package fence_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"

	"incumbent/election"
	"incumbent/fence"
)

func TestMain(m *testing.M) {
	logging.Disable() // go-redis reports failed dials on stderr, as it should elsewhere
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			println(err.Error())
			code = 1
		}
	}
	os.Exit(code)
}

// wantFenced fails the test unless err says that token was refused for known.
func wantFenced(t *testing.T, err error, token, known election.Token) {
	t.Helper()
	var f *election.FencedError
	if !errors.As(err, &f) || !errors.Is(err, election.ErrFenced) {
		t.Fatalf("got %v, want a refusal of %d by %d", err, token, known)
	}
	if f.Token != token || f.Known != known || f.Resource == "" {
		t.Errorf("got %+v, want a refusal of %d by %d", *f, token, known)
	}
}

// wantNotFenced fails the test unless err is an error other than a refusal.
func wantNotFenced(t *testing.T, err error) {
	t.Helper()
	if err == nil || errors.Is(err, election.ErrFenced) {
		t.Fatalf("got %v, want an error that is no fence", err)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// resource is something guarded that keeps one value.
type resource struct {
	guard fence.Guard
	write func(ctx context.Context, t election.Token, value string) error
	read  func() string
}

// testGap shows what every guard does and does not: between the start of a new
// term and its Raise a stale act passes, afterwards none does (R14).
func testGap(t *testing.T, r resource) {
	t.Helper()
	ctx := t.Context()
	const old, young = 41, 42
	check(t, r.guard.Raise(ctx, old))
	check(t, r.write(ctx, old, "old"))
	// Here term 42 begins, and has not acted yet.
	check(t, r.write(ctx, old, "stale, accepted"))
	check(t, r.guard.Raise(ctx, young))
	wantFenced(t, r.write(ctx, old, "stale"), old, young)
	wantFenced(t, r.guard.Raise(ctx, old), old, young)
	if got := r.read(); got != "stale, accepted" {
		t.Errorf("%q was written, want nothing after the raise", got)
	}
	check(t, r.guard.Raise(ctx, young))
	check(t, r.write(ctx, young, "young"))
	// Without a Raise the first act closes the gap, but not before.
	check(t, r.write(ctx, young+1, "younger"))
	wantFenced(t, r.write(ctx, young, "stale"), young, young+1)
	if got := r.read(); got != "younger" {
		t.Errorf("%q was written", got)
	}
}

// testInvalid: a token that no store issues is refused before anything is done.
func testInvalid(t *testing.T, r resource) {
	t.Helper()
	before := r.read()
	for _, token := range []election.Token{0, election.MaxToken + 1, 1<<64 - 1} {
		for name, err := range map[string]error{
			"Raise": r.guard.Raise(t.Context(), token),
			"write": r.write(t.Context(), token, "invalid"),
		} {
			if wantNotFenced(t, err); !errors.Is(err, fence.ErrInvalidToken) {
				t.Errorf("%s(%d): %v, want ErrInvalidToken", name, token, err)
			}
		}
	}
	if got := r.read(); got != before {
		t.Errorf("%q was written", got)
	}
	check(t, r.write(t.Context(), election.MaxToken-1, "last but one"))
	check(t, r.guard.Raise(t.Context(), election.MaxToken))
	wantFenced(t, r.write(t.Context(), election.MaxToken-1, "stale"), election.MaxToken-1, election.MaxToken)
	check(t, r.write(t.Context(), election.MaxToken, "last"))
}
