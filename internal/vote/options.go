package vote

import (
	"fmt"
	"log/slog"
	"time"

	"incumbent/election"
)

// Options are what both stores take. The zero value is usable.
type Options struct {
	// Prefix is what all keys start with. "" means DefaultPrefix. No braces.
	Prefix string
	// Timeout bounds each call to one master. 0 means 1 s. An operation on a
	// lease is bounded by a quarter of its TTL besides.
	Timeout time.Duration
	// Retention is how long a record outlives the last lease. It must be far
	// longer than any TTL, since it is what keeps tokens from going back. 0
	// means DefaultRetention.
	Retention time.Duration
	// GuardsOff switches guards off, one by one. 0 means that all are on.
	GuardsOff election.StoreGuards
	// AssumeNew says that nobody can be leading at a master that knows nothing
	// of the election, so that the first election ever need not wait for the
	// no-record guard. It counts until this store has seen a record for the first
	// time. Leave it off where a master may come back empty while this process
	// starts; Init does the same once, on purpose.
	AssumeNew bool
	// ReplicaAcks is how many replicas of a master must have acknowledged a grant
	// or a renewal for it to count (WAIT, on the same connection). 0 means none:
	// a replica that is promoted may then have missed the lease. A master that
	// has fewer can neither elect nor keep a leader.
	ReplicaAcks int
	// MaxTTL is the longest TTL of any candidate, for Inspect in a process that has
	// not bid: how long guards last. 0 means that only the record tells.
	MaxTTL time.Duration
	// Logger gets warnings about servers. nil means slog.Default().
	Logger *slog.Logger
	// Clock is where elapsed time comes from, to tell a master's clock that
	// jumped from one that runs. nil means election.SystemClock.
	Clock election.Clock
}

const minRetention = time.Hour

// WithDefaults fills in what is zero, and checks the rest.
func (o Options) WithDefaults() (Options, error) {
	if o.Timeout == 0 {
		o.Timeout = time.Second
	}
	if o.Retention == 0 {
		o.Retention = DefaultRetention
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Clock == nil {
		o.Clock = election.SystemClock()
	}
	if o.GuardsOff.Has(election.HandOverGuard) {
		return o, fmt.Errorf("option GuardsOff: %s: cannot be switched off", election.HandOverGuard)
	}
	if o.GuardsOff & ^election.AllGuards != 0 {
		return o, fmt.Errorf("option GuardsOff: %d: has bits that are no guard's", o.GuardsOff)
	}
	if o.ReplicaAcks < 0 {
		return o, fmt.Errorf("option ReplicaAcks: %d: must not be negative", o.ReplicaAcks)
	}
	if o.Timeout < time.Millisecond {
		return o, fmt.Errorf("option Timeout: %s: at least 1ms", o.Timeout)
	}
	if o.Retention < minRetention {
		return o, fmt.Errorf("option Retention: %s: at least %s", o.Retention, minRetention)
	}
	return o, nil
}

// Set gives the options to a master, if its client can do what they ask.
func (o Options) Set(m *Master) error {
	if o.ReplicaAcks > 0 && !m.countsReplicas() {
		return fmt.Errorf("option ReplicaAcks: %d: needs a *redis.Client or *redis.ClusterClient, not %T", o.ReplicaAcks, m.client)
	}
	m.Timeout, m.Retention, m.Warn = o.Timeout, o.Retention, o.Logger.Warn
	m.Guards = election.AllGuards &^ o.GuardsOff
	m.AssumeNew, m.ReplicaAcks = o.AssumeNew, o.ReplicaAcks
	m.clock.own = o.Clock
	m.clock.span(o.MaxTTL)
	return nil
}
