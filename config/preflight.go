package config

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/internal/vote"
)

// probe is the name of the election that a look without a name asks about. It
// is only read.
const probe = "preflight"

// Check asks every server whether it can serve the named election, and joins
// what is wrong, each a *election.MasterError: unreachable, TLS failure, wrong
// password, missing permission, too old, and so on. These are the faults among
// what Preflight finds. It writes nothing. ctx and a few timeouts bound it.
// Without a name permissions are not checked.
func (cl *Client) Check(ctx context.Context, name string) error {
	found, err := cl.Preflight(ctx, name)
	if err != nil {
		return err
	}
	var errs []error
	for _, f := range found {
		errs = append(errs, f.Err)
	}
	return errors.Join(errs...)
}

// look is Check for Open: it tells what waiting does not cure from the rest.
func (cl *Client) look(ctx context.Context) (fatal, trouble error) {
	l, err := cl.lookAt(ctx, "")
	if err != nil {
		return err, nil
	}
	if l.same != nil {
		return l.same, nil
	}
	var lasting []error
	servers, left := map[int]int{}, map[int]int{} // by store
	for i, err := range l.errs {
		store := cl.servers[i].store
		servers[store]++
		if cl.lasts(err) {
			lasting = append(lasting, err)
		} else {
			left[store]++
		}
	}
	for store, n := range servers {
		if left[store] < n/2+1 {
			return errors.Join(lasting...), nil
		}
	}
	return nil, errors.Join(l.errs...)
}

// lasts says that waiting does not help. Nobody promotes a replica that was
// given as an independent master; elsewhere a failover may be under way.
func (cl *Client) lasts(err error) bool {
	var m *election.MasterError
	return election.Permanent(err) || errors.Is(err, election.ErrReadOnly) && errors.As(err, &m) && cl.votes(m.Master)
}

// votes reports whether a server of that name is one of the quorum's masters.
func (cl *Client) votes(name string) bool {
	return slices.ContainsFunc(cl.servers, func(s server) bool { return s.votes && s.name == name })
}

// looks are what all servers showed.
type looks struct {
	names  []string
	errs   []error // one for each, nil where all is well
	states []election.MasterState
	same   error // two of them are one server
}

// lookAt looks at all servers at once.
func (cl *Client) lookAt(ctx context.Context, name string) (looks, error) {
	masters, err := cl.masters(or(name, probe))
	if err != nil {
		return looks{}, err
	}
	n := len(masters)
	l := looks{names: make([]string, n), errs: make([]error, n), states: make([]election.MasterState, n)}
	var wg sync.WaitGroup
	for i, m := range masters {
		l.names[i] = m.Name
		wg.Go(func() {
			err := m.Check(ctx)
			if err == nil {
				l.states[i] = m.Inspect(ctx)
				err = l.states[i].Err
			}
			err = cl.otherwise(ctx, cl.clients[i], m.Name, err)
			if !isSilent(err) {
				err = cl.inform(ctx, cl.clients[i], m.Name, err)
			}
			if name == "" && errors.Is(err, election.ErrNoPermission) {
				err = nil // the user may be allowed the keys of some elections only
			}
			l.errs[i] = err
		})
	}
	wg.Wait()
	for store, key := range cl.cfg.lists() {
		if err := vote.Same(cl.of(store, masters)); err != nil && l.same == nil {
			l.same = fmt.Errorf("%s: %w", key, err)
		}
	}
	return l, nil
}

// masters are the servers as the stores of the named election see them.
func (cl *Client) masters(name string) ([]*vote.Master, error) {
	keys, err := vote.NewKeys(cl.cfg.Prefix, name)
	if err != nil {
		return nil, err
	}
	o, err := cl.voteOptions(cl.cfg.Logger, nil).WithDefaults()
	if err != nil {
		return nil, err
	}
	var masters []*vote.Master
	for i, c := range cl.clients {
		m := vote.NewMaster(c, keys)
		if err := o.Set(m); err != nil {
			return nil, err
		}
		m.Seals = cl.servers[i].votes
		masters = append(masters, m)
	}
	return masters, nil
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// isSilent says that asking more would only cost time.
func isSilent(err error) bool {
	for _, kind := range []error{election.ErrUnreachable, election.ErrTLS, election.ErrAuth, election.ErrLoading, election.ErrBusy} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// inform adds to what is wrong with a server what only the configuration tells:
// which key to change, and whether it can do what was asked for. A server that
// hides INFO is taken as it is.
func (cl *Client) inform(ctx context.Context, c redis.UniversalClient, name string, found error) error {
	ctx, cancel := context.WithTimeout(ctx, cl.cfg.Timeout)
	defer cancel()
	text, err := c.Info(ctx).Result()
	_, follows := c.(*redis.ClusterClient)
	refuse := func(kind, err error, remedy string) error {
		return &election.MasterError{Master: name, Op: "check", Kind: kind, Err: err, Remedy: remedy}
	}
	if err != nil {
		if follows && strings.Contains(err.Error(), "cluster support disabled") {
			return refuse(election.ErrWrongClient, err, "use single.address for a server that is no Cluster")
		}
		return found
	}
	info := parseInfo(text)
	if info["redis_mode"] == "sentinel" {
		return refuse(election.ErrWrongClient, errors.New("a Sentinel, which keeps no data"), "use single.sentinel.addresses for Sentinels, or give the address of the primary")
	}
	if info["cluster_enabled"] == "1" && !follows && !cl.servers[slices.Index(cl.clients, c)].votes {
		return refuse(election.ErrWrongClient, errors.New("a member of a Cluster"), "use single.cluster.addresses")
	}
	// A Cluster client asks any of the servers, and they have replicas of their own.
	n, err := strconv.Atoi(info["connected_slaves"])
	if want := cl.cfg.ReplicaAcks; found == nil && !follows && err == nil && n < want {
		return refuse(election.ErrNotReplicated, fmt.Errorf("%d of %d replicas are connected", n, want), "connect replicas, or lower replica_acks")
	}
	return found
}

func parseInfo(text string) map[string]string {
	info := map[string]string{}
	for line := range strings.Lines(text) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			info[k] = v
		}
	}
	return info
}

// oneLineError is an error of many lines in one.
type oneLineError struct{ error }

func (e oneLineError) Error() string { return strings.ReplaceAll(e.error.Error(), "\n", "; ") }
