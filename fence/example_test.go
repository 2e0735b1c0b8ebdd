package fence_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/election/electiontest"
	"incumbent/fence"
)

// newElector stands for single.New or quorum.New with election.New.
func newElector() election.Elector {
	return electiontest.NewMemory().Elector(election.Options{ID: "me", Logger: slog.New(slog.DiscardHandler)})
}

func ExampleMemory() {
	ctx, e := context.Background(), newElector()
	defer e.Close(ctx)

	var ledger fence.Memory
	err := election.Run(ctx, e, func(ctx context.Context, t *election.Term) error {
		return ledger.Do(ctx, t.Token(), func(context.Context) error {
			fmt.Println("posting")
			return nil
		})
	}, &ledger)
	fmt.Println(err)

	err = ledger.Raise(ctx, 7) // a later term
	fmt.Println(err)
	err = ledger.Do(ctx, 1, func(context.Context) error { return nil }) // an act that was late
	fmt.Println(err)
	// Output:
	// posting
	// <nil>
	// <nil>
	// memory: fenced by a higher token: 1 is refused, 7 is known
}

func ExampleRedis() {
	ctx, e := context.Background(), newElector()
	defer e.Close(ctx)
	server, err := miniredis.Run() // stands for the Redis with the data
	if err != nil {
		panic(err)
	}
	defer server.Close()
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), ContextTimeoutEnabled: true})
	defer client.Close()

	guard, err := fence.NewRedis(client, "{billing}:fence")
	if err != nil {
		panic(err)
	}
	charge := fence.NewScript(`
		redis.call('RPUSH', KEYS[1], ARGV[1])
		return redis.call('LLEN', KEYS[1])`)
	err = election.Run(ctx, e, func(ctx context.Context, t *election.Term) error {
		if err := guard.Set(ctx, t.Token(), "{billing}:run", "2024-05", 0); err != nil {
			return err
		}
		n, err := guard.Do(ctx, t.Token(), charge, []string{"{billing}:charges"}, "invoice 17")
		fmt.Println("charges:", n)
		return err
	}, guard)
	fmt.Println(err)
	// Output:
	// charges: 1
	// <nil>
}

// A service that takes requests only in the order of their tokens, and a leader
// that is its client.
func ExampleMiddleware() {
	var guard fence.Memory
	m, err := fence.NewMiddleware(map[string]fence.Acts{"bridge-health": &guard}, fence.MiddlewareOptions{Tokenless: fence.Reads})
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/fence", m.RaiseHandler())
	mux.Handle("/bridges/", m.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t, _ := fence.TokenFromContext(r.Context(), "bridge-health")
		fmt.Fprintf(w, "%s by term %d", r.Method, t)
	})))
	service := httptest.NewServer(mux) // put authentication around mux
	defer service.Close()

	ctx, e := context.Background(), newElector()
	defer e.Close(ctx)
	err = election.Run(ctx, e, func(ctx context.Context, t *election.Term) error {
		c := http.Client{Transport: fence.NewTransport(nil, "bridge-health", t)}
		req, err := http.NewRequestWithContext(ctx, http.MethodPut, service.URL+"/bridges/7", nil)
		if err != nil {
			return err
		}
		resp, err := c.Do(req)
		if err != nil {
			return err // a *election.FencedError ends the term; Run campaigns again
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		fmt.Println(resp.StatusCode, string(text))
		return err
	}, &fence.HTTPGuard{URL: service.URL + "/fence", Election: "bridge-health"})
	fmt.Println(err)
	http.DefaultClient.CloseIdleConnections()
	// Output:
	// 200 PUT by term 1
	// <nil>
}

func ExampleTransport() {
	var guard fence.Memory
	m, err := fence.NewMiddleware(map[string]fence.Acts{"bridge-health": &guard}, fence.MiddlewareOptions{})
	if err != nil {
		panic(err)
	}
	service := httptest.NewServer(m.Wrap(http.NotFoundHandler()))
	defer service.Close()
	defer http.DefaultClient.CloseIdleConnections()

	for _, token := range []election.Token{41, 42, 41} {
		c := http.Client{Transport: &fence.Transport{Election: "bridge-health", Token: token}}
		resp, err := c.Get(service.URL)
		if err != nil {
			fmt.Println(token, "is refused:", guard.Known(), "is known")
			continue
		}
		resp.Body.Close()
		fmt.Println(token, "is let in")
	}
	// Output:
	// 41 is let in
	// 42 is let in
	// 41 is refused: 42 is known
}
