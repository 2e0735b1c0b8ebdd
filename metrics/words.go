package metrics

import (
	"context"
	"errors"
	"strings"

	"incumbent/election"
)

// lossReasons are all that a *Loss can have. The label has Loss.Word, as logs have.
var lossReasons = []error{
	election.ErrTaken, election.ErrExpired, election.ErrLostContact, election.ErrRefused,
	election.ErrResigned, election.ErrFenced, election.ErrUnhealthy, election.ErrMaxTerm,
}

func lossWords() []string {
	var out []string
	for _, r := range lossReasons {
		out = append(out, (&election.Loss{Reason: r}).Word())
	}
	return out
}

// A kind names the errors that match err.
type kind struct {
	word string
	err  error
}

// other is what matches none.
const other = "other"

// renewKinds name why a try to renew failed. Where several masters failed, the first
// that matches counts: silence is last, since it says least.
var renewKinds = []kind{
	{"too-slow", election.ErrTooSlow},
	{"tls", election.ErrTLS},
	{"auth", election.ErrAuth},
	{"no-permission", election.ErrNoPermission},
	{"read-only", election.ErrReadOnly},
	{"loading", election.ErrLoading},
	{"out-of-memory", election.ErrOutOfMemory},
	{"misconfigured", election.ErrMisconfigured},
	{"no-replicas", election.ErrNoReplicas},
	{"not-replicated", election.ErrNotReplicated},
	{"busy", election.ErrBusy},
	{"cluster-down", election.ErrClusterDown},
	{"late", election.ErrLate},
	{"foreign-key", election.ErrForeignKey},
	{"no-expiry", election.ErrNoExpiry},
	{"client-closed", election.ErrClientClosed},
	{"same-server", election.ErrSameServer},
	{"scripts-disabled", election.ErrScriptsDisabled},
	{"rejected", election.ErrRejected},
	{"unreachable", election.ErrUnreachable},
	{"unreachable", context.DeadlineExceeded},
}

// bidKinds name why a bid did not win.
var bidKinds = []kind{
	{"guarded", election.ErrGuarded},
	{"contended", election.ErrContended},
	{"too-slow", election.ErrTooSlow},
	{"token-regressed", election.ErrTokenRegressed},
}

// Outcomes of bids that are not errors of a kind.
const (
	won    = "won"
	held   = "held"
	failed = "failed"
)

// wordOf names err; none if it is of no kind.
func wordOf(err error, kinds []kind, none string) string {
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			return k.word
		}
	}
	return none
}

func words(kinds []kind, more ...string) []string {
	for _, k := range kinds {
		more = append(more, k.word)
	}
	return more
}

// bidOutcome names why a bid was refused.
func bidOutcome(err error) string {
	if h := (*election.HeldError)(nil); errors.As(err, &h) {
		return held
	}
	return wordOf(err, bidKinds, failed)
}

// guardWords are the names of guards, as logs have them.
func guardWords(g election.StoreGuards) []string {
	if g == election.NoGuards {
		return nil
	}
	return strings.Split(g.String(), ",")
}
