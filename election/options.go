package election

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"time"
)

// Options of an elector. The zero value is usable. Values are checked against
// each other by New, and never repaired.
type Options struct {
	// ID names this candidate for people. "" means host name and process id.
	// At most 256 bytes.
	ID string
	// Metadata is shown to others with the leader. At most 4 KiB in all.
	Metadata map[string]string

	// TTL is how long a lease lasts without renewal: how long a crashed leader
	// blocks its successor. 0 means 15 s. At least 50 ms, in whole milliseconds.
	TTL time.Duration
	// MaxTTL is the longest TTL of any candidate in this election, the same for
	// all of them: guards of the store last at least that long. 0 means TTL. At
	// least TTL.
	MaxTTL time.Duration
	// Renew is the longest time between two renewals. 0 means TTL/3, which is
	// also the most; at least 1 ms.
	Renew time.Duration
	// StepDown is how long before the deadline a term's context is done. 0
	// means TTL/10. Renew + StepDown must leave room for two tries.
	StepDown time.Duration
	// Grace is how long a term is still renewed after its context is done, so
	// that nobody else starts while the work is stopping. 0 means TTL. Negative
	// means no renewal at all from then on.
	Grace time.Duration
	// MaxTerm ends a term after that time, so that leadership moves on. 0 means
	// never.
	MaxTerm time.Duration

	// MinToken is the least token to lead with: set it above what a guarded
	// resource has seen when the store was restored from an old copy. 0 means
	// no such limit.
	MinToken Token

	// Health is asked once for each renewal interval while leading, in a
	// goroutine of its own. An error, or no answer before its context ends (one
	// interval), ends the term. nil means always healthy.
	Health func(context.Context) error
	// Logger gets what people should know. nil means slog.Default().
	Logger *slog.Logger
	// Observer gets every event, in order, from a goroutine of its own: a slow
	// one never delays the elector. When it is more than 1,024 events behind,
	// events other than the start and end of a term are dropped and counted.
	// nil means nobody looks.
	Observer func(Event)

	// Clock is where time comes from. nil means SystemClock.
	Clock Clock
	// Random gives uniformly random numbers for bid values and for jitter, also to
	// several goroutines at once. nil means a cryptographic source. It exists to
	// make simulations repeatable: a source that repeats itself breaks ownership.
	Random func() uint64
}

// An OptionError says which option is wrong, its value, and the rule it breaks.
type OptionError struct {
	Field string
	Value any
	Rule  string
}

// Error gives field, value and rule.
func (e *OptionError) Error() string {
	return fmt.Sprintf("election: option %s: %v: %s", e.Field, e.Value, e.Rule)
}

const minTTL = 50 * time.Millisecond

func (o Options) withDefaults() Options {
	if o.TTL == 0 {
		o.TTL = 15 * time.Second
	}
	if o.MaxTTL == 0 {
		o.MaxTTL = o.TTL
	}
	if o.Renew == 0 {
		o.Renew = o.TTL / 3
	}
	if o.StepDown == 0 {
		o.StepDown = o.TTL / 10
	}
	if o.Grace == 0 {
		o.Grace = o.TTL
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Clock == nil {
		o.Clock = SystemClock()
	}
	if o.Random == nil {
		o.Random = secureRandom
	}
	return o
}

// Validate checks the options as New would, with defaults filled in.
func (o Options) Validate() error {
	o = o.withDefaults()
	checks := []struct {
		bad   bool
		field string
		value any
		rule  string
	}{
		{len(o.ID) > 256, "ID", fmt.Sprintf("%d bytes", len(o.ID)), "at most 256 bytes"},
		{metadataSize(o.Metadata) > 4096, "Metadata", fmt.Sprintf("%d bytes", metadataSize(o.Metadata)), "at most 4096 bytes in all"},
		{o.TTL < minTTL, "TTL", o.TTL, "at least " + minTTL.String()},
		{o.TTL%time.Millisecond != 0, "TTL", o.TTL, "a whole number of milliseconds"},
		{o.TTL > o.MaxTTL, "TTL", o.TTL, fmt.Sprintf("at most MaxTTL = %s: guards would end before a lease does", o.MaxTTL)},
		{o.MaxTTL%time.Millisecond != 0, "MaxTTL", o.MaxTTL, "a whole number of milliseconds"},
		{o.Renew < time.Millisecond, "Renew", o.Renew, "at least 1ms"},
		{o.Renew > o.TTL/3, "Renew", o.Renew, fmt.Sprintf("at most TTL/3 = %s, so that two tries can fail", o.TTL/3)},
		{o.StepDown < 0, "StepDown", o.StepDown, "not negative"},
		{o.StepDown > o.TTL/3, "StepDown", o.StepDown, fmt.Sprintf("at most TTL/3 = %s, so that a renewal fits before it", o.TTL/3)},
		{o.MaxTerm < 0, "MaxTerm", o.MaxTerm, "not negative"},
		{o.MaxTerm > 0 && o.MaxTerm < o.TTL, "MaxTerm", o.MaxTerm, fmt.Sprintf("at least TTL = %s", o.TTL)},
		{o.MinToken > MaxToken, "MinToken", o.MinToken, "at most 2^53 - 1"},
	}
	for _, c := range checks {
		if c.bad {
			return &OptionError{c.field, c.value, c.rule}
		}
	}
	return nil
}

func metadataSize(m map[string]string) (n int) {
	for k, v := range m {
		n += len(k) + len(v)
	}
	return n
}

func secureRandom() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24: it stops the program instead
	return binary.LittleEndian.Uint64(b[:])
}

// candidate describes this process to others.
func (o Options) candidate() Candidate {
	host, _ := os.Hostname() // an unknown host name is shown as such
	c := Candidate{
		ID: o.ID, Host: host, PID: os.Getpid(), Metadata: maps.Clone(o.Metadata), // the caller may change its own
		Instance: fmt.Sprintf("%016x", o.Random()),
	}
	if c.ID == "" {
		c.ID = fmt.Sprintf("%s-%d", host, c.PID)
	}
	return c
}
