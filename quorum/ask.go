package quorum

import (
	"context"

	"incumbent/election"
	"incumbent/internal/vote"
)

var _ election.Asker = (*Store)(nil)

// Ask implements election.Asker. It asks all masters at once and waits for each,
// within its timeout. So that the leader's next renewal, by whichever majority, meets
// the request, most of the masters that may hold its lease must have taken it: else
// the error is an *Error, which names those that failed, and the request may be heeded
// all the same.
func (s *Store) Ask(ctx context.Context, h election.HandOver) (election.Leader, error) {
	if err := vote.CheckAsk(h); err != nil {
		return election.Leader{}, err
	}
	var a answers
	out := make([]outcome, len(s.masters))
	s.each(func(i int, m *vote.Master) { out[i].reply, out[i].err = m.Ask(ctx, h) })
	for _, o := range out {
		a.add(o)
	}
	return a.judge(s, h.Token)
}

// answers are what the masters say to a request.
type answers struct {
	asked, others, free []vote.Reply
	errs                []error
}

func (a *answers) add(o outcome) {
	switch {
	case o.err != nil:
		a.errs = append(a.errs, o.err)
	case o.reply.Status == "asked":
		a.asked = append(a.asked, o.reply)
	case o.reply.Status == "other":
		a.others = append(a.others, o.reply)
	default:
		a.free = append(a.free, o.reply)
	}
}

// judge says whether the term of that token will hear of it. A master that missed its
// seal holds the lease under another token until the next renewal, and one that failed
// may hold it, too.
func (a *answers) judge(s *Store, token election.Token) (election.Leader, error) {
	taken := tally{yes: a.free, held: a.asked}
	l, _ := taken.leader()
	may := len(a.asked) + len(a.errs)
	for _, r := range a.others {
		if len(a.asked) > 0 && r.Value == a.asked[0].Value {
			may++
			taken.held = append(taken.held, r)
		}
	}
	switch {
	case may < s.need:
		other := tally{held: a.others}
		if by, n := other.leader(); n >= s.need {
			return election.Leader{}, &election.TakenError{By: by}
		}
		return election.Leader{}, election.ErrNoLeader
	case 2*len(a.asked) <= may:
		return election.Leader{}, &Error{Errs: a.errs, Agreed: len(a.asked), Masters: len(s.masters), Need: may/2 + 1}
	}
	l.Left = taken.left(s.need)
	return l, nil
}
