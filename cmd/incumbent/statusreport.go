package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"incumbent/config"
	"incumbent/election"
)

// statusReport is what a look at the masters showed. --json writes it.
type statusReport struct {
	Election string         `json:"election"`
	Mode     string         `json:"mode"`
	Need     int            `json:"need"`   // how many masters make a majority; where there are two stores, the sum for both
	Result   string         `json:"result"` // leads, nobody, two, unknown or misfit
	Cause    string         `json:"cause"`
	Text     string         `json:"text"`
	Leader   *statusHolder  `json:"leader"` // null when nobody is known to lead, or two do
	Last     election.Token `json:"last_token"`
	Masters  []statusMaster `json:"masters"`
	Warnings []warning      `json:"warnings"`
}

// statusHolder is who holds a lease.
type statusHolder struct {
	election.Candidate
	Token  election.Token `json:"token"`
	TTLMS  int64          `json:"ttl_ms,omitempty"`
	LeftMS int64          `json:"left_ms"`
}

// statusMaster is what one master keeps.
type statusMaster struct {
	Master    string         `json:"master"`
	Reachable bool           `json:"reachable"`
	Role      string         `json:"role,omitempty"` // master or replica; none if it is hidden
	Version   string         `json:"version,omitempty"`
	RunID     string         `json:"run_id,omitempty"`
	Holder    *statusHolder  `json:"holder"` // null when the lease is free
	Last      election.Token `json:"last_token"`
	Released  election.Token `json:"released_token,omitempty"`
	// Guards wait for GuardMS more; Heir is whom the lease is kept for.
	Guards  string `json:"guards,omitempty"`
	GuardMS int64  `json:"guard_left_ms,omitempty"`
	Heir    string `json:"heir,omitempty"`
	Code    string `json:"code,omitempty"` // of the error, as in incumbent check
	Error   string `json:"error,omitempty"`
}

// newStatusReport judges what was seen, in so much time.
func newStatusReport(name string, cfg *config.Config, state election.State, took time.Duration) *statusReport {
	l := look{need: 1, took: took, anyNode: len(cfg.Single.Cluster.Addresses) > 0}
	groups := storesOf(state)
	r := &statusReport{Election: name, Mode: string(cfg.Mode), Last: state.Last}
	var verdicts []verdict
	for _, g := range groups {
		l.masters, l.need = g.masters, len(g.masters)/2+1
		r.Need += l.need
		verdicts = append(verdicts, l.judgement())
	}
	v := merge(groups, verdicts)
	r.Result, r.Cause, r.Text, r.Leader, r.Warnings = v.result, v.cause, v.text, newStatusHolder(v.leader), v.warnings
	if r.Warnings == nil {
		r.Warnings = []warning{} // null is no list
	}
	for _, m := range state.Masters {
		r.Masters = append(r.Masters, newStatusMaster(m))
	}
	return r
}

func newStatusHolder(l *election.Leader) *statusHolder {
	if l == nil {
		return nil
	}
	return &statusHolder{Candidate: l.Candidate, Token: l.Token, TTLMS: l.TTL.Milliseconds(), LeftMS: l.Left.Milliseconds()}
}

func newStatusMaster(m election.MasterState) statusMaster {
	s := statusMaster{
		Master: m.Name, Reachable: m.Reachable, Role: roleOf(m), Version: m.Version, RunID: m.RunID,
		Holder: newStatusHolder(m.Holder), Last: m.Last, Released: m.ReleasedToken, Heir: m.Heir,
	}
	if m.Guards != election.NoGuards {
		s.Guards, s.GuardMS = m.Guards.String(), m.GuardUntil.Sub(m.Now).Milliseconds()
	}
	if m.Err != nil {
		s.Code, s.Error = config.Code(m.Err), oneLine(m.Err)
	}
	return s
}

// roleOf is the role of a server in the words of today.
func roleOf(m election.MasterState) string {
	if m.Role == "slave" {
		return "replica"
	}
	return m.Role
}

// code is the exit code.
func (r *statusReport) code() int {
	switch r.Result {
	case leads:
		return exitOK
	case nobody:
		return exitNobody
	case misfit:
		return exitUsage
	}
	return exitFailed
}

// print writes the answer, who it is about, what each master keeps, and what is odd.
func (r *statusReport) print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.Text)
	if about := r.Leader.about(); about != "" {
		fmt.Fprintf(&b, "  %s\n", about)
	}
	b.WriteString("\n")
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "MASTER\tROLE\tVERSION\tHOLDER\tHOST\tTOKEN\tLEFT\tGUARD")
	for _, m := range r.Masters {
		_, _ = fmt.Fprintln(t, m.row())
	}
	_ = t.Flush() // to memory
	for _, m := range r.Masters {
		if m.Error != "" && !strings.Contains(r.Text, m.Error) {
			fmt.Fprintf(&b, "\n%s: %s", m.Code, m.Error)
		}
	}
	for _, o := range r.Warnings {
		fmt.Fprintf(&b, "\nwarning: %s: %s", o.Code, o.Message)
	}
	if !strings.HasSuffix(b.String(), "\n") {
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// about says where the leader runs.
func (h *statusHolder) about() string {
	if h == nil {
		return ""
	}
	var parts []string
	if h.Host != "" {
		parts = append(parts, "host "+printable(h.Host))
	}
	if h.PID != 0 {
		parts = append(parts, fmt.Sprintf("process %d", h.PID))
	}
	if h.TTLMS > 0 {
		parts = append(parts, fmt.Sprintf("TTL %s", time.Duration(h.TTLMS)*time.Millisecond))
	}
	for _, k := range slices.Sorted(maps.Keys(h.Metadata)) {
		parts = append(parts, printable(k)+"="+printable(h.Metadata[k]))
	}
	return strings.Join(parts, ", ")
}

// row is a master's line of the table.
func (m statusMaster) row() string {
	holder, host, token, left, guard := "-", "-", "-", "-", "-"
	switch h := m.Holder; {
	case h != nil:
		holder, host, token = clip(called(h.ID), 18), clip(printable(h.Host), 14), fmt.Sprint(h.Token)
		if left = "for ever"; h.LeftMS > 0 {
			left = (time.Duration(h.LeftMS) * time.Millisecond).Round(time.Second / 10).String()
		}
	case m.Error != "":
		holder = "(" + m.Code + ")"
	}
	if m.Guards != "" {
		guard = fmt.Sprintf("%s %s", m.Guards, (time.Duration(m.GuardMS) * time.Millisecond).Round(time.Second/10))
	}
	return strings.Join([]string{m.Master, dash(m.Role), dash(clip(m.Version, 10)), holder, dash(host), token, left, guard}, "\t")
}

// clip shortens text for a table; all of it is in the JSON.
func clip(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// dash stands for nothing.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
