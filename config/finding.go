package config

import (
	"errors"
	"strings"

	"incumbent/election"
)

// Severity says how much a Finding matters.
type Severity string

// The severities, the worst first.
const (
	// Fault: as it is, this server cannot serve the election.
	Fault Severity = "error"
	// Warning: it serves, and something about it is unwise.
	Warning Severity = "warning"
	// Info: worth knowing, or it could not be found out.
	Info Severity = "info"
)

// A Finding is one thing that a look at the servers showed. See Client.Preflight.
type Finding struct {
	// Severity is Fault, Warning or Info.
	Severity Severity `json:"severity"`
	// Code is a word that never changes, for programs: see Client.Preflight.
	Code string `json:"code"`
	// Server is its address, or "A and B" for two; "" where the finding is about all of
	// them.
	Server string `json:"server,omitempty"`
	// Message says what was seen, in one line without secrets.
	Message string `json:"message"`
	// Remedy is what to do about it, "" where nothing needs to be done.
	Remedy string `json:"remedy,omitempty"`
	// Permanent says that waiting does not help: configuration and servers do not fit.
	Permanent bool `json:"permanent,omitempty"`
	// Err is the error of a Fault, mostly a *election.MasterError; nil for others.
	Err error `json:"-"`
}

// String gives the finding in one line.
func (f Finding) String() string {
	s := string(f.Severity) + ": "
	if f.Server != "" {
		s += f.Server + ": "
	}
	s += f.Code + ": " + f.Message
	if f.Remedy != "" {
		s += " (" + f.Remedy + ")"
	}
	return s
}

// kinds has for each kind of error its code, and what to do about it where the
// error itself does not say.
var kinds = []struct {
	kind         error
	code, remedy string
}{
	{election.ErrUnreachable, "unreachable", "see that the server runs and answers, that the address is right, and that nothing in between blocks it"},
	{election.ErrTLS, "tls", ""},
	{election.ErrAuth, "auth", ""},
	{election.ErrNoPermission, "permission", ""},
	{election.ErrReadOnly, "read-only", ""},
	{election.ErrLoading, "loading", "wait until the server has loaded its data"},
	{election.ErrOutOfMemory, "out-of-memory", ""},
	{election.ErrMisconfigured, "persistence-failing", ""},
	{election.ErrNoReplicas, "no-replicas", ""},
	{election.ErrNotReplicated, "not-replicated", ""},
	{election.ErrBusy, "busy", ""},
	{election.ErrClusterDown, "cluster-down", "repair the Cluster: see CLUSTER INFO on its members"},
	{election.ErrForeignKey, "foreign-key", ""},
	{election.ErrNoExpiry, "no-expiry", ""},
	{election.ErrTokenSpent, "token-spent", ""},
	{election.ErrCrossSlot, "cross-slot", ""},
	{election.ErrWrongClient, "wrong-client", ""},
	{election.ErrScriptsDisabled, "scripts-disabled", ""},
	{election.ErrServerTooOld, "too-old", ""},
	{election.ErrSameServer, "same-server", ""},
	{election.ErrClientClosed, "client-closed", ""},
	{election.ErrRejected, "rejected", "see what the server says, and its log"},
}

// Code is the word of a finding for the kind of an error, such as unreachable or auth;
// rejected where it is of no known kind, or none.
func Code(err error) string {
	for _, k := range kinds {
		if errors.Is(err, k.kind) {
			return k.code
		}
	}
	return "rejected"
}

// fault makes a finding of an error.
func (cl *Client) fault(err error) Finding {
	f := Finding{Severity: Fault, Code: "rejected", Message: oneLineError{err}.Error(), Permanent: cl.lasts(err), Err: err}
	var m *election.MasterError
	if !errors.As(err, &m) {
		return f
	}
	f.Server, f.Remedy, f.Message = m.Master, m.Remedy, m.Kind.Error()
	if m.Err != nil && m.Err.Error() != f.Message {
		f.Message = oneLineError{m.Err}.Error()
	}
	for _, k := range kinds {
		if errors.Is(m.Kind, k.kind) {
			f.Code = k.code
			if f.Remedy == "" {
				f.Remedy = k.remedy
			}
		}
	}
	return f
}

// unknown is a finding that something could not be found out.
func unknown(server, what string, err error) Finding {
	f := Finding{Severity: Info, Code: "unknown", Server: server, Message: what}
	if err != nil {
		f.Message += ": " + strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return f
}
