package compare

import (
	"context"

	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/compare/lab/local"
)

// Local is the lab of real servers and processes on this machine. The program that
// uses it must call local.ChildMain first.
type Local struct{ Player *local.Player }

// Name implements Lab.
func (l Local) Name() string {
	if l.Player.Sentinels {
		return local.SentinelName
	}
	return local.Name
}

// Play implements Lab.
func (l Local) Play(ctx context.Context, jobs []Job, done func(int, history.Run, error)) error {
	specs := make([]local.Spec, len(jobs))
	for i, j := range jobs {
		specs[i] = local.Spec(j)
	}
	return l.Player.Play(ctx, specs, done)
}

// Playable drops the faults and schedules of a plan that a lab cannot play, and says why
// for each.
func (l Local) Playable(p Plan) (Plan, []error) {
	var reasons []error
	can := func(j Job) bool {
		err := l.Player.Supports(local.Spec(j))
		if err != nil {
			reasons = append(reasons, err)
		}
		return err == nil
	}
	all := p
	p.Faults, p.Schedules = nil, nil
	for _, name := range all.Faults {
		if can(all.job(name, nil)) {
			p.Faults = append(p.Faults, name)
		}
	}
	for i, s := range all.Schedules {
		if can(all.job(s.Name, &all.Schedules[i])) {
			p.Schedules = append(p.Schedules, s)
		}
	}
	return p, reasons
}

// job is a run of the first mode.
func (p Plan) job(name string, s *fault.Schedule) Job {
	return Job{
		Seed: p.Seed, Mode: p.Modes[0].Kind, Masters: p.Modes[0].Masters, Fault: name, TTL: p.TTL, Candidates: p.Candidates,
		Renew: p.Renew, Link: p.Link, Loss: p.Loss, Drift: p.Drift, Schedule: s,
	}
}
