package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"incumbent/compare/lab/remote"
	"incumbent/config"
	"incumbent/election"
	"incumbent/internal/vote"
)

// look is what masters of one store have shown.
type look struct {
	masters []election.MasterState
	need    int           // a majority
	took    time.Duration // by how much their answers may be apart
	anyNode bool          // roles are those of any node of a Cluster, and say nothing
}

// verdict is what a look means: who leads, or why nobody does.
type verdict struct {
	result, cause string
	text          string           // in one line
	leader        *election.Leader // nil where nobody is known to lead
	warnings      []warning
}

// What a verdict can be.
const (
	leads   = "leads"   // somebody does
	nobody  = "nobody"  // nobody does, for certain
	unknown = "unknown" // too few masters answer to tell
	twofold = "two"     // each of two stores has a leader of its own
	misfit  = "misfit"  // servers and configuration do not fit: waiting does not help
)

// warning is something odd. Its code never changes.
type warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// ballot sorts masters by what their votes are worth.
type ballot struct {
	look
	good     []election.MasterState // each a server of its own that can vote
	failed   []election.MasterState
	replicas []election.MasterState
	twins    []string // masters that are a server named before
	lasting  int      // failures that waiting does not cure, with replicas and twins
}

// count sorts them.
func (l look) count() *ballot {
	b := &ballot{look: l}
	seen := map[string]string{}
	for _, m := range l.masters {
		before, again := seen[m.RunID]
		switch {
		case !m.Reachable:
			b.failed = append(b.failed, m)
			if !remote.Passing(m.Err) {
				b.lasting++
			}
		case m.Role == "slave" && !l.anyNode:
			b.replicas = append(b.replicas, m)
			b.lasting++
		case again && m.RunID != "":
			b.twins = append(b.twins, before+" and "+m.Name)
			b.lasting++
		default:
			seen[m.RunID] = m.Name
			b.good = append(b.good, m)
		}
	}
	return b
}

// judgement says who leads, or why nobody does.
func (l look) judgement() verdict {
	b := l.count()
	who, held, rivals := b.holder()
	var v verdict
	switch {
	case held >= l.need && !sealed(who, b.good):
		v = verdict{result: nobody, cause: "not-sealed", text: fmt.Sprintf("nobody leads yet: %s has a majority of the votes, and seals them now", called(who.ID))}
	case held >= l.need:
		v = b.led(who, held)
	case len(b.twins) > 0, len(b.good) < l.need && len(l.masters)-b.lasting < l.need:
		v = b.misfits()
	case len(b.good) < l.need, held > 0 && held+len(b.failed) >= l.need:
		v = b.unclear(who, held)
	default:
		v = b.vacant(who, held, rivals)
	}
	if v.result != misfit { // which has said it
		v.warnings = append(v.warnings, b.voteless()...)
	}
	v.warnings = append(v.warnings, b.oddities()...)
	return v
}

// holder is who holds most of the good masters, how many, and how many others hold some.
func (b *ballot) holder() (who *election.Leader, held, rivals int) {
	votes := map[string]int{}
	for _, m := range b.good {
		if counts(m) {
			votes[m.Value]++
		}
	}
	known := false
	for _, m := range b.good {
		if !counts(m) {
			continue
		}
		seal := m.Holder.Token <= m.Last
		if n := votes[m.Value]; n > held || n == held && (seal && !known || seal == known && m.Holder.Token > who.Token) {
			who, held, known = m.Holder, n, seal
		}
	}
	return who, held, max(len(votes)-1, 0)
}

// counts reports whether a master's lease is a vote: one that never becomes free, or whose
// value is none of its holder's, was not written by a candidate, and nobody leads by it.
func counts(m election.MasterState) bool {
	return m.Holder != nil && m.Holder.Left > 0 && !vote.Foreign(m)
}

// sealed reports whether a lease is more than votes: one that is not sealed yet has a
// token of its own at each master, above the last of a term.
func sealed(who *election.Leader, masters []election.MasterState) bool {
	return slices.ContainsFunc(masters, func(m election.MasterState) bool {
		return m.Holder != nil && m.Holder.Instance == who.Instance && m.Holder.Token <= m.Last
	})
}

// led is the verdict that somebody leads.
func (b *ballot) led(who *election.Leader, held int) verdict {
	l := *who
	l.Left = b.freeIn()
	v := verdict{result: leads, cause: leads, leader: &l}
	n := len(b.masters)
	at := ""
	if n > 1 {
		at = fmt.Sprintf(", at %d of %d masters", held, n)
	}
	v.text = fmt.Sprintf("%s leads, with token %d%s; its lease runs for %s", called(l.ID), l.Token, at, another(l.Left))
	if missing := b.without(who.Instance); len(missing) > 0 {
		w := warning{"masters-missing", fmt.Sprintf("the lease does not count at %s", strings.Join(missing, ", "))}
		if held == b.need {
			w.Code, w.Message = "bare-majority", w.Message+": one more fault ends the term"
		}
		v.warnings = append(v.warnings, w)
	}
	return v
}

// freeIn is the time until a majority is free of leases.
func (b *ballot) freeIn() time.Duration {
	var lefts []time.Duration
	for _, m := range b.good {
		left := time.Duration(0)
		if m.Holder != nil {
			left = m.Holder.Left
		}
		lefts = append(lefts, left)
	}
	slices.Sort(lefts)
	return lefts[min(b.need, len(lefts))-1]
}

