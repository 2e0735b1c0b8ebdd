package config

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/internal/vote"
)

// rightsScript runs what an election runs, as a script that may not write: what
// this user may not run is refused for another reason than the rest, and nothing
// is changed. Servers before 7.0 know no such scripts.
//
//go:embed rights.lua
var rightsScript string

// rightsOf asks what this user may not do.
func (cl *Client) rightsOf(ctx context.Context, c redis.UniversalClient, name string, keys vote.Keys, version string) []Finding {
	f := facts{name: name}
	var out []Finding
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err != nil || n < 7 {
		out = append(out, unknown(name, "a server before 7.0, or of a hidden version, cannot be asked without writing what a user may run: see the permissions in docs/protocol.md", nil))
	} else {
		missing, err := bounded(ctx, cl.cfg.Timeout, func(ctx context.Context) ([]string, error) {
			return c.Eval(ctx, rightsScript, []string{keys.Lease, keys.Record}, keys.Channel).StringSlice()
		})
		if err != nil {
			return append(out, unknown(name, "what the user may run could not be found out", err))
		}
		mute := slices.Contains(missing, "PUBLISH")
		missing = slices.DeleteFunc(missing, func(c string) bool { return c == "PUBLISH" })
		if len(missing) > 0 {
			out = append(out, f.fault(cl, election.ErrNoPermission, "the user may not run "+strings.Join(missing, ", ")+" on the keys of this election",
				"grant the ACL user the commands and key pattern that docs/protocol.md lists"))
		}
		if mute {
			out = append(out, f.finding(Warning, "no-wake-ups", "grant PUBLISH and the channel "+keys.Channel, "the user may not publish: standbys wait for the end of a lease that is given back"))
		}
	}
	if err := cl.listens(ctx, c, keys.Channel); err != nil {
		out = append(out, f.finding(Warning, "no-wake-ups", "grant PING, SUBSCRIBE and the channel "+keys.Channel,
			"the user may not subscribe, so it waits for the end of a lease that is given back: %s", oneLineError{err}))
	}
	if cl.cfg.ReplicaAcks > 0 {
		_, err := bounded(ctx, cl.cfg.Timeout, func(ctx context.Context) (any, error) { return c.Do(ctx, "WAIT", 0, 1).Result() })
		if err != nil {
			out = append(out, cl.fault(waitError(name, err)))
		}
	}
	return out
}

// waitError says why WAIT, which replica_acks needs, was not executed.
func waitError(name string, err error) error {
	e := vote.Typed(name, "check", fmt.Errorf("WAIT, which replica_acks needs: %w", err))
	switch {
	case errors.Is(e.Kind, election.ErrNoPermission):
		e.Remedy = "grant the ACL user WAIT, or set replica_acks to 0"
	case errors.Is(e.Kind, election.ErrRejected):
		e.Remedy = "see what the server says; one without WAIT needs replica_acks to be 0"
	}
	return e
}

// listens subscribes to the channel for a moment.
func (cl *Client) listens(ctx context.Context, c redis.UniversalClient, channel string) error {
	_, err := bounded(ctx, cl.cfg.Timeout, func(ctx context.Context) (any, error) {
		sub := c.Subscribe(ctx, channel)
		_, err := sub.Receive(ctx)
		_ = sub.Close() // of a connection that is done with
		if err != nil {
			return nil, err
		}
		return nil, c.Ping(ctx).Err()
	})
	return err
}
