package config

import (
	"context"
	"fmt"
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
// cluster-down, foreign-key, wrong-client (a member of a Cluster, a Sentinel),
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
			out = append(out, cl.waits(name, l.states[i])...)
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

// waits says which guards would make a campaign wait at a master.
func (cl *Client) waits(name string, st election.MasterState) []Finding {
	if name == "" || st.Guards == election.NoGuards {
		return nil
	}
	left := (st.GuardUntil.Sub(st.Now) + time.Second - 1).Truncate(time.Second)
	return []Finding{{
		Severity: Info, Code: "guards-wait", Server: st.Name,
		Message: fmt.Sprintf("a campaign waits here for another %s: guards %s", left, st.Guards),
		Remedy:  "incumbent init, once, if nobody can be leading",
	}}
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
