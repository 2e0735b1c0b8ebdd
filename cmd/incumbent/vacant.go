package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"incumbent/election"
	"incumbent/internal/vote"
)

// vacant is the verdict that nobody leads, by the cause that decides: what keeps a bid
// from winning now, or else what became of the last term.
func (b *ballot) vacant(who *election.Leader, held, rivals int) verdict {
	v := verdict{result: nobody}
	lasting, strange, guarded, free := b.blocked()
	switch {
	case len(b.masters)-len(lasting) < b.need:
		v.cause = "no-expiry"
		v.text = fmt.Sprintf("nobody can lead: the lease at %s has no expiry, so it never becomes free: delete it if nobody works by it",
			strings.Join(lasting, ", "))
	case len(b.masters)-len(lasting)-len(strange) < b.need:
		v.cause = "foreign-key"
		v.text = fmt.Sprintf("nobody can lead: the lease at %s has a value that no candidate wrote: delete it if nobody works by it",
			strings.Join(append(lasting, strange...), ", "))
	case len(guarded) > 0 && free < b.need && len(b.good)-len(guarded) < b.need:
		v.cause, v.text = b.waits(guarded)
	case rivals > 0:
		v.cause = "votes-split"
		v.text = fmt.Sprintf("nobody leads: votes are split between %d candidates; %s holds %d of %d masters, %d are needed",
			rivals+1, called(who.ID), held, len(b.masters), b.need)
	case held > 0:
		v.cause = "too-few-votes"
		v.text = fmt.Sprintf("nobody leads: %s holds %d of %d masters, %d are needed: %s free or not answering",
			called(who.ID), held, len(b.masters), b.need, isAre(b.without(who.Instance)))
	default:
		v.cause, v.text = b.lastTerm()
	}
	return v
}

// isAre names some, with the verb.
func isAre(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return strings.Join(names, ", ") + " are"
}

// blocked lists masters whose lease has no expiry, those where no candidate wrote it, and
// those whose guards wait; free is how many would grant.
func (b *ballot) blocked() (lasting, strange []string, guarded []election.MasterState, free int) {
	for _, m := range b.good {
		switch {
		case m.Holder != nil && m.Holder.Left <= 0:
			lasting = append(lasting, m.Name)
		case vote.Foreign(m):
			strange = append(strange, m.Name)
		case m.Holder != nil:
		case m.Guards != election.NoGuards:
			guarded = append(guarded, m)
		default:
			free++
		}
	}
	return lasting, strange, guarded, free
}

// reasons say why a guard waits. Where the server knows nothing of the election, the
// failover guard is on only since it names no server that granted last.
var reasons = []struct {
	guard election.StoreGuards
	why   string
}{
	{election.RestartGuard, "the server has just started, and may have forgotten a lease"},
	{election.FailoverGuard, "another server answers than the one that granted last, and may lack its lease"},
	{election.NoRecordGuard, "the server knows nothing of the election: it is new, or was wiped"},
	{election.ExpiryGuard, "a lease was lost before its time, and its holder may still believe in it"},
	{election.ClockGuard, "the server's clock jumped ahead"},
}

// waits says which guards wait, where, for how long, and why.
func (b *ballot) waits(guarded []election.MasterState) (cause, text string) {
	var all election.StoreGuards
	var names, why []string
	heir, left, granted := "", time.Duration(0), false
	for _, m := range guarded {
		granted = granted || m.Last > 0 || !m.Guards.Has(election.NoRecordGuard)
		all |= m.Guards
		names = append(names, m.Name)
		left = max(left, m.GuardUntil.Sub(m.Now))
		if m.Heir != "" {
			heir = m.Heir
		}
	}
	if all == election.HandOverGuard {
		return "kept-for-heir", fmt.Sprintf("nobody leads: the lease was handed over and is kept for %s for %s", called(heir), another(left))
	}
	for _, r := range reasons {
		if all.Has(r.guard) && (r.guard != election.FailoverGuard || granted) {
			why = append(why, r.why)
		}
	}
	return "guards-wait", fmt.Sprintf("nobody leads: guards wait for %s at %s: %s (%s)", another(left), strings.Join(names, ", "), all, strings.Join(why, "; "))
}

// untaken is why a lease that is free stays so.
const untaken = "no candidate has taken the lease since: none campaigns, none reaches the masters, or the next try is a second away"

// lastTerm says what became of the last term, where the lease is free.
func (b *ballot) lastTerm() (cause, text string) {
	last, holder := b.latest()
	if last == 0 {
		if slices.ContainsFunc(b.good, func(m election.MasterState) bool { return m.Initialised }) {
			return "never-elected", "nobody leads: init was called, and no candidate has won yet; one that waited for guards already waits to the end"
		}
		return "never-elected", "nobody has ever led this election as far as the masters know: no candidate has won yet " +
			"(see that prefix and name are right), and the first one may wait for guards (incumbent init)"
	}
	was := fmt.Sprintf("the term with token %d", last)
	if holder != nil {
		was = fmt.Sprintf("%s, with token %d,", called(holder.ID), last)
	}
	until := time.Duration(-1) // how long ago the lease ran out
	var at time.Time
	for _, m := range b.good {
		if m.ReleasedToken == last {
			return "released", fmt.Sprintf("nobody leads: %s gave the lease back, and %s", was, untaken)
		}
		if m.Last == last && !m.Until.IsZero() && m.Until.After(at) {
			at, until = m.Until, m.Now.Sub(m.Until)
		}
	}
	if at.IsZero() {
		return "vacant", fmt.Sprintf("nobody leads: the lease of %s is gone, and %s", was, untaken)
	}
	return "expired", fmt.Sprintf("nobody leads: the lease of %s ran out at %s, %s ago, and %s",
		was, at.Format(time.DateTime), until.Round(time.Second), untaken)
}

// latest is the highest token that was issued, and who had it if that is known.
func (b *ballot) latest() (last election.Token, holder *election.Leader) {
	for _, m := range b.good {
		last = max(last, m.Last)
	}
	for _, m := range b.good {
		if m.Latest != nil && m.Latest.Token == last {
			holder = m.Latest
		}
	}
	return last, holder
}
