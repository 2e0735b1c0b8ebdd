package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"incumbent/compare/lab/remote"
	"incumbent/election"
)

// resignReport is what became of a request to hand over. --json writes it.
type resignReport struct {
	Election string `json:"election"`
	// Result is handed-over, leads-already (whom --to names, so nobody was asked), asked (it
	// was not waited for), same-candidate, other-candidate (than --to), not-in-time,
	// nobody-leads, two, unknown, misfit, or failed.
	Result string `json:"result"`
	To     string `json:"to,omitempty"`
	// Asked is who led and was asked, Leader who leads now; null where nobody is, or it is
	// not known.
	Asked  *statusHolder `json:"asked"`
	Leader *statusHolder `json:"leader"`
	// TookMS is the time from the request to the look that found the next leader.
	TookMS int64 `json:"took_ms,omitempty"`
	// Alone says that nobody was listening for a release when the leader was asked.
	Alone bool   `json:"alone,omitempty"`
	Error string `json:"error,omitempty"`

	last *statusReport // of the latest look, while it was waited
}

// unasked: there is nobody to ask.
func (r *resignReport) unasked(s *statusReport) *resignReport {
	r.Result, r.Error = s.Result, s.Text
	if s.Result == nobody {
		r.Result = "nobody-leads"
	}
	return r
}

// failed: the request did not get through.
func (r *resignReport) failed(err error) *resignReport {
	r.Result, r.Error = "failed", oneLine(err)
	switch {
	case errors.Is(err, election.ErrNoLeader):
		r.Result = "nobody-leads"
	case !errors.Is(err, election.ErrTaken) && !remote.Passing(err):
		r.Result = misfit
	}
	return r
}

// handed: another term leads.
func (r *resignReport) handed(l *statusHolder, took time.Duration) {
	r.Leader, r.TookMS = l, took.Milliseconds()
	switch {
	case l.Instance == r.Asked.Instance && l.ID == r.Asked.ID:
		r.Result = "same-candidate"
	case r.To != "" && l.ID != r.To:
		r.Result = "other-candidate"
	default:
		r.Result = "handed-over"
	}
}

// late: no other term has been seen in time.
func (r *resignReport) late() {
	r.Result = "not-in-time"
	if r.last != nil {
		r.Leader, r.Error = r.last.Leader, r.last.Text
	}
}

// code is the exit code.
func (r *resignReport) code() int {
	switch r.Result {
	case "handed-over", "leads-already", "asked":
		return exitOK
	case "nobody-leads":
		return exitNobody
	case misfit:
		return exitUsage
	}
	return exitFailed
}

// print writes what became of it: as asked to stdout, anything else to stderr.
func (r *resignReport) print(stdout, stderr io.Writer) error {
	if r.Alone && (r.Result == "asked" || r.Result == "handed-over") {
		_, _ = fmt.Fprintln(stderr, "incumbent: resign: warning: nobody was listening for a release: there may be no standby")
	}
	if r.code() == exitOK {
		_, err := fmt.Fprintln(stdout, r.text())
		return err
	}
	_, err := fmt.Fprintf(stderr, "incumbent: resign: %s\n", r.text())
	return err
}

// text is what became of it, in a line.
func (r *resignReport) text() string {
	switch r.Result {
	case "asked":
		return fmt.Sprintf("%s was asked to hand over, token %d", called(r.Asked.ID), r.Asked.Token)
	case "leads-already":
		return fmt.Sprintf("%s leads already, token %d: nobody was asked", called(r.Leader.ID), r.Leader.Token)
	case "handed-over":
		return fmt.Sprintf("%s handed over to %s, token %d, after %d ms", called(r.Asked.ID), called(r.Leader.ID), r.Leader.Token, r.TookMS)
	case "same-candidate":
		return fmt.Sprintf("%s resigned and leads again, token %d, after %d ms: %s", called(r.Asked.ID), r.Leader.Token, r.TookMS, r.why())
	case "other-candidate":
		return fmt.Sprintf("%s handed over, but to %s, token %d, after %d ms: %s did not come in time",
			called(r.Asked.ID), called(r.Leader.ID), r.Leader.Token, r.TookMS, called(r.To))
	case "not-in-time":
		return fmt.Sprintf("%s was asked, and no other term leads in time: %s", called(r.Asked.ID), r.Error)
	}
	return r.Error
}

// why the same candidate leads again.
func (r *resignReport) why() string {
	switch {
	case r.To != "" && r.Alone:
		return called(r.To) + " did not come in time, and nobody else was listening for a release"
	case r.To != "":
		return called(r.To) + " did not come in time, nor did another candidate"
	case r.Alone:
		return "nobody else was listening for a release"
	}
	return "no other candidate took the lease in between"
}
