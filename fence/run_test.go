package fence_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"

	"incumbent/election"
	"incumbent/election/electiontest"
	"incumbent/fence"
)

// guardsOfAllKinds gives each test a fresh guard that knows the token given.
func guardsOfAllKinds(t *testing.T, known election.Token, f func(t *testing.T, g fence.Guard, write func(context.Context, election.Token) error)) {
	lifted := func(t *testing.T, g fence.Guard) {
		if known > 0 {
			check(t, g.Raise(t.Context(), known))
		}
	}
	t.Run("memory", func(t *testing.T) {
		m := &fence.Memory{}
		lifted(t, m)
		f(t, m, func(ctx context.Context, token election.Token) error {
			return m.Do(ctx, token, func(context.Context) error { return nil })
		})
	})
	t.Run("redis", func(t *testing.T) {
		g := newRedis(t, connect(t, miniredis.RunT(t).Addr()))
		lifted(t, g)
		f(t, g, func(ctx context.Context, token election.Token) error { return g.Set(ctx, token, "k", "v", 0) })
	})
	t.Run("http", func(t *testing.T) {
		m := &fence.Memory{}
		mw, err := fence.NewMiddleware(map[string]fence.Acts{"jobs": m}, fence.MiddlewareOptions{})
		check(t, err)
		lifted(t, m)
		mux := http.NewServeMux()
		mux.Handle("/fence", mw.RaiseHandler())
		mux.Handle("/", mw.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
		s := serve(t, mux)
		f(t, &fence.HTTPGuard{URL: s.URL + "/fence", Election: "jobs", Client: s.Client()},
			func(ctx context.Context, token election.Token) error {
				tr := &fence.Transport{Base: s.Client().Transport, Election: "jobs", Token: token}
				req, err := http.NewRequestWithContext(ctx, "GET", s.URL, nil)
				check(t, err)
				resp, err := (&http.Client{Transport: tr}).Do(req)
				if err == nil {
					resp.Body.Close()
				}
				return err
			})
	})
}

// Run raises before the work: what it finds at its start, stale acts are refused.
func TestRunRaisesBeforeTheWork(t *testing.T) {
	guardsOfAllKinds(t, 0, func(t *testing.T, g fence.Guard, write func(context.Context, election.Token) error) {
		store := electiontest.NewMemory()
		for range 3 {
			store.StealBy("earlier")
		}
		store.Free()
		e := store.Elector(quiet("me"))
		defer closeAt(t, e)
		check(t, write(t.Context(), 3)) // the gap: term 3 is over, and nobody has said so here
		err := election.Run(t.Context(), e, func(ctx context.Context, term *election.Term) error {
			wantFenced(t, write(ctx, 3), 3, term.Token())
			return write(ctx, term.Token())
		}, g)
		check(t, err)
	})
}

// The resource knows far more than the store, which was restored from an old
// copy: the first term is fenced before its work starts, the second is above.
func TestRunWithAResourceAheadOfTheStore(t *testing.T) {
	const known = 1_000_000
	guardsOfAllKinds(t, known, func(t *testing.T, g fence.Guard, write func(context.Context, election.Token) error) {
		store := electiontest.NewMemory()
		lost := make(chan string, 10)
		o := quiet("me")
		o.Observer = func(ev election.Event) {
			if l := (*election.Loss)(nil); ev.Kind == election.TermEnded && errors.As(ev.Err, &l) {
				lost <- l.Word()
			}
		}
		e := store.Elector(o)
		var worked []election.Token
		check(t, election.Run(t.Context(), e, func(ctx context.Context, term *election.Term) error {
			worked = append(worked, term.Token())
			return write(ctx, term.Token())
		}, g))
		closeAt(t, e)
		if !slices.Equal(worked, []election.Token{known + 1}) {
			t.Errorf("worked with tokens %v, want %d alone", worked, known+1)
		}
		if word := <-lost; word != "fenced" {
			t.Errorf("the first term ended as %s", word)
		}
		if n := store.Calls(electiontest.OpAcquire); n != 2 {
			t.Errorf("%d bids, want 2", n)
		}
	})
}

// A leader that is fenced at work ends with that reason, and the next term's
// token is higher than what the resource has seen.
func TestRunIsFencedAtWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, store := &fence.Memory{}, electiontest.NewMemory()
		e := store.Elector(quiet("me"))
		defer closeAt(t, e)
		var worked []election.Token
		var first *election.Term
		check(t, election.Run(t.Context(), e, func(ctx context.Context, term *election.Term) error {
			worked = append(worked, term.Token())
			if first == nil {
				first = term
				check(t, m.Raise(ctx, 77)) // by a leader of the same resource, whom this store does not know
			}
			return m.Do(ctx, term.Token(), func(context.Context) error { return nil })
		}, m))
		if loss := first.Loss(); loss == nil || loss.Word() != "fenced" || !errors.Is(context.Cause(first.Context()), election.ErrFenced) {
			t.Errorf("the first term ended with %v", loss)
		}
		if !slices.Equal(worked, []election.Token{1, 78}) || m.Known() != 78 {
			t.Errorf("worked with tokens %v, %d is known", worked, m.Known())
		}
	})
}

// A leader that was paused in the middle of its work: its successor waits for no
// more than what is under way, and then nothing stale gets through.
func TestRunAfterAPausedLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, store := &fence.Memory{}, electiontest.NewMemory()
		old, young := store.Elector(quiet("old")), store.Elector(quiet("young"))
		defer closeAt(t, young)
		term := lead(t, old)
		act := begin(t.Context(), m, term.Token()) // paused inside of its act
		store.StealBy("thief")
		store.Free()
		started, ended := make(chan election.Token), make(chan error)
		go func() {
			ended <- election.Run(t.Context(), young, func(_ context.Context, term *election.Term) error {
				started <- term.Token()
				return nil
			}, m)
		}()
		time.Sleep(2 * time.Second)
		select {
		case <-started:
			t.Fatal("work started while a stale act was under way")
		default:
		}
		wantFenced(t, m.Do(t.Context(), term.Token(), func(context.Context) error { return nil }), term.Token(), m.Known())
		act.finish(t)
		if token := <-started; token != m.Known() {
			t.Errorf("started with %d, %d is known", token, m.Known())
		}
		check(t, <-ended)
		closeAt(t, old)
	})
}
