package config

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// server is one thing to connect to: a server, a primary behind Sentinels, or
// a Cluster.
type server struct {
	name   string // for people
	store  int    // which it serves: 0, or 1 for the second one of ModeBoth
	votes  bool   // it is one of a quorum's masters
	access Access // with what is inherited
	open   func(common) redis.UniversalClient
}

// servers lists what the selected mode connects to, those of a second store last.
func (c *Config) servers() []server {
	switch {
	case c.Mode == ModeQuorum:
		return c.voters(0, c.Quorum.Masters)
	case c.Mode == ModeBoth && len(c.Quorum.NewMasters) > 0:
		return append(c.voters(0, c.Quorum.Masters), c.voters(1, c.Quorum.NewMasters)...)
	case c.Mode == ModeBoth:
		return append([]server{c.primary()}, c.voters(1, c.Quorum.Masters)...)
	}
	return []server{c.primary()}
}

// voters are the masters of a quorum, which is the first or the second store.
func (c *Config) voters(store int, masters []Master) (out []server) {
	for _, m := range masters {
		s := c.standalone(m.Address, m.Access)
		s.store, s.votes = store, true
		out = append(out, s)
	}
	return out
}

// primary is the one of single.
func (c *Config) primary() server {
	s := c.standalone(c.Single.Address, c.Single.Access)
	switch {
	case c.Single.Sentinel.Master != "":
		s.name = c.Single.Sentinel.Master + " (by Sentinel)"
		s.open = func(o common) redis.UniversalClient {
			cl := redis.NewFailoverClient(o.failover(c.Single.Sentinel))
			cl.Options().Addr = s.name // what errors call it; the Sentinels say where it is
			return cl
		}
	case len(c.Single.Cluster.Addresses) > 0:
		s.name = fmt.Sprint("cluster", c.Single.Cluster.Addresses)
		s.open = func(o common) redis.UniversalClient { return redis.NewClusterClient(o.cluster(c.Single.Cluster)) }
	}
	return s
}

func (c *Config) standalone(address string, a Access) server {
	address = normalise(address, redisPort)
	return server{
		name: address, access: a.or(c.Access),
		open: func(o common) redis.UniversalClient { return redis.NewClient(o.standalone(address)) },
	}
}

// poolSize is far more than one process has calls in flight at a time, since
// each is a single script. Subscriptions do not count.
const poolSize = 32

// common is what all kinds of client share. A lease needs calls that end when
// their context does, that are sent once, and dials that are bounded and not
// repeated behind its back.
type common struct {
	Config          // with defaults
	access          Access
	tls             *tls.Config
	sentinelSecret  string
	userAndPassword func(context.Context) (string, string, error) // nil if Access says it all
}

// common makes the options for a server. It reads the files that they need.
func (c *Config) common(s server) (common, error) {
	o := common{Config: c.withDefaults(), access: s.access, sentinelSecret: string(c.Single.Sentinel.Password)}
	var err error
	if o.tls, err = s.access.TLS.build(); err != nil {
		return o, fmt.Errorf("%s: tls: %w", s.name, err)
	}
	if f := c.Single.Sentinel.PasswordFile; f != "" && c.uses(ModeSingle) {
		if o.sentinelSecret, err = readPassword(f); err != nil {
			return o, fmt.Errorf("single.sentinel.password_file: %w", err)
		}
	}
	if f := s.access.PasswordFile; f != "" {
		o.userAndPassword = func(context.Context) (string, string, error) {
			p, err := readPassword(f) // again for each connection: it may have changed
			if err != nil {
				err = fmt.Errorf("password_file: %w", err)
			}
			return s.access.Username, p, err
		}
	}
	return o, nil
}

// dial makes a connection. Unlike the client's own dialer it ends a TLS
// handshake when ctx ends, and tells it from a connection that was not made.
func (o common) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, o.DialTimeout)
	defer cancel()
	raw, err := o.Dialer(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if o.tls == nil {
		return raw, nil
	}
	conf := o.tls.Clone()
	if conf.ServerName == "" {
		conf.ServerName, _, _ = net.SplitHostPort(address) // an address without a port was not dialed
	}
	conn := tls.Client(raw, conf)
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		if errors.Is(err, context.DeadlineExceeded) {
			// A server without TLS waits for the end of what it takes for a command.
			err = fmt.Errorf("connected, but no answer to the TLS handshake: the server hangs, or the port does not speak TLS: %w", err)
		}
		return nil, err
	}
	return conn, nil
}

func noMaintenance() *maintnotifications.Config {
	return &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}

func (o common) standalone(address string) *redis.Options {
	return &redis.Options{
		Addr: address, DB: o.DB,
		Username: o.access.Username, Password: string(o.access.Password), CredentialsProviderContext: o.userAndPassword,
		TLSConfig: o.tls, Dialer: o.dial, DialTimeout: o.DialTimeout, DialerRetries: 1,
		ReadTimeout: o.Timeout, WriteTimeout: o.Timeout, ContextTimeoutEnabled: true, MaxRetries: -1,
		PoolSize: poolSize, PoolTimeout: o.Timeout, PipelinePoolSize: -1,
		DisableIdentity: true, MaintNotificationsConfig: noMaintenance(),
	}
}

func (o common) failover(s Sentinel) *redis.FailoverOptions {
	return &redis.FailoverOptions{
		MasterName: s.Master, SentinelAddrs: normaliseAll(s.Addresses, sentinelPort),
		SentinelUsername: s.Username, SentinelPassword: o.sentinelSecret, DB: o.DB,
		Username: o.access.Username, Password: string(o.access.Password), CredentialsProviderContext: o.userAndPassword,
		TLSConfig: o.tls, Dialer: o.dial, DialTimeout: o.DialTimeout, DialerRetries: 1,
		ReadTimeout: o.Timeout, WriteTimeout: o.Timeout, ContextTimeoutEnabled: true, MaxRetries: -1,
		PoolSize: poolSize, PoolTimeout: o.Timeout, PipelinePoolSize: -1,
		DisableIdentity: true,
	}
}

// cluster keeps redirections, which a Cluster client lives on. What they repeat
// after a lost reply is harmless: a bid is recognised by its value.
func (o common) cluster(c Cluster) *redis.ClusterOptions {
	return &redis.ClusterOptions{
		Addrs:    normaliseAll(c.Addresses, redisPort),
		Username: o.access.Username, Password: string(o.access.Password), CredentialsProviderContext: o.userAndPassword,
		TLSConfig: o.tls, Dialer: o.dial, DialTimeout: o.DialTimeout, DialerRetries: 1,
		ReadTimeout: o.Timeout, WriteTimeout: o.Timeout, ContextTimeoutEnabled: true,
		PoolSize: poolSize, PoolTimeout: o.Timeout, PipelinePoolSize: -1,
		DisableIdentity: true, MaintNotificationsConfig: noMaintenance(),
	}
}

func normaliseAll(addresses []string, port string) []string {
	var out []string
	for _, a := range addresses {
		out = append(out, normalise(a, port))
	}
	return out
}
