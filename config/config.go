package config

import (
	"context"
	"log/slog"
	"net"
	"time"

	"incumbent/election"
	"incumbent/internal/vote"
)

// Mode selects the store.
type Mode string

// The modes. In files, variables and flags upper and lower case are the same.
const (
	// ModeSingle keeps the lease on one Redis primary.
	ModeSingle Mode = "single"
	// ModeQuorum keeps it on a majority of independent masters.
	ModeQuorum Mode = "quorum"
	// ModeBoth keeps it in both at once, or in two quorums, while an election moves
	// from the one to the other: see package both.
	ModeBoth Mode = "both"
)

// Config says where leases are kept and for how long. Make one with Load, or
// with Default and assignments; Open validates it. A zero field means the
// default, which its comment gives.
type Config struct {
	// Mode must be set.
	Mode Mode
	// ID names this candidate for people. "" means host name and process id.
	ID string
	// Metadata is shown to others with the leader. At most 4 KiB in all.
	Metadata map[string]string

	// Single is used in ModeSingle, Quorum in ModeQuorum. ModeBoth uses both, or
	// else Quorum's two lists.
	Single Single
	Quorum Quorum

	// Access applies to every server, unless its own section says otherwise.
	Access
	// DB is the number of the database. A Cluster has only 0.
	DB int

	// TTL is how long a lease lasts without renewal. 0 means 15 s.
	TTL time.Duration
	// MaxTTL is the longest TTL of any candidate, the same for all of them:
	// guards last at least that long. 0 means TTL. At least TTL.
	MaxTTL time.Duration
	// Renew is the longest time between renewals. 0 means TTL/3, the most.
	Renew time.Duration
	// StepDown is how long before its deadline a term's context is done. 0
	// means TTL/10.
	StepDown time.Duration
	// Grace is how long a term is still renewed while its work is stopping. 0
	// means TTL, negative means not at all. (In a file or variable 0s means not
	// at all, and leaving it out means TTL.)
	Grace time.Duration
	// MaxTerm ends a term after that time. 0 means never.
	MaxTerm time.Duration

	// Timeout bounds each call to one server; it must be less than TTL/2. 0
	// means 1 s, but at most TTL/4.
	Timeout time.Duration
	// DialTimeout bounds the making of a connection, TLS included; it must be
	// less than TTL/2. 0 means three quarters of Timeout, so that a call shows
	// why its connection failed.
	DialTimeout time.Duration
	// Prefix is what all keys start with. "" means "incumbent". Candidates of
	// one election must agree on it.
	Prefix string
	// Retention is how long the record of an election outlives its last lease.
	// 0 means 30 days. At least an hour.
	Retention time.Duration

	// GuardsOff are guards of the store that are switched off; none by default.
	// Without one a master that has forgotten a lease can let a second leader in
	// before the first one notices. All candidates should agree on it. (In a file a
	// list of restart, failover, no-record, early-expiry, clock, or all, or none.)
	GuardsOff election.StoreGuards
	// AssumeNew takes a master that knows nothing of an election for a new one,
	// so that the first election ever does not wait for the no-record guard. It
	// is dangerous where a master may come back empty while this process starts,
	// since somebody may still lead then: Init does the same once, on purpose.
	AssumeNew bool
	// ReplicaAcks is how many replicas of a master must have acknowledged a grant
	// or renewal for it to count. 0 means none: a replica that is promoted may
	// then have missed the lease. With fewer replicas connected nobody leads.
	ReplicaAcks int

	// Logger gets what people should know, from the electors as well. nil means
	// slog.Default(). It is no setting: set it in code.
	Logger *slog.Logger `json:"-" yaml:"-"`
	// Dialer makes the connections below TLS, within DialTimeout: for tunnels
	// and simulated networks. nil means net.Dialer. It is no setting either.
	Dialer func(ctx context.Context, network, address string) (net.Conn, error) `json:"-" yaml:"-"`

	// KeepRedisLog leaves go-redis' logger, which is one for the whole process, as
	// it is. By default Open replaces it by one that passes everything to slog but
	// the line for each failed connection, which would come with every try while a
	// store is down. No setting either.
	KeepRedisLog bool `json:"-" yaml:"-"`

	from origins
}

// Single says where the one primary is: exactly one of Address, Sentinel.Master
// and Cluster.Addresses is set.
type Single struct {
	// Address is host:port; without a port 6379 is meant.
	Address string
	// Sentinel finds the primary.
	Sentinel Sentinel
	// Cluster is where the primary is a whole Cluster.
	Cluster Cluster
	// Access overrides that of Config, field by field.
	Access
}

