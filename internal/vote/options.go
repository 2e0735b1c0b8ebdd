package vote

import (
	"fmt"
	"log/slog"
	"time"
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
	// Logger gets warnings about servers. nil means slog.Default().
	Logger *slog.Logger
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
	if o.Timeout < time.Millisecond {
		return o, fmt.Errorf("option Timeout: %s: at least 1ms", o.Timeout)
	}
	if o.Retention < minRetention {
		return o, fmt.Errorf("option Retention: %s: at least %s", o.Retention, minRetention)
	}
	return o, nil
}

// Set gives the options to a master.
func (o Options) Set(m *Master) {
	m.Timeout, m.Retention, m.Warn = o.Timeout, o.Retention, o.Logger.Warn
}
