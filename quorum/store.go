package quorum

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/internal/vote"
)

// Options of a store. The zero value is usable. The fields:
//
//   - Prefix string: what all keys start with; "" means "incumbent". No braces.
//   - Timeout time.Duration: bounds each call to one master; 0 means 1 s. An
//     operation on a lease is bounded by a quarter of its TTL besides.
//   - Retention time.Duration: how long the record outlives the last lease; 0
//     means 30 days. It keeps tokens from going back: far longer than any TTL.
//   - GuardsOff election.StoreGuards: guards that are switched off; 0 means that
//     all are on.
//   - AssumeNew bool: a master that knows nothing of the election has no leader:
//     the first election ever does not wait. Init does the same once.
//   - ReplicaAcks int: grants and renewals count only when so many replicas have
//     acknowledged them; 0 means none.
//   - MaxTTL time.Duration: the longest TTL of any candidate, for Inspect in a process
//     that has not bid; 0 means that only the record tells.
//   - Logger *slog.Logger: gets warnings about servers; nil means slog.Default().
//   - Clock election.Clock: where elapsed time comes from; nil means
//     election.SystemClock.
type Options = vote.Options

// MinMasters is the least number of masters that tolerates the loss of one.
const MinMasters = 3

// Store keeps the lease of one election on a majority of masters. It
// implements election.Store and is safe for concurrent use.
type Store struct {
	name    string
	masters []*vote.Master
	need    int // a majority
	back    vote.Background
	ping    vote.Pinger
	silent  []atomic.Bool // masters that did not answer when last asked
}

// New makes a store for the named election on independent masters, one client
// each. At least three, an odd number, none of them twice. The clients stay the
// caller's: close them after the elector. They may have any options; for our
// calls deadlines count and nothing is sent twice, whatever they say. Nothing
// is sent before first use.
func New(clients []redis.UniversalClient, name string, o Options) (*Store, error) {
	o, err := o.WithDefaults()
	if err != nil {
		return nil, fmt.Errorf("quorum: %w", err)
	}
	keys, err := vote.NewKeys(o.Prefix, name)
	if err != nil {
		return nil, fmt.Errorf("quorum: %w", err)
	}
	if len(clients) < MinMasters {
		return nil, fmt.Errorf("quorum: %d masters: at least %d, or use single", len(clients), MinMasters)
	}
	s := &Store{name: keys.Lease, need: len(clients)/2 + 1}
	seen := map[string]bool{}
	for i, c := range clients {
		if c == nil {
			return nil, fmt.Errorf("quorum: master %d of %d: no client", i+1, len(clients))
		}
		m := vote.NewMaster(c, keys)
		if seen[m.Name] && strings.Contains(m.Name, ":") { // what has no address cannot be compared
			return nil, fmt.Errorf("quorum: master %s: given twice: each master has one vote", m.Name)
		}
		seen[m.Name] = true
		if err := o.Set(m); err != nil {
			return nil, fmt.Errorf("quorum: %w", err)
		}
		m.Seals = true
		s.masters = append(s.masters, m)
	}
	vote.Together(s.masters)
	s.silent = make([]atomic.Bool, len(s.masters))
	if len(clients)%2 == 0 {
		o.Logger.Warn("an even number of masters tolerates no more faults than one less", "masters", len(clients))
	}
	return s, nil
}

// Check looks at every master and says whether a majority can serve:
// reachable, new enough, scripts allowed, independent of each other. It writes
// nothing. The error names each master that cannot.
func (s *Store) Check(ctx context.Context) error {
	errs := make([]error, len(s.masters))
	s.each(func(i int, m *vote.Master) {
		if errs[i] = m.Check(ctx); errs[i] == nil {
			errs[i] = m.Inspect(ctx).Err
		}
	})
	bad := 0
	for _, err := range errs {
		if err != nil {
			bad++
		}
	}
	if len(s.masters)-bad < s.need {
		return &Error{Errs: compact(errs), Agreed: len(s.masters) - bad, Masters: len(s.masters), Need: s.need}
	}
	return vote.Same(s.masters)
}

