package config

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/single"
)

// probe is the name of the election that a look without a name asks about. It
// is only read.
const probe = "preflight"

// Check asks every server whether it can serve the named election, and joins
// what is wrong, each a *election.MasterError: unreachable, TLS failure, wrong
// password, missing permission, too old, and so on. It writes nothing. ctx and
// a few timeouts bound it. Without a name permissions on keys are not checked.
func (cl *Client) Check(ctx context.Context, name string) error {
	looks, err := cl.lookAt(ctx, name)
	if err != nil {
		return err
	}
	var errs []error
	for _, l := range looks {
		errs = append(errs, l.err)
	}
	return errors.Join(append(errs, sameRun(looks))...)
}

// look is Check for Open: it tells what waiting does not cure from the rest.
func (cl *Client) look(ctx context.Context) (fatal, trouble error) {
	looks, err := cl.lookAt(ctx, "")
	if err != nil {
		return err, nil
	}
	if err := sameRun(looks); err != nil {
		return err, nil
	}
	var lasting, all []error
	for _, l := range looks {
		if l.lasting() {
			lasting = append(lasting, l.err)
		}
		all = append(all, l.err)
	}
	if left := len(looks) - len(lasting); left < len(looks)/2+1 {
		return errors.Join(lasting...), nil
	}
	return nil, errors.Join(all...)
}

// A look is what one server showed.
type look struct {
	name, run string
	inQuorum  bool
	err       error
}

// lasting says that waiting does not help. Nobody promotes a replica that was
// given as an independent master; elsewhere a failover may be under way.
func (l look) lasting() bool {
	return election.Permanent(l.err) || l.inQuorum && errors.Is(l.err, election.ErrReadOnly)
}

// lookAt looks at all servers at once.
func (cl *Client) lookAt(ctx context.Context, name string) ([]look, error) {
	looks := make([]look, len(cl.clients))
	var wg sync.WaitGroup
	for i, c := range cl.clients {
		store, err := single.New(c, or(name, probe), cl.voteOptions(cl.cfg.Logger))
		if err != nil {
			return nil, err
		}
		wg.Go(func() {
			l := &looks[i]
			l.inQuorum = cl.cfg.Mode == ModeQuorum
			if l.err = store.Check(ctx); l.err == nil || !isSilent(l.err) {
				cl.inform(ctx, c, l)
			}
			if name == "" && errors.Is(l.err, election.ErrNoPermission) {
				l.err = nil // the user may be allowed the keys of some elections only
			}
		})
	}
	wg.Wait()
	return looks, nil
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

// inform reads what a server says of itself. One that hides it is taken as it is.
func (cl *Client) inform(ctx context.Context, c redis.UniversalClient, l *look) {
	ctx, cancel := context.WithTimeout(ctx, cl.cfg.Timeout)
	defer cancel()
	text, err := c.Info(ctx).Result()
	_, follows := c.(*redis.ClusterClient)
	l.name = nameOf(c)
	if err != nil {
		if follows && strings.Contains(err.Error(), "cluster support disabled") {
			l.refuse(election.ErrWrongClient, err, "use single.address for a server that is no Cluster")
		}
		return
	}
	info := parseInfo(text)
	l.run = info["run_id"]
	switch {
	case info["cluster_enabled"] == "1" && l.inQuorum:
		l.refuse(election.ErrWrongClient, errors.New("a member of a Cluster"), "a quorum needs independent masters")
	case info["cluster_enabled"] == "1" && !follows:
		l.refuse(election.ErrWrongClient, errors.New("a member of a Cluster"), "use single.cluster.addresses")
	}
}

func (l *look) refuse(kind, err error, remedy string) {
	l.err = &election.MasterError{Master: l.name, Op: "check", Kind: kind, Err: err, Remedy: remedy}
}

func nameOf(c redis.UniversalClient) string {
	switch c := c.(type) {
	case *redis.Client:
		return c.Options().Addr
	case *redis.ClusterClient:
		return fmt.Sprint("cluster", c.Options().Addrs)
	}
	return fmt.Sprintf("%T", c)
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

// sameRun finds two masters that are one server under two names.
func sameRun(looks []look) error {
	seen := map[string]string{}
	for _, l := range looks {
		if first := seen[l.run]; l.run != "" && first != "" {
			return fmt.Errorf("quorum.masters: %s and %s are one server (run_id %s): each may be given once", first, l.name, l.run)
		}
		seen[l.run] = l.name
	}
	return nil
}

// oneLineError is an error of many lines in one.
type oneLineError struct{ error }

func (e oneLineError) Error() string { return strings.ReplaceAll(e.error.Error(), "\n", "; ") }
