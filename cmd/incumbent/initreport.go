package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"incumbent/election"
)

// initReport is what became of an init. --json writes it.
type initReport struct {
	Election string       `json:"election"`
	Result   string       `json:"result"` // ready, held or failed
	Masters  []initMaster `json:"masters"`
	// Holder holds the lease, for LeftMS more.
	Holder string `json:"holder,omitempty"`
	LeftMS int64  `json:"left_ms,omitempty"`
	Error  string `json:"error,omitempty"`

	held *election.HeldError
}

// initMaster is what became of it at one master.
type initMaster struct {
	Master string `json:"master"`
	Ready  bool   `json:"ready"`
	// Waiting are guards that wait though it is ready, as the restart guard does
	// where a server hides its run_id.
	Waiting string `json:"waiting,omitempty"`
	Error   string `json:"error,omitempty"`
}

// newInitReport puts together what Init returned and what the masters show now.
func newInitReport(name string, state election.State, err error) *initReport {
	r := &initReport{Election: name, Result: "ready"}
	if err != nil {
		r.Result, r.Error = "failed", err.Error()
	}
	if errors.As(err, &r.held) {
		r.Result, r.Holder, r.LeftMS = "held", r.held.Holder.ID, r.held.Left.Milliseconds()
	}
	failed, each := byMaster(err)
	for _, m := range state.Masters {
		i := initMaster{Master: m.Name, Error: failed[m.Name]}
		switch {
		case i.Error != "":
		case m.Holder != nil:
			i.Error = fmt.Sprintf("%s holds the lease for %s", nameOf(m.Holder.ID), another(m.Holder.Left))
		case r.held != nil && !each:
			i.Error = "the lease is held" // which was seen before any master was asked
		default:
			i.Ready, i.Waiting = true, waiting(m)
		}
		r.Masters = append(r.Masters, i)
	}
	return r
}

// byMaster finds in err what went wrong at which master, and whether each of them
// was asked on its own.
func byMaster(err error) (failed map[string]string, each bool) {
	failed = map[string]string{}
	list := []error{err}
	var many interface{ Unwrap() []error }
	if each = errors.As(err, &many); each {
		list = append(list, many.Unwrap()...)
	}
	for _, e := range list {
		var m *election.MasterError
		if errors.As(e, &m) {
			failed[m.Master] = strings.TrimPrefix(m.Error(), fmt.Sprintf("master %s: %s: ", m.Master, m.Op))
		}
	}
	return failed, each
}

// waiting says which guards a bid at m would still wait for.
func waiting(m election.MasterState) string {
	if m.Guards == election.NoGuards {
		return ""
	}
	return fmt.Sprintf("%s for %s", m.Guards, another(m.GuardUntil.Sub(m.Now)))
}

// another is a time that is left, in whole seconds and never too short. A key
// without expiry, which no elector writes, has none.
func another(d time.Duration) string {
	if d <= 0 {
		return "an unknown time"
	}
	return "another " + (d + time.Second - 1).Truncate(time.Second).String()
}

func nameOf(id string) string {
	if id == "" {
		return "somebody"
	}
	return fmt.Sprintf("%q", id)
}

// code is the exit code.
func (r *initReport) code() int {
	switch r.Result {
	case "ready":
		return exitOK
	case "held":
		return exitHeld
	}
	return exitFailed
}

// print writes one line a master, and what to do next.
func (r *initReport) print(stdout, stderr io.Writer) error {
	var b strings.Builder
	var left []string
	next := "need not wait: start the candidates"
	for _, m := range r.Masters {
		fmt.Fprintf(&b, "%s: %s\n", m.Master, m.say())
		if !m.Ready {
			left = append(left, m.Master)
		}
		if m.Waiting != "" {
			next = "waits for the guards above only"
		}
	}
	switch {
	case r.Result == "ready":
		fmt.Fprintf(&b, "The first campaign of %q %s. A candidate that waits already waits to the end.\n", r.Election, next)
	case r.held != nil:
		_, _ = fmt.Fprintf(stderr, "incumbent: init: %s\n", r.refusal())
	case len(left) == 0:
		_, _ = fmt.Fprintf(stderr, "incumbent: init: %s\n", r.Error)
	default:
		_, _ = fmt.Fprintf(stderr, "incumbent: init: %d of %d masters not initialised: %s; run it again once that is cured: it is harmless while nobody leads\n",
			len(left), len(r.Masters), strings.Join(left, ", "))
	}
	_, err := io.WriteString(stdout, b.String())
	return err
}

func (m initMaster) say() string {
	switch {
	case !m.Ready:
		return "not initialised: " + m.Error
	case m.Waiting != "":
		return "ready, but guards wait: " + m.Waiting
	}
	return "ready, no guard waits"
}

// refusal says who holds the lease, and what to do about it.
func (r *initReport) refusal() string {
	h, about := r.held.Holder, ""
	if h.ID != "" {
		about = fmt.Sprintf(" (token %d, host %s, process %d)", h.Token, h.Host, h.PID)
	}
	return fmt.Sprintf("%s holds the lease of %q for %s%s; an election that has a leader needs no init: "+
		"if nobody should lead, stop all candidates, wait for that time, and run it again", nameOf(h.ID), r.Election, another(r.held.Left), about)
}
