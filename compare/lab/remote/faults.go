package remote

import (
	"errors"
	"fmt"
	"slices"

	"incumbent/compare/fault"
	"incumbent/compare/lab/local"
)

// clientSide lists all faults that harm nobody but candidates. Whatever is not here is
// refused, so that a new fault of servers is, too.
var clientSide = []string{
	"calm", "resign", "crash", "pause", "pause-write", "partition", "slow-link", "lossy-link",
	"master-partition", "partition-majority", "lost-reply",
}

// Faults lists the names of the faults that are played at masters of somebody else.
func Faults() []string { return slices.Clone(clientSide) }

// ErrServerSide is the error of faults that would harm a server.
var ErrServerSide = errors.New("would harm your servers, which this lab never does: --lab local plays it at servers of its own")

// Refused is nil for a fault that can be played at masters of somebody else. The error
// wraps fault.ErrUnsupported, and ErrServerSide where it would harm a server.
func Refused(name string) error {
	f, err := fault.ByName(name)
	switch {
	case err != nil:
		return err
	case slices.Contains(clientSide, name):
		return nil
	case !f.Store: // such as suspend
		return fmt.Errorf("no process can do that on its own host: %w", fault.ErrUnsupported)
	}
	return fmt.Errorf("%w (%w)", ErrServerSide, fault.ErrUnsupported)
}

// Supports is Refused for all that a run plays.
func Supports(spec local.Spec) error {
	names := []string{spec.Fault}
	if spec.Schedule != nil {
		names = nil
		for _, step := range spec.Schedule.Steps {
			names = append(names, step.Fault)
		}
	}
	for _, name := range names {
		if err := Refused(name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
