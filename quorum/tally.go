package quorum

import (
	"errors"
	"slices"
	"time"

	"incumbent/election"
	"incumbent/internal/vote"
)

var errNotUsed = errors.New("quorum: redsync asked for something that a vote is not")

const (
	statusGranted  = "granted"
	statusSealed   = "sealed"
	statusRenewed  = "renewed"
	statusReleased = "released"
)

// tally sums up one round.
type tally struct {
	yes     []vote.Reply // said what we wanted to hear
	held    []vote.Reply // somebody else's
	guarded []guarded    // nobody's, but a guard of theirs refuses
	expired int          // nobody's
	errs    []error
	others  []string // held and expired in words, with the masters' names
}

// guarded is a master whose guard refused.
type guarded struct {
	name string
	vote.Reply
}

// token is the largest token that the votes allow, and larger than all that
// was seen: a refusal shows what its master has issued, too.
func (t tally) token(floor election.Token) election.Token {
	top := floor + 1
	for _, r := range t.yes {
		top = max(top, r.Token)
	}
	for _, r := range t.held {
		top = max(top, r.Token+1)
	}
	for _, r := range t.guarded {
		top = max(top, r.Token+1)
	}
	return top
}

// last is the highest token seen in refusals.
func (t tally) last() (top election.Token) {
	for _, r := range t.held {
		top = max(top, r.Token, r.Holder.Token)
	}
	for _, r := range t.guarded {
		top = max(top, r.Token)
	}
	return top
}

// waiting is the error of a bid that guards have kept from a majority.
func (t tally) waiting(need int) error {
	e := &election.GuardError{Left: t.left(need), Last: t.last()}
	for _, g := range t.guarded {
		e.Guards |= g.Guards
		e.Masters = append(e.Masters, g.name)
	}
	return e
}

// leader is who holds most masters, and how many.
func (t tally) leader() (l election.Leader, n int) {
	count := map[string]int{}
	for _, r := range t.held {
		count[r.Value]++
	}
	sealed := false
	for _, r := range t.held {
		// A vote that is not sealed yet has a token of its own, which is above last.
		seal := r.Holder.Token <= r.Token
		if c := count[r.Value]; c > n || c == n && (seal && !sealed || seal == sealed && r.Holder.Token > l.Token) {
			l, n, sealed = r.Holder, c, seal
		}
	}
	return l, n
}

// left is the time until need masters are free, of guards too. Masters that
// granted are; those that did not answer do not count.
func (t tally) left(need int) time.Duration {
	lefts := make([]time.Duration, len(t.yes), len(t.yes)+len(t.held)+len(t.guarded))
	for _, r := range t.held {
		lefts = append(lefts, r.Left)
	}
	for _, r := range t.guarded {
		lefts = append(lefts, r.Left)
	}
	slices.Sort(lefts)
	if len(lefts) == 0 {
		return 0
	}
	return lefts[min(need, len(lefts))-1]
}
