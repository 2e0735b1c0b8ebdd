package fence

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"incumbent/election"
)

// Acts is a guard whose acts are Go functions, such as *Memory. One that is kept
// by a database can be made: Do begins a transaction, compares and lifts the
// token in it, puts the transaction into the context, calls act and commits.
type Acts interface {
	election.Guard
	// Do calls act, once, if no token higher than t is known, and lifts the known
	// one to t before. A Raise of a higher token waits until act has returned, or
	// makes what it did without effect. The error is a *election.FencedError if a
	// higher token is known; act was then not called.
	Do(ctx context.Context, t election.Token, act func(context.Context) error) error
}

// MiddlewareOptions of a Middleware. The zero value is the strictest.
type MiddlewareOptions struct {
	// Tokenless says which requests may come without a token; they pass without
	// any comparison. nil means none; Reads means those that only read. A request
	// that carries a token is compared all the same.
	Tokenless func(*http.Request) bool
}

// Reads reports whether a request only reads, by its method: GET, HEAD or
// OPTIONS.
func Reads(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions
}

// Middleware lets HTTP requests through in the order of their tokens, one
// comparison for each election that it guards. It does not ask who sends a
// token: put authentication around it, since one forged request with a huge
// token would lock every leader out.
type Middleware struct {
	gates     []gate
	tokenless func(*http.Request) bool
}

// gate is one election and what guards it.
type gate struct {
	election string
	acts     Acts
}

// NewMiddleware guards requests by election name. A request must then carry a
// token for each of these elections; tokens of others are not looked at.
func NewMiddleware(guards map[string]Acts, o MiddlewareOptions) (*Middleware, error) {
	if len(guards) == 0 {
		return nil, errors.New("fence: NewMiddleware: guards: empty: must name at least one election")
	}
	m := &Middleware{tokenless: o.Tokenless}
	// In the same order for each request: two that each hold one guard and wait
	// for the other's would never end.
	for _, name := range slices.Sorted(maps.Keys(guards)) {
		if name == "" || guards[name] == nil {
			return nil, fmt.Errorf("fence: NewMiddleware: guards[%q]: must have a name and not be nil", name)
		}
		m.gates = append(m.gates, gate{name, guards[name]})
	}
	return m, nil
}

// Wrap guards next, which runs as an act under the request's tokens: Acts.Do
// calls it, its context is the act's, and a Raise waits for it. It finds the
// tokens with TokenFromContext. What next leaves running after it has returned
// is not guarded; so http.TimeoutHandler belongs around Wrap, never inside. A
// handler that waits for a slow client keeps a Raise waiting as long: set the
// server's ReadTimeout and WriteTimeout.
//
// Instead of calling next it answers, with a line of JSON:
//
//   - 428 Precondition Required: no token for one of the elections;
//   - 400 Bad Request, 431 Request Header Fields Too Large: the header cannot be
//     read, or gives one election two tokens;
//   - 409 Conflict: a higher token is known. The header of the answer has it;
//   - 503 Service Unavailable: the guard could not tell, for example since acts
//     of a lower token did not end before the request did.
//
// If a guard fails after next has returned, the answer is cut off, so that the
// client does not take it for a success (http.ErrAbortHandler).
func (m *Middleware) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		gates, tokens, missing, err := m.match(r)
		switch {
		case err != nil:
			refuse(w, headerStatus(err), refusal{Reason: err.Error()})
			return
		case missing != "" && (m.tokenless == nil || !m.tokenless(r)):
			refuse(w, http.StatusPreconditionRequired, refusal{Reason: "no token for this election", Election: missing})
			return
		}
		p := &passage{gates: gates, tokens: tokens, act: func(ctx context.Context) {
			next.ServeHTTP(w, r.WithContext(ctx))
		}}
		if err := p.enter(r.Context(), 0); err != nil {
			if p.acted {
				panic(http.ErrAbortHandler)
			}
			refuseEntry(w, p.at, tokens[p.at], err)
		}
	})
}

// match finds which gates a request has tokens for, and one that it lacks.
func (m *Middleware) match(r *http.Request) (gates []gate, tokens map[string]election.Token, missing string, err error) {
	sent, err := ParseTokens(r.Header)
	if err != nil {
		return nil, nil, "", err
	}
	tokens = map[string]election.Token{}
	for _, g := range m.gates {
		if t, ok := sent[g.election]; ok {
			gates, tokens[g.election] = append(gates, g), t
		} else if missing == "" {
			missing = g.election
		}
	}
	return gates, tokens, missing, nil
}

// passage is one request on its way through the gates.
type passage struct {
	gates  []gate
	tokens map[string]election.Token
	act    func(context.Context)
	at     string // the election whose guard said no first
	acted  bool
}

var errNotCalled = errors.New("the guard did not call the act")

// enter passes gate i and those after it, then acts.
func (p *passage) enter(ctx context.Context, i int) error {
	if i == len(p.gates) {
		p.acted = true
		p.act(context.WithValue(ctx, tokensKey{}, p.tokens))
		return nil
	}
	g, inner := p.gates[i], errNotCalled
	err := g.acts.Do(ctx, p.tokens[g.election], func(ctx context.Context) error {
		inner = p.enter(ctx, i+1)
		return inner
	})
	if err == nil {
		err = inner // a guard that drops it, or called nothing, does not make it a success
	}
	if err != nil && p.at == "" {
		p.at = g.election
	}
	return err
}

type tokensKey struct{}

// TokenFromContext is the token under which a handler behind a Middleware acts,
// to hand on to other guards. ok is false where none was compared.
func TokenFromContext(ctx context.Context, electionName string) (t election.Token, ok bool) {
	tokens, _ := ctx.Value(tokensKey{}).(map[string]election.Token)
	t, ok = tokens[electionName]
	return t, ok
}

// RaiseHandler lifts tokens and does nothing else: what HTTPGuard asks for
// before a leader's work starts. It takes POST with the header, for one or more
// of the guarded elections, waits for acts of lower tokens that are under way,
// and answers 204 No Content with the header of what was raised; else as Wrap
// does.
func (m *Middleware) RaiseHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			refuse(w, http.StatusMethodNotAllowed, refusal{Reason: "must be POST"})
			return
		}
		gates, tokens, _, err := m.match(r)
		switch {
		case err != nil:
			refuse(w, headerStatus(err), refusal{Reason: err.Error()})
			return
		case len(gates) == 0:
			refuse(w, http.StatusPreconditionRequired, refusal{Reason: "no token for an election that is guarded here"})
			return
		}
		for _, g := range gates {
			if err := g.acts.Raise(r.Context(), tokens[g.election]); err != nil {
				refuseEntry(w, g.election, tokens[g.election], err)
				return
			}
		}
		for _, g := range gates {
			w.Header().Add(Header, FormatToken(g.election, tokens[g.election]))
		}
		w.WriteHeader(http.StatusNoContent)
	})
}