// without names the masters at which the lease of this instance is not, or does not count.
func (b *ballot) without(instance string) (names []string) {
	voted := map[string]bool{}
	for _, m := range b.good {
		voted[m.Name] = counts(m) && m.Holder.Instance == instance
	}
	for _, m := range b.masters {
		if !voted[m.Name] {
			names = append(names, m.Name)
		}
	}
	return names
}

// misfits is the verdict that nobody can lead as it is.
func (b *ballot) misfits() verdict {
	v := verdict{result: misfit}
	var why []string
	for _, m := range b.failed {
		if !remote.Passing(m.Err) {
			why = append(why, oneLine(m.Err))
			v.cause = config.Code(m.Err)
		}
	}
	for _, m := range b.replicas {
		why = append(why, fmt.Sprintf("%s is a replica: give the address of its primary", m.Name))
		v.cause = "read-only"
	}
	for _, pair := range b.twins {
		why = append(why, pair+" are one server, which has one vote")
		v.cause = "same-server"
	}
	v.text = fmt.Sprintf("nobody can lead by these settings: %s", strings.Join(why, "; "))
	if len(b.good) < b.need && len(b.masters) > 1 {
		v.text += fmt.Sprintf(" (%d of %d masters can serve, %d are needed)", len(b.good), len(b.masters), b.need)
	}
	return v
}

// unclear is the verdict that masters which do not answer may say otherwise.
func (b *ballot) unclear(who *election.Leader, held int) verdict {
	var why []string
	for _, m := range b.failed {
		why = append(why, oneLine(m.Err))
	}
	v := verdict{result: unknown, cause: "too-few-answers"}
	switch {
	case len(b.good) >= b.need:
		v.text = fmt.Sprintf("cannot tell: %s holds %d of %d masters, and may hold those that do not answer: %s",
			called(who.ID), held, len(b.masters), strings.Join(why, "; "))
	case len(b.masters) == 1:
		v.text = "cannot tell: " + strings.Join(why, "; ")
	default:
		v.text = fmt.Sprintf("cannot tell: %d of %d masters answer as they should, %d are needed: %s",
			len(b.good), len(b.masters), b.need, strings.Join(why, "; "))
	}
	return v
}

// oddities are what is odd whoever leads.
func (b *ballot) oddities() (list []warning) {
	add := func(code, format string, args ...any) {
		list = append(list, warning{code, fmt.Sprintf(format, args...)})
	}
	who, held, _ := b.holder()
	for _, m := range b.good {
		switch {
		case m.Holder != nil && m.Holder.Left <= 0:
			add("no-expiry", "%s: the lease has no expiry, so it never becomes free: delete it if nobody leads", m.Name)
		case vote.Foreign(m):
			add("foreign-key", "%s: the lease has a value that no candidate wrote", m.Name)
		case m.Holder != nil && held >= b.need && m.Holder.Instance != who.Instance:
			add("masters-disagree", "%s is held by %s, token %d", m.Name, called(m.Holder.ID), m.Holder.Token)
		case m.Guards != election.NoGuards && held >= b.need:
			left := another(m.GuardUntil.Sub(m.Now))
			if m.Holder != nil {
				add("guards-wait", "%s has the lease, and would grant no other one for %s: %s: wait that long before another master stops", m.Name, left, m.Guards)
			} else {
				add("guards-wait", "%s grants nothing for %s: %s", m.Name, left, m.Guards)
			}
		}
	}
	return append(list, b.clocksApart()...)
}

// voteless are the masters that cannot vote, whoever leads.
func (b *ballot) voteless() (list []warning) {
	for _, m := range b.replicas {
		list = append(list, warning{"read-only", m.Name + " is a replica, which cannot vote"})
	}
	for _, pair := range b.twins {
		list = append(list, warning{"same-server", pair + " are one server, which has one vote"})
	}
	return list
}

// clocksApart is the warning that masters' clocks differ.
func (b *ballot) clocksApart() []warning {
	if a, z, apart := b.clocks(); apart > clockLimit+b.took {
		return []warning{{"clock-difference", fmt.Sprintf("the clock of %s is %s ahead of that of %s", z, apart.Round(time.Second/10), a)}}
	}
	return nil
}

// clockLimit is by how much the clocks of masters may differ before it is said.
const clockLimit = time.Second

// clocks finds the masters whose clocks differ most, and by how much.
func (b *ballot) clocks() (slow, fast string, apart time.Duration) {
	var least, most *election.MasterState
	for i := range b.masters {
		switch m := &b.masters[i]; {
		case !m.Reachable || m.Now.IsZero():
		case least == nil:
			least, most = m, m
		case m.Now.Before(least.Now):
			least = m
		case m.Now.After(most.Now):
			most = m
		}
	}
	if least == nil {
		return "", "", 0
	}
	return least.Name, most.Name, most.Now.Sub(least.Now)
}

// called is a candidate's name for people.
func called(id string) string {
	if id == "" {
		return "somebody unknown"
	}
	return printable(id)
}

// printable is text from a server as one line without control characters.
func printable(s string) string {
	quoted := fmt.Sprintf("%q", s)
	if plain := quoted[1 : len(quoted)-1]; plain == s {
		return s
	}
	return quoted
}

// oneLine is an error in one line.
func oneLine(err error) string {
	if err == nil {
		return "no answer"
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}
