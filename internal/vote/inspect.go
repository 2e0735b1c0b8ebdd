package vote

import (
	"context"
	"strconv"
	"strings"
	"time"

	"incumbent/election"
)

// Inspect reads what this master stores. It never fails: a master that cannot
// be asked is a state too.
func (m *Master) Inspect(ctx context.Context) election.MasterState {
	st := election.MasterState{Name: m.Name}
	var raw []any
	err := m.do(ctx, "inspect", func(ctx context.Context) (err error) {
		raw, err = inspectScript.run(ctx, m.client, []string{m.keys.Lease, m.keys.Record})
		return err
	})
	if err != nil {
		st.Err = err
		return st
	}
	r, err := parse(raw)
	if err != nil {
		st.Err = m.fail(ctx, "inspect", err)
		return st
	}
	st.Reachable, st.Now, st.Last, st.Value = true, r.Now, r.Token, r.Value
	if r.Value != "" {
		st.Holder = &r.Holder
	}
	f := fields(raw)
	if f.text(5) != "" {
		latest := r.Holder
		latest.Left = 0
		st.Latest = &latest
	}
	if r.Value != "" || f.text(8) != "" || f.text(13) != "" {
		m.known.Store(true)
	}
	st.Until, st.ReleasedToken, st.Arms = date(f.number(8)), f.token(9), int(f.number(12))
	// A vote that was undone leaves until at 0, too, but its token behind.
	st.Initialised = f.text(8) == "0" && st.Last == 0 && (f.text(6) == "" || f.text(14) != "")
	st.RunID, _, _ = strings.Cut(f.text(10), "-")
	info, err := m.info(ctx)
	if err == nil {
		m.describe(&st, info)
	}
	m.waiting(&st, f, info)
	return st
}

// describe adds what INFO tells.
func (m *Master) describe(st *election.MasterState, info map[string]string) {
	st.Role, st.Version = info["role"], info["redis_version"]
	if id := info["run_id"]; id != "" {
		st.RunID = id
		m.metByInfo(id)
	}
}

// waiting says which guards would refuse a bid now, by the same rules as the
// acquire script, which has the last word. The guard that a bid would arm itself
// is not among them.
func (m *Master) waiting(st *election.MasterState, f fields, info map[string]string) {
	length := max(m.clock.longest(), millis(f.number(7)))
	note := func(g election.StoreGuards, until time.Time) {
		if m.Guards.Has(g) && until.After(st.Now) {
			st.Guards |= g
			st.GuardUntil = later(st.GuardUntil, until)
		}
	}
	if st.Value == "" {
		note(election.ExpiryGuard, st.Until)
	}
	note(election.NoRecordGuard, date(f.number(13)))
	note(election.FailoverGuard, date(f.number(11)))
	if up, err := strconv.Atoi(info["uptime_in_seconds"]); err == nil && (info["run_id"] == "" || info["run_id"] != f.text(14)) {
		note(election.RestartGuard, st.Now.Add(length+time.Second-time.Duration(up)*time.Second))
	}
	if until := date(f.number(17)); st.Value == "" && f.text(16) != "" && until.After(st.Now) {
		st.Heir, st.Guards, st.GuardUntil = f.text(16), st.Guards|election.HandOverGuard, later(st.GuardUntil, until)
	}
	note(election.ClockGuard, st.Now.Add(m.clock.distrust(length)))
}

// Foreign reports whether a master's lease has a value that its holder did not write: no
// candidate leads by it.
func Foreign(m election.MasterState) bool {
	return m.Holder != nil && m.Holder.Instance != "" && !strings.HasPrefix(m.Value, m.Holder.Instance+"-")
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func date(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}
