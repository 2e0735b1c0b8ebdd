package quorum

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-redsync/redsync/v4"
	rs "github.com/go-redsync/redsync/v4/redis"

	"incumbent/election"
	"incumbent/internal/vote"
)

// call is one operation on one master.
type call func(ctx context.Context, i int, m *vote.Master) (vote.Reply, error)

// round is one operation on all masters. redsync counts its outcome through
// pools whose connections make the calls.
type round struct {
	s      *Store
	t      *term
	call   call
	yes    string // the status that counts
	bound  time.Duration
	before []<-chan struct{}
	done   []chan struct{}

	mu    sync.Mutex
	out   []outcome
	later func(i int, o outcome) // told of every outcome from now on; nil at first
}

// outcome is what one master answered.
type outcome struct {
	known bool
	reply vote.Reply
	err   error
}

// newRound takes a place for each master in its lane, in the caller's
// goroutine, so that the order of calls is the order of operations.
func (s *Store) newRound(t *term, yes string, bound time.Duration, f call) *round {
	n := len(s.masters)
	r := &round{
		s: s, t: t, call: f, yes: yes, bound: bound, out: make([]outcome, n),
		before: make([]<-chan struct{}, n), done: make([]chan struct{}, n),
	}
	for i := range s.masters {
		r.before[i], r.done[i] = t.lanes[i].next()
	}
	s.back.Start(n)
	return r
}

// mutex is a redsync mutex over this round. It counts, and decides as soon as a
// majority has said yes or no; our calls go on.
func (r *round) mutex(b election.Bid) *redsync.Mutex {
	pools := make([]rs.Pool, len(r.s.masters))
	for i := range pools {
		pools[i] = pool{r, i}
	}
	return redsync.New(pools...).NewMutex(r.s.name,
		redsync.WithExpiry(b.TTL), redsync.WithTries(1), redsync.WithFailFast(true), redsync.WithValue(b.Value),
		redsync.WithGenValueFunc(func() (string, error) { return b.Value, nil }))
}

// run makes the call to master i after the one before it in the lane.
func (r *round) run(i int) (vote.Reply, error) {
	defer r.s.back.Done()
	waited := false
	defer func() {
		if waited {
			close(r.done[i])
			return
		}
		// The call before is still under way: who comes next waits for it, too.
		r.s.back.Go(func() { <-r.before[i]; close(r.done[i]) })
	}()
	// Its own context: redsync's ends with the majority, ours must not. Masters
	// time out a little apart, and after the caller, so that simulated runs have
	// one order.
	ctx, cancel := vote.Within(context.Background(), r.patience(i)+time.Duration(i+1)*7*time.Microsecond, vote.TryTime)
	defer cancel()
	var o outcome
	if err := r.turn(ctx, i); err != nil {
		o.err = err
	} else {
		waited = true
		o.reply, o.err = r.call(ctx, i, r.s.masters[i])
	}
	o.known = true
	r.s.silent[i].Store(errors.Is(o.err, election.ErrUnreachable))
	r.record(i, o)
	return o.reply, o.err
}

// leastPatience is what a master gets that was silent before.
const leastPatience = 20 * time.Millisecond

// patience is how long master i may take. Where the other votes are split, they
// all wait for the one that may never come: so a master that was silent before
// gets a quarter of the time to vote, until it answers again.
func (r *round) patience(i int) time.Duration {
	if r.yes == statusGranted && r.s.silent[i].Load() && r.s.answering() >= r.s.need {
		// rare: silent-master-has-less-time
		return min(r.bound, max(r.bound/4, leastPatience))
	}
	return r.bound
}

// answering is how many masters answered when last asked.
func (s *Store) answering() (n int) {
	for i := range s.silent {
		if !s.silent[i].Load() {
			n++
		}
	}
	return n
}

// turn waits for the call before.
func (r *round) turn(ctx context.Context, i int) error {
	if r.before[i] == nil {
		return nil
	}
	select {
	case <-r.before[i]:
		return nil
	case <-ctx.Done():
		// rare: call-before-unanswered
		return &election.MasterError{
			Master: r.s.masters[i].Name, Op: "wait", Kind: election.ErrUnreachable,
			Err: fmt.Errorf("the call before is still unanswered: %w", ctx.Err()),
		}
	}
}

