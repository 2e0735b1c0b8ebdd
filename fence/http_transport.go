package fence

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"incumbent/election"
)

// Transport is an http.RoundTripper that adds a token to each request, and
// turns the refusal of a Middleware into an error. Several of them, one around
// the other, add the tokens of several elections.
//
// A 409 whose header has a higher token for Election becomes a
// *election.FencedError (which http.Client wraps); all other answers pass
// untouched. Any other error leaves the outcome unknown, as ever with HTTP. net/http
// itself may send a GET again, or a request with an Idempotency-Key.
type Transport struct {
	// Base sends the requests. nil means http.DefaultTransport.
	Base http.RoundTripper
	// Election names whose token it is, as the Middleware has it.
	Election string
	// Token is the term's.
	Token election.Token

	term *election.Term
}

// NewTransport makes a Transport for the requests of one term. It sends nothing
// once the term is no longer valid (*TermOverError), and ends the term when it
// learns that it is fenced; the next term's token is then higher. base nil means
// http.DefaultTransport.
func NewTransport(base http.RoundTripper, electionName string, t *election.Term) *Transport {
	return &Transport{Base: base, Election: electionName, Token: t.Token(), term: t}
}

// TermOverError is a request that was not sent, since its term was over.
type TermOverError struct {
	// Election and Token say which term.
	Election string
	Token    election.Token
	// Loss is why it ended.
	Loss *election.Loss
}

// Error says which term is over, and why.
func (e *TermOverError) Error() string {
	return fmt.Sprintf("election %q: nothing was sent: %v", e.Election, e.Loss)
}

// Unwrap gives the loss.
func (e *TermOverError) Unwrap() error {
	if e.Loss == nil {
		return nil
	}
	return e.Loss
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := t.check(); err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // the error to report is the one above
		}
		return nil, err
	}
	req = req.Clone(req.Context())
	if req.Header == nil {
		req.Header = http.Header{}
	}
	req.Header.Add(Header, FormatToken(t.Election, t.Token))
	base := t.Base
	if base == nil {
		base = http.DefaultTransport
	}
	resp, err := base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	known := higherToken(resp, t.Election, t.Token)
	if known == 0 {
		return resp, nil
	}
	_ = resp.Body.Close() // its header said it all
	if t.term != nil {
		t.term.Fenced(known)
	}
	return nil, &election.FencedError{Resource: resourceOf(req.URL), Token: t.Token, Known: known}
}

// check says why nothing may be sent; nil if it may.
func (t *Transport) check() error {
	if t.Election == "" {
		return errors.New("fence: Transport: Election must not be empty")
	}
	if err := checkValid(fmt.Sprintf("election %q", t.Election), t.Token); err != nil {
		return err
	}
	if t.term != nil && !t.term.Valid() {
		return &TermOverError{t.Election, t.Token, t.term.Loss()}
	}
	return nil
}

// higherToken is what a refusal says is known, for that election; 0 if the
// answer is no refusal of ours.
func higherToken(resp *http.Response, electionName string, t election.Token) election.Token {
	if resp.StatusCode != http.StatusConflict {
		return 0
	}
	tokens, err := ParseTokens(resp.Header)
	if err != nil || tokens[electionName] <= t {
		return 0
	}
	return tokens[electionName]
}

// resourceOf names a URL without what may be secret in it.
func resourceOf(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
