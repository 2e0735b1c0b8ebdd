package vote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
)

// A Master is one Redis primary that votes. It runs one script per call,
// bounds it, and gives typed errors.
type Master struct {
	// Name is its address, for errors and status.
	Name string
	// Timeout bounds each call. Set by the store before first use.
	Timeout time.Duration
	// Retention is how long a record outlives the last lease.
	Retention time.Duration
	// Seals is true where a grant is only a vote that awaits its seal.
	Seals bool
	// Guards are those that are on.
	Guards election.StoreGuards
	// AssumeNew and ReplicaAcks are as in Options.
	AssumeNew   bool
	ReplicaAcks int
	// Warn is told what an operator should know. nil means nobody listens.
	Warn func(msg string, args ...any)

	keys    Keys
	client  redis.UniversalClient
	lane    chan struct{} // bounds calls in flight on a client that may ignore its context; nil if it cannot
	checked atomic.Bool
	runID   atomic.Pointer[string] // of the server that answered last; nil before, or if hidden
	known   *atomic.Bool           // a record was seen: AssumeNew has had its time; see Together
	clock   serverClock
	ears    ears
	told    told
	open    atomic.Int64 // calls in flight, for tests of leaks
}

// maxInFlight bounds the calls that hang in a client which ignores contexts.
const maxInFlight = 4

// DefaultRetention is how long a record is kept without a leader: 30 days.
const DefaultRetention = 30 * 24 * time.Hour

// NewMaster makes a master of a go-redis client. The client may have any
// options: hidden retries and ignored deadlines are switched off for our calls
// on a *redis.Client; other kinds of client are bounded from outside.
func NewMaster(client redis.UniversalClient, keys Keys) *Master {
	m := &Master{Name: nameOf(client), keys: keys, client: client, Retention: DefaultRetention, Guards: election.AllGuards, known: new(atomic.Bool)}
	m.clock.own = election.SystemClock()
	if c, ok := client.(*redis.Client); ok {
		m.client = strict(c)
	} else {
		m.lane = make(chan struct{}, maxInFlight)
	}
	return m
}

// strict is c with the settings that a lease needs, over c's own connections:
// deadlines of the context count, and nothing is sent twice.
func strict(c *redis.Client) *redis.Client {
	o := c.Options()
	if o.ContextTimeoutEnabled && o.MaxRetries == 0 {
		return c
	}
	s := c.WithTimeout(o.ReadTimeout)
	s.Options().ContextTimeoutEnabled = true // the clone's own copy
	s.Options().MaxRetries = 0
	return s
}

// sentinelName is the address that go-redis gives to a client that asks
// Sentinel for the primary.
const sentinelName = "FailoverClient"

func nameOf(client redis.UniversalClient) string {
	switch c := client.(type) {
	case *redis.Client:
		if c.Options().Addr == sentinelName {
			return "primary behind Sentinel"
		}
		return c.Options().Addr
	case *redis.ClusterClient:
		return fmt.Sprintf("cluster%v", c.Options().Addrs)
	}
	return fmt.Sprintf("%T", client)
}

// New reports whether a master without a record is to be taken for one that knows
// nothing of the election because there is nothing to know. Ask once a bid.
func (m *Master) New() bool { return m.AssumeNew && !m.known.Load() }

// Acquire asks for this master's vote. assumeNew is what New said when the bid began.
func (m *Master) Acquire(ctx context.Context, b election.Bid, assumeNew bool) (Reply, error) {
	who, err := json.Marshal(b.Candidate)
	if err != nil {
		return Reply{}, fmt.Errorf("candidate: %w", err)
	}
	if err := m.Check(ctx); err != nil {
		return Reply{}, err
	}
	longest := longest(b)
	m.clock.span(longest)
	if r, ok := m.distrusted(longest); ok {
		// rare: clock-guard-refuses
		return r, nil
	}
	r, err := m.call(ctx, "acquire", acquireScript, b.Value, b.TTL.Milliseconds(), uint64(b.Floor), who, m.kept(b.TTL),
		flag(m.Seals), m.limit(ctx), longest.Milliseconds(), letters(m.Guards), flag(assumeNew), b.Candidate.ID)
	if err == nil {
		r = m.judge(r, longest)
	}
	if err == nil && r.Status == "late" {
		if d, ok := m.distrusted(longest); ok {
			// rare: late-by-a-clock-that-jumped
			return d, nil // late by a clock that has jumped ahead
		}
		// rare: late-bid-refused
		return Reply{}, &election.MasterError{
			Master: m.Name, Op: "acquire", Kind: election.ErrLate, Err: errors.New("handled after the candidate had stopped waiting"),
		}
	}
	if err == nil && r.Status == "held" && r.Left == NoExpiry {
		return r, &election.MasterError{
			Master: m.Name, Op: "acquire", Kind: election.ErrNoExpiry, Err: errors.New("key " + m.keys.Lease),
			Remedy: "something else wrote or persisted it: delete the key when nobody leads",
		}
	}
	return r, err
}

// flag is a yes or no as scripts read it.
func flag(yes bool) string {
	if yes {
		return "1"
	}
	return ""
}

