package fence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"incumbent/election"
)

// HTTPGuard is the guard of a service that stands behind a Middleware, as seen
// by its clients: hand it to election.Run.
//
// One request reaches one process. If the service has several and each keeps
// its token in a Memory, raise every one of them by its own address, or keep
// the token where they all see it.
type HTTPGuard struct {
	// URL is where the service has its RaiseHandler.
	URL string
	// Election names whose token it is, as the Middleware has it.
	Election string
	// Client sends the requests; its redirects are not followed. nil means
	// http.DefaultClient.
	Client *http.Client
}

// idempotent tells net/http that it may send a request again on a new
// connection; with an empty list of values nothing of it is sent.
const idempotent = "Idempotency-Key"

// Raise implements Guard. It waits for the answer until ctx ends. Only an answer
// that names the token counts: a proxy may answer for a service that is down.
func (g *HTTPGuard) Raise(ctx context.Context, t election.Token) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.URL, http.NoBody)
	if err != nil {
		return fmt.Errorf("fence: HTTPGuard: URL: %w", withoutURL(err))
	}
	resource := resourceOf(req.URL)
	if g.Election == "" {
		return fmt.Errorf("%s: raise: HTTPGuard.Election must not be empty", resource)
	}
	if err := checkValid(resource, t); err != nil {
		return err
	}
	req.Header.Set(Header, FormatToken(g.Election, t))
	req.Header[idempotent] = nil
	resp, err := g.client().Do(req)
	if err != nil {
		return fmt.Errorf("%s: raise: nothing is certain: %w", resource, withoutURL(err))
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 4<<10) // so that the connection can be used again
	if known := higherToken(resp, g.Election, t); known > 0 {
		return &election.FencedError{Resource: resource, Token: t, Known: known}
	}
	raised, err := ParseTokens(resp.Header)
	if resp.StatusCode != http.StatusNoContent || err != nil || raised[g.Election] != t {
		return fmt.Errorf("%s: raise: nothing is certain: answered %d %s without token %d for election %q: is there a RaiseHandler for it?",
			resource, resp.StatusCode, http.StatusText(resp.StatusCode), t, g.Election)
	}
	return nil
}

// client is a copy that takes a redirect for the answer.
func (g *HTTPGuard) client() *http.Client {
	c := http.Client{}
	if g.Client != nil {
		c = *g.Client
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// withoutURL drops the URL that net/http puts into its errors: it may hold a
// password.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
