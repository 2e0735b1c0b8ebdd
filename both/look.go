package both

import (
	"context"
	"errors"
	"fmt"
	"time"

	"incumbent/election"
)

// look asks both stores, before any lease is taken, whether a bid can succeed: nil
// says that it may. Without it standbys would take the first lease, be refused the
// second, give the first back, wake each other by that, and begin again.
//
// It asks with a bid that no store can grant, since no token is larger than the
// largest. The answer tells who holds the lease and which guards wait. And unlike a
// mere reading it makes guards wait from first sight, as every refused bid does: so
// they run side by side in both stores, and beside the lease of a leader that knows
// only one of them.
func (s *Store) look(ctx context.Context, b election.Bid) error {
	knock := b
	knock.Value += lookSuffix // never b's own: a failed knock may be undone
	knock.Floor = election.MaxToken
	var errs [2]error
	s.each(func(i int, p part) {
		_, err := p.Acquire(ctx, knock)
		switch {
		case free(err) || s.ours(ctx, p, b, err):
		case s.split(ctx, i, err):
			errs[i] = fmt.Errorf("%w: %w", election.ErrContended, err)
		default:
			errs[i] = withoutKnock(err)
		}
	})
	return s.refusal(errs)
}

const lookSuffix = "?"

// free reports whether the answer to a knock is that only the token is missing, at
// more masters than those which failed.
func free(err error) bool {
	n := 0
	for _, e := range answers(err) {
		if spent(e) {
			n++
		} else {
			n--
		}
	}
	return n > 0
}

// answers are the errors of the masters of which err is made. That of one master has
// parts, too, but is one answer.
func answers(err error) []error {
	var many interface {
		error
		Unwrap() []error
	}
	var one *election.MasterError
	if !errors.As(err, &many) || errors.As(err, &one) && any(one) == any(many) {
		return []error{err}
	}
	return many.Unwrap()
}

// failed are the errors of the masters that a knock could not ask.
type failed struct {
	errs      []error
	permanent bool
}

func (f *failed) Error() string   { return joined(f.errs...).Error() }
func (f *failed) Unwrap() []error { return f.errs }
func (f *failed) Permanent() bool { return f.permanent }

// withoutKnock is err without what free masters said of the token, which was not
// meant.
func withoutKnock(err error) error {
	if !spent(err) {
		return err
	}
	f := &failed{permanent: election.Permanent(err)}
	for _, e := range answers(err) {
		if !spent(e) {
			f.errs = append(f.errs, e)
		}
	}
	return f
}

func spent(err error) bool {
	return errors.Is(err, election.ErrTokenSpent) || errors.Is(err, election.ErrTokenRegressed)
}

// split reports whether guards refuse at so few masters that they keep nobody from a
// majority: others are held by somebody who has none either. Trying again soon may win,
// as with any votes that are split; to a knock a free master's answer is no vote, so
// that a store takes the guards for the reason.
func (s *Store) split(ctx context.Context, i int, err error) bool {
	var g *election.GuardError
	if !errors.As(err, &g) {
		return false
	}
	n := int(s.masters[i].Load())
	if n == 0 {
		if st, err := s.parts[i].Inspect(ctx); err == nil {
			n = len(st.Masters)
			s.masters[i].Store(int32(n))
		}
	}
	return 2*len(g.Masters) < n
}

// ours reports whether a lease that a knock found held is that of this very bid,
// which is sent again (R9).
func (s *Store) ours(ctx context.Context, p part, b election.Bid, err error) bool {
	var held *election.HeldError
	if !errors.As(err, &held) || held.Holder.Instance != b.Candidate.Instance {
		return false
	}
	st, err := p.Inspect(ctx)
	if err != nil {
		return false
	}
	for _, m := range st.Masters {
		if m.Value == b.Value {
			return true
		}
	}
	return false
}

// refusal is the error that two answers make: what waiting does not cure first,
// then what says how long to wait. nil if both stores are free.
func (s *Store) refusal(errs [2]error) error {
	for i, err := range errs {
		if err != nil && election.Permanent(err) {
			return s.parts[i].named(err)
		}
	}
	if err := s.held(errs); err != nil {
		return err
	}
	if err := s.guarded(errs); err != nil {
		return err
	}
	return joined(s.parts[first].named(errs[first]), s.parts[second].named(errs[second]))
}

// held is the answer where somebody holds a lease: the holder with the largest
// token, and the time until both stores can be free. nil if nobody does.
func (s *Store) held(errs [2]error) error {
	var out *election.HeldError
	for _, err := range errs {
		var h *election.HeldError
		if !errors.As(err, &h) {
			continue
		}
		if out == nil || h.Holder.Token >= out.Holder.Token {
			out = &election.HeldError{Holder: h.Holder, Left: h.Left}
		}
	}
	if out == nil {
		return nil
	}
	for _, err := range errs {
		left, last := waits(err)
		out.Left, out.Last = max(out.Left, left), max(out.Last, last)
	}
	return out
}

// guarded is the answer where only guards refuse. nil if none does.
func (s *Store) guarded(errs [2]error) error {
	var out *election.GuardError
	for i, err := range errs {
		var g *election.GuardError
		if errors.Is(err, election.ErrContended) || !errors.As(err, &g) {
			continue
		}
		if out == nil {
			out = new(election.GuardError)
		}
		out.Guards |= g.Guards
		for _, m := range g.Masters {
			out.Masters = append(out.Masters, s.parts[i].master(m))
		}
		out.Left, out.Last = max(out.Left, g.Left), max(out.Last, g.Last)
	}
	if out == nil {
		return nil
	}
	return out
}

// waits says how long a refusal holds, and the highest token that it shows.
func waits(err error) (left time.Duration, last election.Token) {
	var h *election.HeldError
	var g *election.GuardError
	switch {
	case errors.As(err, &h):
		return h.Left, max(h.Last, h.Holder.Token)
	case errors.As(err, &g):
		return g.Left, g.Last
	}
	return 0, 0
}
