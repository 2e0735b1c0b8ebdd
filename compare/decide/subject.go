package decide

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"incumbent/compare"
	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/compare/measure"
)

// Faults that requirements are about.
const (
	resign      = "resign"
	crash       = "crash"
	pauseWrite  = "pause-write"
	calm        = "calm"
	masterCrash = "master-crash"
	restart     = "restart-empty" // what costs a guard most
	restarts    = "restart-"      // what all restarts of a master begin with
)

// A subject is a mode of a result, as it was played with the guards of the store on.
type subject struct {
	slo   SLO
	r     *compare.Result
	mode  compare.Mode
	cells []measure.Cell
}

func newSubject(slo SLO, r *compare.Result, m compare.Mode) *subject {
	s := &subject{slo: slo, r: r, mode: m}
	for _, c := range r.Cells {
		if c.Mode == m.Kind && c.Masters == m.Masters && c.Guards != history.GuardsOff {
			s.cells = append(s.cells, c)
		}
	}
	return s
}

// cell is the one of a fault. When there is none, or it has too few runs, the check says
// so instead, and what to add.
func (s *subject) cell(name string) (measure.Cell, *Check) {
	i := slices.IndexFunc(s.cells, func(c measure.Cell) bool { return c.Fault == name })
	switch {
	case i < 0 && slices.Contains(s.r.Plan.Faults, name) && !s.guardsOn():
		return measure.Cell{}, unmeasured(name+" was played without guards only", "--guards on")
	case i < 0:
		return measure.Cell{}, unmeasured(name+" was not played", "--faults "+name)
	case s.cells[i].Runs < MinRuns:
		return measure.Cell{}, unmeasured(few(s.cells[i].Runs, name), "--runs 100")
	}
	return s.cells[i], nil
}

func few(runs int, fault string) string {
	return fmt.Sprintf("only %s of %s, too few to tell", plural(runs, "run"), fault)
}

// unmeasured is a check of which nothing can be said, and the flag that helps.
func unmeasured(found, add string) *Check {
	return &Check{State: NotMeasured, Value: "not measured", Found: found, Add: add}
}

// guardsOn reports whether the plan has guards of the store on.
func (s *subject) guardsOn() bool {
	return len(s.r.Plan.Guards) == 0 || slices.Contains(s.r.Plan.Guards, history.GuardsOn)
}

// restarted lists the cells in which one master restarts.
func (s *subject) restarted() []measure.Cell {
	var list []measure.Cell
	for _, c := range s.cells {
		if strings.HasPrefix(c.Fault, restarts) {
			list = append(list, c)
		}
	}
	return list
}

// rate is how many commands a second all candidates together send while nothing is
// wrong, at that TTL. A leader asks once for each renewal and a standby about once for
// each lease, so that it goes down as they get longer. It is 0 when it was not measured.
func (s *subject) rate(ttl time.Duration) float64 {
	leader, standby := 0.0, 0.0
	for _, c := range s.cells {
		if c.Load != nil {
			leader, standby = max(leader, c.Load.Leader), max(standby, c.Load.Standby)
		}
	}
	p := s.r.Plan
	return leader*s.renew(p.TTL).Seconds()/s.renew(ttl).Seconds() +
		float64(p.Candidates-1)*standby*p.TTL.Seconds()/ttl.Seconds()
}

// renew is the renewal interval that goes with a TTL: what was played at that one, else a
// third, the default of the library and the most that it allows.
func (s *subject) renew(ttl time.Duration) time.Duration {
	if p := s.r.Plan; ttl == p.TTL && p.Renew > 0 {
		return p.Renew
	}
	return ttl / 3
}

// stalls reports whether leaders may be stopped between check and act in a cell in which
// leases and guards otherwise see to it that one leads.
func stalls(c measure.Cell) bool {
	if c.Lab == history.Virtual {
		return !c.Promise().Acts
	}
	f, err := fault.ByName(c.Fault)
	return err == nil && f.Stalls
}

// guarded lists the single faults that the guards of the store are for.
func guarded() []string {
	var names []string
	for _, f := range fault.All() {
		if f.Danger == fault.Guarded && f.Name != fault.Random {
			names = append(names, f.Name)
		}
	}
	return names
}

// milliseconds is a figure of package measure as a duration.
func milliseconds(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }
