package config

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/internal/vote"
)

// facts are what a server that answers says about itself.
type facts struct {
	name      string
	info      map[string]string
	infoErr   error
	config    map[string]string // a few directives
	configErr error
	clock     offset
	rights    []Finding // what this user may not do
}

// directives are asked for one by one: servers before 7.0 take no more at a time,
// and a pattern could bring secrets.
var directives = []string{"save", "appendfsync", "stop-writes-on-bgsave-error", "min-replicas-to-write"}

// ask asks a server about itself. rights says that it is to be found out what this
// user may do.
func (cl *Client) ask(ctx context.Context, i int, name string, keys vote.Keys, rights bool) facts {
	f := facts{name: name, config: map[string]string{}}
	var c redis.UniversalClient = cl.clients[i]
	if cluster, ok := c.(*redis.ClusterClient); ok {
		node, err := bounded(ctx, cl.cfg.Timeout, func(ctx context.Context) (*redis.Client, error) { return cluster.MasterForKey(ctx, keys.Lease) })
		if err != nil {
			f.infoErr, f.configErr = err, err
			return f
		}
		c = node
	}
	text, err := bounded(ctx, cl.cfg.Timeout, func(ctx context.Context) (string, error) { return c.Info(ctx).Result() })
	f.info, f.infoErr = parseInfo(text), err
	for _, d := range directives {
		got, err := bounded(ctx, cl.cfg.Timeout, func(ctx context.Context) (map[string]string, error) { return c.ConfigGet(ctx, d).Result() })
		if err != nil {
			f.configErr = err
			break
		}
		f.config[d] = got[d]
	}
	f.clock = cl.clockOf(ctx, c)
	if rights {
		f.rights = cl.rightsOf(ctx, c, name, keys, f.info["redis_version"])
	}
	return f
}

// bounded calls f, bounded.
func bounded[T any](ctx context.Context, d time.Duration, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return f(ctx)
}

// offset says by how much a server's clock is ahead of ours: from least to most.
type offset struct {
	read        bool
	least, most time.Duration
}

// apart is by how much two clocks differ at least.
func (o offset) apart(p offset) time.Duration { return max(o.least-p.most, p.least-o.most, 0) }

// clockOf reads a server's clock a few times: the quickest answer says most.
func (cl *Client) clockOf(ctx context.Context, c redis.UniversalClient) (best offset) {
	for range 3 {
		sent := time.Now()
		at, err := bounded(ctx, cl.cfg.Timeout, func(ctx context.Context) (time.Time, error) { return c.Time(ctx).Result() })
		got := time.Now()
		if err != nil {
			return best
		}
		o := offset{true, at.Sub(got), at.Sub(sent)}
		if !best.read || o.most-o.least < best.most-best.least {
			best = o
		}
	}
	return best
}

// findings judges the facts.
func (f facts) findings(cl *Client) []Finding {
	if f.infoErr != nil {
		out := []Finding{unknown(f.name, "INFO is refused, so version, role, memory, persistence and replicas are not checked, nor whether two masters are one server", f.infoErr)}
		return append(out, f.rights...)
	}
	var out []Finding
	if f.info["redis_version"] == "" {
		out = append(out, unknown(f.name, "the server hides its version: it must be "+vote.MinVersion+" or newer", nil))
	}
	if f.configErr != nil {
		out = append(out, unknown(f.name, "CONFIG GET is refused, so save, appendfsync and min-replicas-to-write are not checked", f.configErr))
	}
	out = append(out, f.memory(cl)...)
	out = append(out, f.persistence(cl)...)
	out = append(out, f.replicas(cl)...)
	return append(out, f.rights...)
}

func (f facts) fault(cl *Client, kind error, what, remedy string) Finding {
	return cl.fault(&election.MasterError{Master: f.name, Op: "check", Kind: kind, Err: errors.New(what), Remedy: remedy})
}

func (f facts) finding(s Severity, code, remedy, message string, args ...any) Finding {
	return Finding{Severity: s, Code: code, Server: f.name, Message: fmt.Sprintf(message, args...), Remedy: remedy}
}

