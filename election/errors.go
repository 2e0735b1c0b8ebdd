package election

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// Why a campaign has not won. Campaign returns them only together with the
// reason for giving up: the error then matches both (errors.Is).
var (
	// ErrNotAcquired matches every error of a campaign that was begun and ended
	// without a term; ErrHeld and ErrClosed stand alone.
	ErrNotAcquired = errors.New("leadership not acquired")
	// ErrHeld is returned by Campaign while this elector's own term is live.
	ErrHeld = errors.New("this elector already leads")
	// ErrContended says that candidates split the votes and nobody won.
	ErrContended = errors.New("votes were split between candidates")
	// ErrTooSlow says that the store confirmed the lease so late that too little
	// of it was left, or none. A grant is then given back.
	ErrTooSlow = errors.New("the store confirmed the lease too late")
	// ErrTokenRegressed says that a store offered a token that is not larger
	// than one known already. Leading with it would let a fence accept stale
	// acts. Remedy: Options.MinToken above the largest token in use.
	ErrTokenRegressed = errors.New("fencing token would go back")
	// ErrClosed is returned by an elector after Close.
	ErrClosed = errors.New("elector is closed")
	// ErrNoLeader is returned by Leader when nobody holds the lease.
	ErrNoLeader = errors.New("no leader")
)

// Why a term ended. context.Cause of a term's context is a *Loss, which
// matches exactly one of these.
var (
	// ErrTaken: another candidate holds the lease.
	ErrTaken = errors.New("lease taken by another candidate")
	// ErrExpired: the lease ran out, or the server lost it (restarted without
	// data, key deleted or evicted), and nobody else was seen to hold it.
	ErrExpired = errors.New("lease expired or lost by the server")
	// ErrLostContact: the store did not confirm the lease in time.
	ErrLostContact = errors.New("store unreachable until the deadline")
	// ErrRefused: the store answered, but would not renew until the deadline.
	ErrRefused = errors.New("store refused to renew")
	// ErrResigned: the term was given up on purpose (Resign, end of Run, Close).
	ErrResigned = errors.New("resigned")
	// ErrFenced: a guarded resource has seen a higher token.
	ErrFenced = errors.New("fenced by a higher token")
	// ErrUnhealthy: Options.Health failed or did not answer.
	ErrUnhealthy = errors.New("health check failed")
	// ErrMaxTerm: the term reached Options.MaxTerm.
	ErrMaxTerm = errors.New("maximum term reached")
)

// What a master answers when it will not serve. None of them means "held by
// another". A *MasterError carries one of them as its Kind.
var (
	// ErrUnreachable: no answer: refused, reset, timed out, unknown host.
	ErrUnreachable = errors.New("unreachable")
	// ErrTLS: the TLS handshake failed or the certificate was not accepted.
	ErrTLS = errors.New("TLS failure")
	// ErrAuth: the server wants other credentials.
	ErrAuth = errors.New("authentication failed")
	// ErrNoPermission: the ACL user may not run what the election needs.
	ErrNoPermission = errors.New("no permission")
	// ErrReadOnly: the server is a replica.
	ErrReadOnly = errors.New("read-only replica")
	// ErrLoading: the server is still loading its data.
	ErrLoading = errors.New("store loading")
	// ErrOutOfMemory: the server refuses writes at its memory limit.
	ErrOutOfMemory = errors.New("out of memory")
	// ErrMisconfigured: the server refuses writes since it cannot persist (MISCONF).
	ErrMisconfigured = errors.New("persistence failing")
	// ErrNoReplicas: the server refuses writes for lack of replicas (NOREPLICAS).
	ErrNoReplicas = errors.New("not enough replicas")
	// ErrNotReplicated: the server did it, but fewer replicas acknowledged it than
	// were asked for.
	ErrNotReplicated = errors.New("not acknowledged by enough replicas")
	// ErrBusy: the server is running a script that blocks all others.
	ErrBusy = errors.New("busy")
	// ErrClusterDown: the Cluster does not serve the election's slot.
	ErrClusterDown = errors.New("cluster down")
	// ErrLate: the request was handled so late that nobody waits for it any more;
	// the server changed nothing.
	ErrLate = errors.New("handled too late")
	// ErrForeignKey: a key of the election holds something that this library
	// did not write: another type, or a record that cannot be read.
	ErrForeignKey = errors.New("key has foreign content")
	// ErrTokenSpent: the next token would not fit in 53 bits: something else
	// wrote a huge one.
	ErrTokenSpent = errors.New("tokens are used up")
	// ErrNoExpiry: the lease key has no expiry, so it would never become free.
	ErrNoExpiry = errors.New("lease key without expiry")
	// ErrClientClosed: the Redis client was closed by its owner.
	ErrClientClosed = errors.New("client is closed")
	// ErrRejected: the server answered with an error of no known kind.
	ErrRejected = errors.New("rejected")

	// ErrCrossSlot: the server says the keys do not share a slot.
	ErrCrossSlot = errors.New("keys in different slots")
	// ErrWrongClient: a member of a Cluster was reached with a client that does
	// not follow redirections, or a database number was given to a Cluster.
	ErrWrongClient = errors.New("wrong kind of client")
	// ErrScriptsDisabled: the server does not run scripts.
	ErrScriptsDisabled = errors.New("scripts are disabled")
	// ErrServerTooOld: the server is older than the minimum version.
	ErrServerTooOld = errors.New("server too old")
	// ErrSameServer: two masters of a quorum are one server, which would have two
	// votes.
	ErrSameServer = errors.New("two masters are one server")
)

