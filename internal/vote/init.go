package vote

import (
	"context"

	"incumbent/election"
)

// Init tells this master that nobody can be leading: guards that are waiting
// there end. It refuses with a *election.HeldError where somebody holds the
// lease.
func (m *Master) Init(ctx context.Context) error {
	if err := m.Check(ctx); err != nil {
		return err
	}
	r, err := m.call(ctx, "init", initScript, m.Retention.Milliseconds())
	if err == nil && r.Status == "held" {
		err = &election.HeldError{Holder: r.Holder, Left: max(r.Left, 0), Last: r.Token}
	}
	if err == nil {
		m.known.Store(true)
	}
	return err
}