// Init says that nobody can be leading this election, so that guards of the
// masters need not wait: before the very first election, or after a deliberate
// wipe, when all candidates are stopped. It changes nothing else, may be called
// again, and refuses with a *election.HeldError while somebody holds the lease
// at any master. The error is an *Error when not all masters took it: those that
// did will not wait.
func (s *Store) Init(ctx context.Context) error {
	st, err := s.Inspect(ctx)
	if err != nil {
		return err
	}
	for _, m := range st.Masters {
		if m.Holder != nil {
			return &election.HeldError{Holder: *m.Holder, Left: m.Holder.Left, Last: m.Last}
		}
	}
	errs := make([]error, len(s.masters))
	s.each(func(i int, m *vote.Master) { errs[i] = m.Init(ctx) })
	if bad := compact(errs); len(bad) > 0 {
		return &Error{Errs: bad, Agreed: len(s.masters) - len(bad), Masters: len(s.masters), Need: len(s.masters)}
	}
	return vote.Same(s.masters)
}

// each calls f for all masters at once and waits for all of them.
func (s *Store) each(f func(i int, m *vote.Master)) {
	done := make(chan struct{})
	for i, m := range s.masters {
		go func() {
			f(i, m)
			done <- struct{}{}
		}()
	}
	for range s.masters {
		<-done
	}
}

// Inspect implements election.Store. It waits for every master, each within
// its timeout.
func (s *Store) Inspect(ctx context.Context) (election.State, error) {
	st := election.State{Masters: make([]election.MasterState, len(s.masters))}
	s.each(func(i int, m *vote.Master) { st.Masters[i] = m.Inspect(ctx) })
	var t tally
	for _, m := range st.Masters {
		st.Last = max(st.Last, m.Last)
		switch {
		case m.Holder == nil && m.Reachable:
			t.yes = append(t.yes, vote.Reply{})
		case m.Holder != nil:
			t.held = append(t.held, vote.Reply{Value: m.Value, Holder: *m.Holder, Left: m.Holder.Left, Token: m.Last})
		}
	}
	if l, n := t.leader(); n >= s.need {
		l.Left = t.left(s.need)
		st.Leader = &l
	}
	return st, nil
}

// Settle implements election.Store.
func (s *Store) Settle(ctx context.Context) error { return s.back.Settle(ctx) }

// Error is what went wrong when too few masters could do what was asked.
type Error struct {
	// Errs has one error for each master that failed.
	Errs []error
	// Others says in words what masters answered that neither failed nor agreed.
	Others []string
	// Agreed is how many did what was asked.
	Agreed int
	// Masters is how many there are, Need how many must agree.
	Masters, Need int
}

// Error names all masters that did not do what was asked.
func (e *Error) Error() string {
	why := append([]string{oneLine(e.Errs)}, e.Others...)
	return fmt.Sprintf("%d of %d masters agreed, %d are needed: %s", e.Agreed, e.Masters, e.Need, strings.Join(why, "; "))
}

// Unwrap gives all errors.
func (e *Error) Unwrap() []error { return e.Errs }

// Permanent reports whether so many masters failed for good that waiting
// cannot bring a majority.
func (e *Error) Permanent() bool {
	n := 0
	for _, err := range e.Errs {
		if election.Permanent(err) {
			n++
		}
	}
	return e.Masters-n < e.Need
}

func oneLine(errs []error) string {
	s := ""
	for i, err := range errs {
		if i > 0 {
			s += "; "
		}
		s += err.Error()
	}
	return s
}

func compact(errs []error) (out []error) {
	for _, err := range errs {
		if err != nil {
			out = append(out, err)
		}
	}
	return out
}

var errNoMajority = errors.New("no majority answered")
