package fence

import (
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
)

// Kinds of RedisError of this package's own; see RedisError.Kind for the others.
var (
	// ErrScript: the token was accepted, and the act then failed: it raised an
	// error, returned one, or its source does not compile. What it had written
	// before that stays written, as with any script of Redis.
	ErrScript = errors.New("the act's script failed")
	// ErrOutcomeUnknown: no answer came. The act may have happened, may happen
	// yet, or not at all.
	ErrOutcomeUnknown = errors.New("no answer: the act may have happened")
)

// RedisError is why an act on Redis failed, when it was not fenced.
type RedisError struct {
	// Resource is the guard's key and the server's address.
	Resource string
	// Op is what was asked: raise, set, hset, del, do, known.
	Op string
	// Kind is ErrScript, ErrOutcomeUnknown, election.ErrForeignKey (the guard's
	// key holds something that is no token), election.ErrCrossSlot,
	// election.ErrClientClosed, or election.ErrRejected (the server would not run
	// the script at all). Only with the first two can the act have changed
	// anything.
	Kind error
	// Err is the cause in the server's, the client's or the script's words. If
	// a server said it, errors.As finds a redis.Error in it.
	Err error
	// Remedy is what to do about it, "" if nothing general can be said.
	Remedy string
}

// Permanent reports whether waiting does not help: the guard's key holds something
// else, or the keys do not share a slot.
func (e *RedisError) Permanent() bool {
	return errors.Is(e.Kind, election.ErrForeignKey) || errors.Is(e.Kind, election.ErrCrossSlot)
}

// Error gives resource, operation, kind, cause and remedy in one line.
func (e *RedisError) Error() string {
	s := fmt.Sprintf("%s: %s: %v: %v", e.Resource, e.Op, e.Kind, e.Err)
	if e.Remedy != "" {
		s += " (" + e.Remedy + ")"
	}
	return s
}

// Unwrap gives the kind and the cause.
func (e *RedisError) Unwrap() []error { return []error{e.Kind, e.Err} }

// scriptReply is an error that the act raised or returned. It is a redis.Error,
// so that redis.HasErrorPrefix tells one from another.
type scriptReply string

func (e scriptReply) Error() string { return string(e) }

// RedisError implements redis.Error.
func (e scriptReply) RedisError() {}

var _ redis.Error = scriptReply("")

const foreignRemedy = "something else wrote it: delete the key once no stale leader can be left, or choose another one"

// failure gives an error of the client, or of the server outside of the act,
// its kind.
func (r *Redis) failure(op string, err error) error {
	e := &RedisError{Resource: r.resource, Op: op, Kind: election.ErrRejected, Err: err}
	var answer redis.Error
	switch {
	case errors.Is(err, redis.ErrClosed): // before anything was sent
		e.Kind = election.ErrClientClosed
	case !errors.As(err, &answer):
		e.Kind, e.Remedy = ErrOutcomeUnknown, "sending it again is safe only if doing it twice is"
	case strings.Contains(err.Error(), "WRONGTYPE"):
		e.Kind, e.Remedy = election.ErrForeignKey, foreignRemedy
	case strings.Contains(err.Error(), "CROSSSLOT"):
		e.Kind, e.Remedy = election.ErrCrossSlot, slotRemedy
	case strings.Contains(err.Error(), "compiling script"):
		e.Kind = ErrScript
	}
	return e
}
