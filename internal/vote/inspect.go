package vote

import (
	"context"
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
	st.Until, st.GuardUntil = date(f.number(8)), date(f.number(11))
	st.ReleasedToken = f.token(9)
	st.RunID, st.Arms = f.text(10), int(f.number(12))
	m.describe(ctx, &st)
	return st
}

// describe adds what INFO tells, where it is allowed.
func (m *Master) describe(ctx context.Context, st *election.MasterState) {
	info, err := m.info(ctx)
	if err != nil {
		return
	}
	st.Role, st.Version = info["role"], info["redis_version"]
	if id := info["run_id"]; id != "" {
		st.RunID = id
	}
}

func date(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}