// permanent kinds are not cured by waiting: a campaign that meets nothing else
// ends with them.
var permanent = []error{ErrCrossSlot, ErrWrongClient, ErrScriptsDisabled, ErrServerTooOld, ErrSameServer}

// Permanent reports whether err is one that waiting does not cure: a server
// too old, scripts disabled, keys in different slots, the wrong kind of client.
// When several masters failed, enough of them must have failed so.
func Permanent(err error) bool {
	var p interface{ Permanent() bool }
	if errors.As(err, &p) {
		return p.Permanent()
	}
	return isPermanentKind(err)
}

func isPermanentKind(err error) bool {
	for _, k := range permanent {
		if errors.Is(err, k) {
			return true
		}
	}
	return false
}

// HeldError is a refused bid: somebody else holds the lease.
type HeldError struct {
	// Holder is who holds it, as far as the store knows.
	Holder Leader
	// Left is how long a bid cannot succeed, unless the lease is released.
	Left time.Duration
	// Last is the highest token seen in the refusal.
	Last Token
}

// Error names the holder and the time left.
func (e *HeldError) Error() string {
	who := e.Holder.ID
	if who == "" {
		who = "unknown"
	}
	return fmt.Sprintf("held by %q (token %d) for another %s", who, e.Holder.Token, e.Left)
}

// Is makes a HeldError match ErrNotAcquired.
func (e *HeldError) Is(target error) bool { return target == ErrNotAcquired }

// RegressedError is a token that would go back. It matches ErrTokenRegressed.
type RegressedError struct {
	// Offered is the token that the store would have given, Known one that is
	// not smaller.
	Offered, Known Token
}

// Error gives both tokens and the remedy.
func (e *RegressedError) Error() string {
	return fmt.Sprintf("%v: offered %d, known %d (the next bid asks for more; MinToken does so from the start)",
		ErrTokenRegressed, e.Offered, e.Known)
}

// Is makes a RegressedError match ErrTokenRegressed.
func (e *RegressedError) Is(target error) bool { return target == ErrTokenRegressed }

// TakenError says who holds the lease instead of this term. It matches ErrTaken.
type TakenError struct{ By Leader }

// Error names the new holder.
func (e *TakenError) Error() string {
	return fmt.Sprintf("lease taken by %q (token %d)", e.By.ID, e.By.Token)
}

// Is makes a TakenError match ErrTaken.
func (e *TakenError) Is(target error) bool { return target == ErrTaken }

// MasterError is what went wrong at one master.
type MasterError struct {
	// Master is its address.
	Master string
	// Op is what was asked: acquire, seal, renew, release, inspect, check.
	Op string
	// Kind is one of the sentinel errors above.
	Kind error
	// Err is the cause as the client or server put it.
	Err error
	// Remedy is what to do about it, "" if time alone helps.
	Remedy string
}

// Error gives master, operation, kind, cause and remedy in one line. What a server
// puts into its text to steer a terminal shows as question marks.
func (e *MasterError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "master %s: %s: %v", e.Master, e.Op, e.Kind)
	if e.Err != nil && e.Err.Error() != e.Kind.Error() {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	if e.Remedy != "" {
		fmt.Fprintf(&b, " (%s)", e.Remedy)
	}
	return strings.Map(harmless, b.String())
}

// harmless turns control characters and those that change the direction of text into
// question marks.
func harmless(r rune) rune {
	if r == '\n' || r == '\t' || unicode.IsPrint(r) {
		return r
	}
	return '?'
}

// Unwrap gives the kind and the cause.
func (e *MasterError) Unwrap() []error { return []error{e.Kind, e.Err} }

// Loss is why a term ended. It is the cause of the term's context.
type Loss struct {
	// Token of the term that ended.
	Token Token
	// Reason is one of the sentinel errors grouped under "why a term ended".
	Reason error
	// Err is the detail, nil if there is none: a *TakenError names the new
	// holder, a *MasterError the master that failed.
	Err error
}

// Error gives the reason, and the detail where there is one.
func (l *Loss) Error() string {
	if l.Err == nil || l.Err.Error() == l.Reason.Error() {
		return fmt.Sprintf("term %d ended: %v", l.Token, l.Reason)
	}
	return fmt.Sprintf("term %d ended: %v: %v", l.Token, l.Reason, l.Err)
}

// Unwrap gives the reason and the detail.
func (l *Loss) Unwrap() []error {
	if l.Err == nil {
		return []error{l.Reason}
	}
	return []error{l.Reason, l.Err}
}

// Word is the loss in one word, the same in logs, events and metrics: taken,
// expired, unreachable, refused, resigned, fenced, unhealthy, max-term.
func (l *Loss) Word() string { return words[l.Reason] }

var words = map[error]string{
	ErrTaken: "taken", ErrExpired: "expired", ErrLostContact: "unreachable", ErrRefused: "refused",
	ErrResigned: "resigned", ErrFenced: "fenced", ErrUnhealthy: "unhealthy", ErrMaxTerm: "max-term",
}
