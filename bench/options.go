package bench

import (
	"fmt"
	"time"
)

// Options say what Run measures, and on what. The zero value measures all modes for
// some 20 s on servers that it starts.
type Options struct {
	// Modes are what is measured besides the floors. None means all.
	Modes []Mode
	// Rounds is how often all blocks are played; at least MinRounds. 0 means DefaultRounds.
	// There are fewer where they would take a quarter more than Time, but not fewer than
	// MinRounds.
	Rounds int
	// Time is how long all blocks together should take; what comes before, 1 to 3 s,
	// comes on top. A block has at least a few operations. 0 means DefaultTime.
	Time time.Duration
	// Seed is what the order of blocks is drawn from.
	Seed uint64
	// Servers are host:port, or redis:// and rediss:// addresses as go-redis reads them,
	// one for each master. None means that servers are started on loopback, and ended.
	Servers []string
	// ServerBin is the program to start: a path, or a name in PATH. Empty means
	// redis-server or else valkey-server. It excludes Servers.
	ServerBin string
	// Progress, unless it is nil, is told after each block how many are done.
	Progress func(done, total int)

	plant func(*operation) // changes operations; for tests
}

// Bounds and defaults of Options.
const (
	// MinRounds is how many it takes for an interval of a median at 95 %.
	MinRounds     = 6
	MaxRounds     = 10_000
	DefaultRounds = 100
	DefaultTime   = 20 * time.Second
	MinTime       = 100 * time.Millisecond
	MaxTime       = 24 * time.Hour
)

// An OptionError says which of Options is wrong, and what would be right.
type OptionError struct {
	Field string // as the field of Options is called
	Value string // never more of an address than host and port
	Rule  string
}

func (e *OptionError) Error() string { return fmt.Sprintf("%s: %s: %s", e.Field, e.Value, e.Rule) }

// Check says what is wrong with the options, without doing anything. The error is an
// *OptionError.
func (o Options) Check() error {
	o, err := o.withDefaults()
	if err == nil {
		_, err = parseEndpoints(o.Servers)
	}
	return err
}

// withDefaults returns the options with defaults in place of zeros. The error is an
// *OptionError.
func (o Options) withDefaults() (Options, error) {
	if len(o.Modes) == 0 {
		o.Modes = Modes()
	}
	if o.Rounds == 0 {
		o.Rounds = DefaultRounds
	}
	if o.Time == 0 {
		o.Time = DefaultTime
	}
	switch need := masters(o.Modes); {
	case o.Rounds < MinRounds || o.Rounds > MaxRounds:
		return o, &OptionError{"Rounds", fmt.Sprint(o.Rounds), fmt.Sprintf("must be from %d to %d", MinRounds, MaxRounds)}
	case o.Time < MinTime || o.Time > MaxTime:
		return o, &OptionError{"Time", o.Time.String(), fmt.Sprintf("must be from %s to %s", MinTime, MaxTime)}
	case len(o.Servers) > 0 && o.ServerBin != "":
		return o, &OptionError{"ServerBin", o.ServerBin, "is for servers that are started: leave it out, or the list of servers"}
	case len(o.Servers) > 0 && len(o.Servers) < need:
		return o, &OptionError{"Servers", fmt.Sprintf("%d given", len(o.Servers)), fmt.Sprintf("the modes need %d", need)}
	}
	return o, nil
}