// number is a field of INFO, 0 where it has none.
func (f facts) number(field string) int64 {
	n, err := strconv.ParseInt(f.info[field], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// memory: can leases be evicted, and is there room for one?
func (f facts) memory(cl *Client) []Finding {
	limit, policy := f.number("maxmemory"), f.info["maxmemory_policy"]
	switch evicts := strings.HasPrefix(policy, "allkeys-") || strings.HasPrefix(policy, "volatile-"); {
	case evicts && limit > 0:
		return []Finding{f.finding(Warning, "eviction", "set maxmemory-policy noeviction, or give the election a server of its own",
			"maxmemory-policy is %s: leases and records may be evicted when the %d bytes of maxmemory are used", policy, limit)}
	case evicts && strings.HasPrefix(policy, "allkeys-"):
		return []Finding{f.finding(Warning, "eviction", "set maxmemory-policy noeviction",
			"maxmemory-policy is %s: leases and records may be evicted as soon as maxmemory is set", policy)}
	case evicts:
		return []Finding{f.finding(Info, "eviction", "set maxmemory-policy noeviction",
			"maxmemory-policy is %s: leases and records may be evicted as soon as maxmemory is set", policy)}
	case limit > 0 && f.number("used_memory") > limit:
		return []Finding{f.fault(cl, election.ErrOutOfMemory, fmt.Sprintf("%d bytes are used, maxmemory is %d", f.number("used_memory"), limit), "raise maxmemory or free memory")}
	}
	return nil
}

// persistence: what does a restart forget, and does a failure to save refuse writes?
func (f facts) persistence(cl *Client) []Finding {
	const repair = "repair the server's persistence: see its log and disk"
	if f.info["aof_enabled"] == "1" && f.info["aof_last_write_status"] == "err" {
		return []Finding{f.fault(cl, election.ErrMisconfigured, "the last write to the append-only file failed: the server refuses writes", repair)}
	}
	if f.info["rdb_last_bgsave_status"] == "err" {
		switch {
		case f.configErr != nil:
			return []Finding{f.finding(Warning, "persistence-failing", repair, "the last snapshot failed: the server may refuse writes")}
		case f.config["save"] != "" && f.config["stop-writes-on-bgsave-error"] != "no":
			return []Finding{f.fault(cl, election.ErrMisconfigured, "the last snapshot failed: the server refuses writes", repair)}
		}
	}
	severity, cost := Info, "the restart guard makes campaigns wait then"
	if cl.cfg.GuardsOff.Has(election.RestartGuard) {
		severity, cost = Warning, "the restart guard is off, so a second leader may come in then"
	}
	forgets := ""
	switch fsync := f.config["appendfsync"]; {
	case f.info["aof_enabled"] == "1" && (f.configErr != nil || fsync == "always"):
	case f.info["aof_enabled"] == "1":
		forgets = "appendfsync is " + fsync + ": a crash of the host forgets the latest leases"
	case f.configErr != nil:
		forgets = "there is no append-only file: a crash forgets the latest leases"
	case f.config["save"] != "":
		forgets = "only snapshots are kept (save " + f.config["save"] + "): a crash forgets the latest leases"
	default:
		forgets = "nothing is kept: a restart forgets leases and tokens"
	}
	if forgets == "" {
		return nil
	}
	return []Finding{f.finding(severity, "persistence", "appendonly yes and appendfsync always keep every lease", "%s; %s", forgets, cost)}
}

// replicasText is a number of them, in words.
func replicasText(n int64) string {
	if n == 1 {
		return "1 replica"
	}
	return fmt.Sprintf("%d replicas", n)
}

// replicas: do writes depend on them, and may one be promoted without a lease?
func (f facts) replicas(cl *Client) []Finding {
	var out []Finding
	need, _ := strconv.ParseInt(f.config["min-replicas-to-write"], 10, 64) // 0 where it is hidden
	good, counted := f.info["min_slaves_good_slaves"]
	if counted {
		need = max(need, 1) // only a server that needs some counts them
	}
	have, err := strconv.ParseInt(good, 10, 64)
	if counted && err == nil && have < need {
		return []Finding{f.fault(cl, election.ErrNoReplicas, fmt.Sprintf("%d good replicas, min-replicas-to-write is %d or more", have, need),
			"bring replicas back, or lower min-replicas-to-write")}
	}
	if need > 0 {
		out = append(out, f.finding(Info, "min-replicas", "", "nobody can be elected while fewer than %d replicas are connected (min-replicas-to-write)", need))
	}
	if n := f.number("connected_slaves"); n > 0 && cl.cfg.ReplicaAcks == 0 {
		out = append(out, f.finding(Info, "replicas", "replica_acks: 1 makes a lease count only when a replica has it",
			"%s: one that is promoted may have missed the lease; the failover guard makes campaigns wait then", replicasText(n)))
	}
	return out
}