// Sentinel says who knows the address of the primary. TLS settings of the
// primary hold for the Sentinels too.
type Sentinel struct {
	// Master is the name under which the Sentinels know the primary.
	Master string
	// Addresses of the Sentinels; without a port 26379 is meant.
	Addresses []string
	// Username, Password and PasswordFile are the Sentinels' own; nothing is
	// inherited. At most one of the latter two.
	Username     string
	Password     Secret
	PasswordFile string
}

// Cluster lists members of a Redis Cluster to begin with; the others are found.
type Cluster struct {
	// Addresses are host:port; without a port 6379 is meant.
	Addresses []string
}

// Quorum lists the independent masters: at least three, an odd number.
type Quorum struct {
	Masters []Master
	// NewMasters are used in ModeBoth only: those that take the place of Masters,
	// some of which may be among them.
	NewMasters []Master
}

// Master is one master of a quorum. In YAML it is an address, or a mapping.
type Master struct {
	// Address is host:port; without a port 6379 is meant.
	Address string
	// Access overrides that of Config, field by field.
	Access
}

// Access says how to come in.
type Access struct {
	// Username is that of an ACL user. "" means the default user.
	Username string
	// Password, or PasswordFile, a file that holds nothing else: at most one.
	// Both empty means no password.
	Password     Secret
	PasswordFile string
	// TLS is off unless something in it is set.
	TLS TLS
}

// TLS says how to encrypt. Certificates are verified, by at least TLS 1.2.
type TLS struct {
	// Enabled decides. nil means on if any other field is set.
	Enabled *bool
	// CAFile holds the PEM certificates to trust. "" means the system's.
	CAFile string
	// ServerName is what the certificate must be for. "" means the host of the
	// address.
	ServerName string
	// CertFile and KeyFile are this client's own certificate. Both or none.
	CertFile, KeyFile string
	// Insecure switches the verification off: whoever can reach the network can
	// then read passwords and forge leases. nil means false.
	Insecure *bool
}

const (
	defaultTTL     = 15 * time.Second
	defaultTimeout = time.Second
)

// Default returns the defaults. Mode and the address of a store are missing.
func Default() *Config {
	return &Config{TTL: defaultTTL, Prefix: vote.DefaultPrefix, Retention: vote.DefaultRetention}
}

// withDefaults fills in what is zero.
func (c Config) withDefaults() Config {
	if c.TTL == 0 {
		c.TTL = defaultTTL
	}
	if c.MaxTTL == 0 {
		c.MaxTTL = c.TTL
	}
	if c.Renew == 0 {
		c.Renew = c.TTL / 3
	}
	if c.StepDown == 0 {
		c.StepDown = c.TTL / 10
	}
	if c.Grace == 0 {
		c.Grace = c.TTL
	}
	if c.Timeout == 0 {
		c.Timeout = min(defaultTimeout, c.TTL/4)
	}
	if c.DialTimeout == 0 {
		c.DialTimeout = c.Timeout * 3 / 4
	}
	if c.Prefix == "" {
		c.Prefix = vote.DefaultPrefix
	}
	if c.Retention == 0 {
		c.Retention = vote.DefaultRetention
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Dialer == nil {
		c.Dialer = new(net.Dialer).DialContext
	}
	return c
}

// or is a with what is missing taken from b.
func (a Access) or(b Access) Access {
	if a.Username == "" {
		a.Username = b.Username
	}
	if a.Password == "" && a.PasswordFile == "" {
		a.Password, a.PasswordFile = b.Password, b.PasswordFile
	}
	a.TLS = a.TLS.or(b.TLS)
	return a
}

func (t TLS) or(b TLS) TLS {
	t.Enabled, b.Enabled = t.decided(), b.decided()
	if t.Enabled == nil {
		t.Enabled = b.Enabled
	}
	if t.CAFile == "" {
		t.CAFile = b.CAFile
	}
	if t.ServerName == "" {
		t.ServerName = b.ServerName
	}
	if t.CertFile == "" && t.KeyFile == "" {
		t.CertFile, t.KeyFile = b.CertFile, b.KeyFile
	}
	if t.Insecure == nil {
		t.Insecure = b.Insecure
	}
	return t
}

// decided is whether TLS is on; nil when nothing was said.
func (t TLS) decided() *bool {
	rest := t
	rest.Enabled = nil
	if t.Enabled != nil || rest == (TLS{}) {
		return t.Enabled
	}
	return new(true)
}

func (t TLS) on() bool { return isTrue(t.decided()) }

func isTrue(b *bool) bool { return b != nil && *b }
