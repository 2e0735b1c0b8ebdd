package bench

import (
	"context"
	"errors"
	"fmt"
)

// An Op names an operation.
type Op struct {
	// Name is what it does: renew, acquire, release, acquire+release, or a floor.
	Name string `json:"name"`
	// Mode is single, quorum3 or quorum5; redsync1, redsync3 or redsync5; or empty for
	// a floor.
	Mode string `json:"mode,omitempty"`
	// Masters is how many servers it asks.
	Masters int `json:"masters"`
	// Floor names the floor that it is compared with.
	Floor string `json:"floor"`
}

// String is NAME or NAME/MODE.
func (o Op) String() string {
	if o.Mode == "" {
		return o.Name
	}
	return o.Name + "/" + o.Mode
}

// Floors: what it takes at least, without this library.
const (
	// FloorRaw is a PING on a bare connection.
	FloorRaw = "rawping"
	// FloorPing is a PING by go-redis.
	FloorPing = "ping"
	// FloorRenew is the script that people write by hand, GET and PEXPIRE, by go-redis.
	FloorRenew = "evalsha"
	// FloorCycle is SET NX PX, and a script that deletes what it set, by go-redis.
	FloorCycle = "set+delete"
)

// Operations of a mode. Those of redsync are its Extend, and Lock and Unlock.
const (
	OpAcquire = "acquire"
	OpRenew   = "renew"
	OpRelease = "release"
	OpCycle   = "acquire+release"
)

// Ops lists what is measured besides with these modes: the floors, the operations of
// each mode, and those of redsync on as many masters.
func Ops(modes []Mode) []Op {
	var ops []Op
	for _, name := range []string{FloorRaw, FloorPing, FloorRenew, FloorCycle} {
		ops = append(ops, Op{Name: name, Masters: 1, Floor: FloorRenew})
	}
	for _, m := range modes {
		for _, name := range []string{OpAcquire, OpRenew, OpRelease, OpCycle} {
			ops = append(ops, Op{name, m.Name, m.Masters, floorFor(name)})
		}
	}
	for _, m := range modes {
		for _, name := range []string{OpRenew, OpCycle} {
			ops = append(ops, Op{name, fmt.Sprintf("redsync%d", m.Masters), m.Masters, floorFor(name)})
		}
	}
	return ops
}

// floorFor is the floor of an operation of a mode: of one round trip, or of two.
func floorFor(name string) string {
	if name == OpCycle {
		return FloorCycle
	}
	return FloorRenew
}

// An operation is what is measured. Only do is timed and counted. Functions that are
// nil do nothing.
type operation struct {
	Op
	begin  func(context.Context) error // before a block
	before func(context.Context) error // before each do
	do     func(context.Context) error
	settle func(context.Context) error // waits for what do left under way; counted, not timed
	after  func(context.Context) error // after each do
	end    func(context.Context) error // after a block, also one that failed
	remove func(context.Context) error // deletes all keys; once, at the end
}

func call(ctx context.Context, f func(context.Context) error) error {
	if f == nil {
		return nil
	}
	return f(ctx)
}

// all calls functions until one fails.
func all(fs ...func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		for _, f := range fs {
			if err := call(ctx, f); err != nil {
				return err
			}
		}
		return nil
	}
}

// block calls f between begin and end.
func (o *operation) block(ctx context.Context, f func() error) error {
	err := call(ctx, o.begin)
	if err == nil {
		err = f()
	}
	// The lease is given back also when somebody wants to stop.
	return errors.Join(err, call(context.WithoutCancel(ctx), o.end))
}
