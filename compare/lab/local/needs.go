package local

import (
	"fmt"

	"incumbent/compare/fault"
)

// needs is what a fault asks of a lab beyond what all ask.
type needs struct {
	links  bool // proxies
	spares int  // servers that become replicas
	file   bool // snapshots as files
	log    bool // append-only files
	clocks bool // libfaketime
}

// needsOf says what a fault needs.
func needsOf(f fault.Fault) needs {
	n := needs{links: f.Store || f.Simulated} // of calm they count what passes
	switch f.Name {
	case "partition":
		n.links = true
	case "restart-old":
		n.file = true
	case "restart-aof":
		n.log = true
	case "failover", "read-only", "old-primary", "failover-acks", "old-primary-acks":
		n.spares = 1
	case "failover-twice":
		n.spares = 2
	case "clock-back", "clock-jump", "clock-jump-new":
		n.clocks = true
	case fault.Random: // clocks are left alone: to set them slows a server down
		n.spares = 2
	}
	return n
}

// needsOfAll says what the steps of a schedule need.
func needsOfAll(steps []fault.Step) (all needs) {
	all.links = true
	for _, step := range steps {
		if f, err := fault.ByName(step.Fault); err == nil { // who plays it says what is wrong
			n := needsOf(f)
			all.spares += n.spares
			all.clocks = all.clocks || n.clocks
		}
	}
	return all
}

// supports is nil for what the lab can do at all.
func supports(f fault.Fault, fakeTime string) error {
	if f.Name == "suspend" {
		return errSuspend
	}
	if needsOf(f).clocks {
		_, err := findFakeTime(fakeTime)
		if err != nil {
			return fmt.Errorf("local: %w", err)
		}
	}
	return nil
}
