package main

import (
	"fmt"
	"strings"
	"time"

	"incumbent/election"
)

// vacant is the verdict that nobody leads, by the cause that decides: what keeps a bid
// from winning now, or else what became of the last term.
func (b *ballot) vacant(who *election.Leader, held, rivals int) verdict {
	v := verdict{result: nobody}
	lasting, guarded, free := b.blocked()
	switch {
	case len(b.masters)-len(lasting) < b.need:
		v.cause = "no-expiry"
		v.text = fmt.Sprintf("nobody can lead: the lease at %s has no expiry, so it never becomes free: delete it if nobody works by it",
			strings.Join(lasting, ", "))
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

// blocked lists masters whose lease has no expiry, and those whose guards wait; free is
// how many would grant.
func (b *ballot) blocked() (lasting []string, guarded []election.MasterState, free int) {
	for _, m := range b.good {
		switch {
		case m.Holder != nil && m.Holder.Left <= 0:
			lasting = append(lasting, m.Name)
		case m.Holder != nil:
		case m.Guards != election.NoGuards:
			guarded = append(guarded, m)
		default:
			free++
		}
	}
	return lasting, guarded, free
}

// reasons say why a guard waits.
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
	heir, left := "", time.Duration(0)
	for _, m := range guarded {
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
		if all.Has(r.guard) {
			why = append(why, r.why)
		}
	}
	return "guards-wait", fmt.Sprintf("nobody leads: guards wait for %s at %s: %s (%s)", another(left), strings.Join(names, ", "), all, strings.Join(why, "; "))
}

// untaken is why a lease that is free stays so.
const untaken = "no candidate has taken the lease since: none campaigns, or none reaches the masters"

// lastTerm says what became of the last term, where the lease is free.
func (b *ballot) lastTerm() (cause, text string) {
	last, holder := b.latest()
	if last == 0 {
		return "never-elected", "nobody has ever led this election: no candidate has won yet, and the first one may wait for guards (incumbent init)"
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