// decide lets redsync count, and returns early when ctx ends: the calls of the
// round go on.
func (r *round) decide(ctx context.Context, count func(context.Context) bool) (ok bool, err error) {
	decided := make(chan bool, 1)
	r.s.back.Go(func() { decided <- count(context.WithoutCancel(ctx)) }) // bounded, as every call is
	select {
	case ok = <-decided:
		return ok, nil
	case <-ctx.Done():
		// rare: round-out-of-time
		return false, r.s.failure(r.unanswered(ctx))
	}
}

// ops names a round's operation by the answer that it hopes for.
var ops = map[string]string{
	statusGranted: "acquire", statusSealed: "seal", statusRenewed: "renew", statusReleased: "release",
}

// unanswered is the tally of a round whose caller's ctx ended first.
func (r *round) unanswered(ctx context.Context) tally {
	cause := fmt.Errorf("no answer within the caller's deadline: %w", ctx.Err())
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.sum()
	before := len(t.errs)
	for i, o := range r.out {
		if !o.known {
			t.errs = append(t.errs, &election.MasterError{
				Master: r.s.masters[i].Name, Op: ops[r.yes], Kind: election.ErrUnreachable, Err: cause,
			})
		}
	}
	if len(t.errs) == before {
		t.errs = append(t.errs, cause)
	}
	return t
}

func (r *round) record(i int, o outcome) {
	r.t.set(i, o.err == nil && o.reply.Status == r.yes && r.yes != statusReleased)
	r.mu.Lock()
	r.out[i] = o
	later := r.later
	r.mu.Unlock()
	if later != nil {
		later(i, o)
	}
}

// follow calls f with every outcome that is known already, and with each that
// still comes.
func (r *round) follow(f func(i int, o outcome)) {
	r.mu.Lock()
	r.later = f
	known := append([]outcome(nil), r.out...)
	r.mu.Unlock()
	for i, o := range known {
		if o.known {
			f(i, o)
		}
	}
}

// tally sums up what is known so far.
func (r *round) tally() tally {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sum()
}

// sum is tally with r.mu held.
func (r *round) sum() (t tally) {
	for i, o := range r.out {
		name := r.s.masters[i].Name
		switch {
		case !o.known:
		case o.err != nil:
			t.errs = append(t.errs, o.err)
		case o.reply.Status == r.yes:
			t.yes = append(t.yes, o.reply)
		case o.reply.Status == "guarded":
			t.guarded = append(t.guarded, guarded{name, o.reply})
			t.others = append(t.others, fmt.Sprintf("master %s: waits for its guard (%s)", name, o.reply.Guards))
		case o.reply.Status == "expired":
			t.expired++
			t.others = append(t.others, fmt.Sprintf("master %s: lease expired or lost", name))
		default:
			t.held = append(t.held, o.reply)
			t.others = append(t.others, fmt.Sprintf("master %s: held by %q", name, o.reply.Holder.ID))
		}
	}
	return t
}

// pool and conn are what redsync calls: one vote each.
type pool struct {
	r *round
	i int
}

// Get implements redis.Pool of redsync.
func (p pool) Get(context.Context) (rs.Conn, error) { return conn(p), nil }

// conn makes the round's call for whatever redsync asks of a lock key.
type conn pool

// SetNX is redsync's vote.
func (c conn) SetNX(string, string, time.Duration) (bool, error) {
	reply, err := c.r.run(c.i)
	return reply.Status == c.r.yes, err
}

// Eval is redsync's renewal or release. After a failed vote redsync releases by
// itself, at once; ours waits for the vote to return (R10), so there is nothing
// to do here.
func (c conn) Eval(*rs.Script, ...any) (any, error) {
	if c.r.yes == statusGranted {
		return int64(1), nil
	}
	reply, err := c.r.run(c.i)
	if err != nil {
		return nil, err
	}
	if reply.Status == c.r.yes {
		return int64(1), nil
	}
	return int64(0), nil
}

// Close ends nothing: connections belong to go-redis.
func (conn) Close() error { return nil }

// The rest of redsync's connection is not needed by a lock that is never asked
// for its state.
func (conn) Get(string) (string, error)         { return "", errNotUsed }
func (conn) Set(string, string) (bool, error)   { return false, errNotUsed }
func (conn) ScriptLoad(*rs.Script) error        { return errNotUsed }
func (conn) PTTL(string) (time.Duration, error) { return 0, errNotUsed }