// kept is how long the record is kept from now on: Retention after the lease.
func (m *Master) kept(ttl time.Duration) int64 { return (ttl + m.Retention).Milliseconds() }

// Seal writes the token where the lease is ours.
func (m *Master) Seal(ctx context.Context, value string, token election.Token) (Reply, error) {
	return m.call(ctx, "seal", sealScript, value, uint64(token), m.Retention.Milliseconds())
}

// Renew lengthens the lease where it is ours.
func (m *Master) Renew(ctx context.Context, g election.Grant) (Reply, error) {
	return m.call(ctx, "renew", renewScript, g.Value, g.TTL.Milliseconds(), uint64(g.Token), m.kept(g.TTL))
}

// Reseat gives the leader of g this master's vote again, if it is free.
func (m *Master) Reseat(ctx context.Context, g election.Grant) (Reply, error) {
	who, err := json.Marshal(g.Candidate)
	if err != nil {
		return Reply{}, fmt.Errorf("candidate: %w", err)
	}
	if err := m.Check(ctx); err != nil {
		return Reply{}, err
	}
	return m.call(ctx, "reseat", reseatScript, g.Value, g.TTL.Milliseconds(), uint64(g.Token), who, m.kept(g.TTL), m.limit(ctx),
		longest(g.Bid).Milliseconds())
}

// Release gives the lease back where it is ours. Token 0 undoes a vote that
// never became a term. Where the connection breaks it is sent once more: all others
// would wait for the lease's end, and what another one holds by then is left alone. A
// lease that is gone at that time, or another one's, is taken to have been released by
// the first try, and somebody to have been woken.
func (m *Master) Release(ctx context.Context, value string, token election.Token) (Reply, error) {
	r, err := m.call(ctx, "release", releaseScript, value, uint64(token), m.keys.Channel)
	if !errors.Is(err, election.ErrUnreachable) || isTimeout(err) || ctx.Err() != nil {
		return r, err
	}
	// rare: release-sent-again
	r, err = m.call(ctx, "release", releaseScript, value, uint64(token), m.keys.Channel)
	if err == nil && (r.Status == "expired" || r.Status == "taken") {
		r.Status, r.Waiting = "released", max(r.Waiting, 1)
	}
	return r, err
}

// call runs a script, bounded by the master's timeout and by ctx.
func (m *Master) call(ctx context.Context, op string, s Script, args ...any) (Reply, error) {
	var r Reply
	sent := m.clock.own.Now()
	err := m.do(ctx, op, func(ctx context.Context) error {
		raw, err := m.send(ctx, s, args)
		if err != nil {
			return err
		}
		r, err = parse(raw)
		return err
	})
	if err != nil {
		return Reply{}, err
	}
	m.clock.heard(sent, r.Now)
	return r, nil
}

// limit is the server time, in milliseconds, from which on a request that is
// sent now would be handled for nobody: twice what ctx allows. 0 before the
// server's clock was seen. It is an estimate: where it is too small, because the
// server's clock jumped ahead, one request is refused, and brings a new reading.
func (m *Master) limit(ctx context.Context) int64 {
	wait := m.Timeout
	if at, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(at))
	}
	now, off := m.clock.server()
	if now.IsZero() {
		return 0
	}
	return now.Add(2*wait + off).UnixMilli()
}

// do runs f within the master's timeout and types its error.
func (m *Master) do(ctx context.Context, op string, f func(context.Context) error) error {
	m.open.Add(1)
	defer m.open.Add(-1)
	bounded, cancel := Within(ctx, m.Timeout, "timeout per master")
	defer cancel()
	var err error
	if m.lane == nil {
		err = f(bounded)
	} else {
		err = m.detached(bounded, f)
	}
	if err == nil {
		return nil
	}
	return m.fail(bounded, op, err)
}

// detached runs f where its client may ignore the context: the call is left
// behind when ctx ends, and no more than a few are ever left behind.
func (m *Master) detached(ctx context.Context, f func(context.Context) error) error {
	select {
	case m.lane <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("%d calls are stuck in the client: %w", maxInFlight, ctx.Err())
	}
	result := make(chan error, 1)
	go func() {
		defer func() { <-m.lane }()
		result <- f(ctx)
	}()
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fail types an error. A timeout says whose it was.
func (m *Master) fail(ctx context.Context, op string, err error) error {
	var typed *election.MasterError
	if errors.As(err, &typed) {
		return err
	}
	kind, remedy := kindOf(err)
	switch {
	case errors.Is(err, election.ErrTokenSpent):
		kind, remedy = election.ErrTokenSpent, "find what wrote a huge token; the record "+m.keys.Record+" may be lowered only above all tokens in use"
	case errors.Is(err, election.ErrForeignKey):
		kind, remedy = election.ErrForeignKey, "delete the key "+m.keys.Record+" if no other program uses it"
	}
	if errors.Is(kind, election.ErrUnreachable) {
		err = ran(ctx, err)
	}
	return &election.MasterError{Master: m.Name, Op: op, Kind: kind, Err: err, Remedy: remedy}
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &t) && t.Timeout()
}
