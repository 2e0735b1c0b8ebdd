package config

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"incumbent/election"
	"incumbent/internal/vote"
)

// Preflight looks at every server and says what it finds about serving the named
// election: what is wrong, what is unwise, and what could not be found out, the
// worst first. It writes nothing. ctx and a few timeouts bound it, also where a
// server hangs. Without a name permissions are not checked, since a user may be
// allowed some elections only. The error is for a name that is none.
//
// The codes of faults: unreachable, tls, auth, permission, read-only (a replica),
// loading, out-of-memory, persistence-failing, no-replicas, not-replicated, busy,
// cluster-down, no-expiry and foreign-key (a lease or a record that no candidate wrote),
// wrong-client (a member of a Cluster, a Sentinel),
// scripts-disabled, too-old, same-server, cross-slot, client-closed, rejected.
//
// Those of warnings: eviction (leases may be evicted), persistence-failing,
// no-wake-ups (standbys wait for the end of a lease), clock-difference (between
// masters), configuration (what Warnings says).
//
// Those of notes: eviction and persistence where nothing is wrong yet, replicas,
// min-replicas, guards-wait, shared-server and standbys (in mode both: a server of
// both stores, and who listens where), and unknown: the user may not ask, or the server
// hides it. Persistence is a warning where the restart guard is off.
func (cl *Client) Preflight(ctx context.Context, name string) ([]Finding, error) {
	l, err := cl.lookAt(ctx, name)
	if err != nil {
		return nil, err
	}
	keys, err := vote.NewKeys(cl.cfg.Prefix, or(name, probe))
	if err != nil {
		return nil, err
	}
	seen := make([]facts, len(cl.clients))
	var wg sync.WaitGroup
	for i, err := range l.errs {
		if !isSilent(err) {
			wg.Go(func() { seen[i] = cl.ask(ctx, i, l.names[i], keys, name != "" && err == nil) })
		}
	}
	wg.Wait()
	var out []Finding
	for _, w := range cl.cfg.Warnings() {
		out = append(out, Finding{Severity: Warning, Code: "configuration", Message: w})
	}
	if l.same != nil {
		out = append(out, cl.fault(l.same))
	}
	for i, err := range l.errs {
		if err != nil {
			out = append(out, cl.fault(err))
		} else {
			out = append(out, seen[i].findings(cl)...)
			out = append(out, cl.unfree(l.states[i])...)
			out = append(out, waits(name, l.states[i], l.states)...)
		}
	}
	out = append(out, clockFindings(seen)...)
	if cl.cfg.Mode == ModeBoth {
		out = append(once(out), cl.moving(ctx, name, l)...)
	}
	return worstFirst(out), nil
}

// Preflight opens the connections that the configuration describes, does what
// Client.Preflight does, and closes them: for those who want to know before Open
// refuses. The error is that of Open for a bad configuration, or for a name that
// is none.
func (c *Config) Preflight(ctx context.Context, name string) ([]Finding, error) {
	cl, err := c.connect()
	if err != nil {
		return nil, err
	}
	defer func() { _ = cl.Close() }() // nothing was done with it
	return cl.Preflight(ctx, name)
}

// worstFirst sorts by severity and keeps the order of servers.
func worstFirst(found []Finding) []Finding {
	var out []Finding
	for _, s := range []Severity{Fault, Warning, Info} {
		for _, f := range found {
			if f.Severity == s {
				out = append(out, f)
			}
		}
	}
	return out
}

// unfree says that a master's lease was not written by a candidate, so that it keeps all of
// them out.
func (cl *Client) unfree(st election.MasterState) []Finding {
	e := &election.MasterError{Master: st.Name, Op: "check", Remedy: "delete the lease if nobody works by it, and find out what wrote it"}
	switch {
	case st.Holder == nil:
		return nil
	case st.Holder.Left <= 0:
		e.Kind, e.Err = election.ErrNoExpiry, errors.New("the lease has no expiry, so it never becomes free")
	case vote.Foreign(st):
		e.Kind, e.Err = election.ErrForeignKey, errors.New("the lease has a value that no candidate wrote")
	default:
		return nil
	}
	return []Finding{cl.fault(e)}
}

// waits says which guards would make a campaign wait at a master, one of all.
func waits(name string, st election.MasterState, all []election.MasterState) []Finding {
	if name == "" || st.Guards == election.NoGuards {
		return nil
	}
	left := (st.GuardUntil.Sub(st.Now) + time.Second - 1).Truncate(time.Second)
	f := Finding{
		Severity: Info, Code: "guards-wait", Server: st.Name,
		Message: fmt.Sprintf("a campaign waits here for another %s: guards %s", left, st.Guards),
		Remedy:  fmt.Sprintf("wait for %s", left),
	}
	if isNew(st) && !slices.ContainsFunc(all, func(m election.MasterState) bool { return m.Holder != nil || m.Last > 0 }) {
		f.Remedy += "; or before the first election ever, and if nobody can be leading: incumbent init, once"
	}
	return []Finding{f}
}

// isNew reports whether a master waits for no other reason than that it knows nothing of the
// election, which arms the failover guard, too. One that has just started may have
// forgotten a lease.
func isNew(st election.MasterState) bool {
	return st.Guards.Has(election.NoRecordGuard) && st.Guards&^(election.NoRecordGuard|election.FailoverGuard) == election.NoGuards
}

// clockLimit is by how much the clocks of masters may differ before it is said.
const clockLimit = time.Second

// clockFindings compares the clocks of masters, two at a time, and names the pair
// that differs most: by at least so much, however long the answers took.
func clockFindings(seen []facts) []Finding {
	var worst time.Duration
	var names string
	for i, a := range seen {
		for _, b := range seen[:i] {
			if !a.clock.read || !b.clock.read {
				continue
			}
			if d := a.clock.apart(b.clock); d > worst {
				worst, names = d, b.name+" and "+a.name
			}
		}
	}
	if worst <= clockLimit {
		return nil
	}
	return []Finding{{
		Severity: Warning, Code: "clock-difference", Server: names,
		Message: fmt.Sprintf("their clocks differ by at least %s: tokens of a master that forgot may be lower than those in use", worst.Truncate(time.Millisecond)),
		Remedy:  "synchronise the clocks of all masters (NTP)",
	}}
}
