package main

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"incumbent/compare"
	"incumbent/compare/lab/remote"
)

// announcement says what is going to be done, before anything is written.
func (c *compareCommand) announcement(p compare.Plan, id remote.ID, look remote.Look) string {
	var b strings.Builder
	specs := compare.RemoteSpecs(p.Jobs())
	e := c.set.Estimate(specs, p.Candidates)
	fmt.Fprintf(&b, "Endpoints:\n%s\n", endpoints(look))
	line := func(word, format string, args ...any) {
		fmt.Fprintf(&b, "%-9s %s\n", word, strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\n          "))
	}
	line("Plays:", "%s in %s, TTL %s, %s;\nof each %s in each mode, one after another: %s", plural(len(specs), "run"),
		strings.Join(setModes(c.set), " and "), p.TTL, plural(p.Candidates, "candidate"), runsEach(p), strings.Join(cellNames(p), ", "))
	line("Takes:", "about %s", about(e.Length))
	line("Writes:", "%s\nin %s, of which one lives at a time: at most %s a master",
		id.Keys(c.set.Prefix), plural(e.Elections, "election"), plural(e.Keys, "key"))
	line("Asks:", "at most about %d requests a second of each master", e.Requests)
	line("Removes:", "all these keys in the end, also after ^C. What a crash leaves expires within %s,\nor at once with: %s", c.set.Lasting(), c.cleanupCommand(id))
	line("Never:", "FLUSH, CONFIG SET, SCRIPT, CLIENT KILL, KEYS, SCAN, a restart, a failover, or any other key.\nFaults strike candidates on this machine, and their own ends of connections.")
	return b.String()
}

// runsEach is how many runs a fault has in each mode, or from how many to how many.
func runsEach(p compare.Plan) string {
	if least, most := p.LeastRuns(), p.MostRuns(); least != most {
		return fmt.Sprintf("%d to %d", least, most)
	}
	return strconv.Itoa(p.Runs)
}

// endpoints is a table of what the look showed.
func endpoints(l remote.Look) string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	word := func(s, otherwise string) string {
		if s == "" {
			return otherwise
		}
		return s
	}
	for _, e := range l.Endpoints {
		if e.Err != nil {
			_, _ = fmt.Fprintf(t, "  %s\t%s\tcannot serve, see below\n", e.Mode, e.Name)
			continue
		}
		_, _ = fmt.Fprintf(t, "  %s\t%s\t%s\tRedis %s\tRTT %s\n", e.Mode, e.Name, word(e.Role, "role hidden"), word(e.Version, "(version hidden)"), e.RTT.Round(time.Microsecond))
	}
	_ = t.Flush() // into memory
	return b.String()
}

// cellNames are the faults and schedules of a plan.
func cellNames(p compare.Plan) []string {
	names := append([]string(nil), p.Faults...)
	for _, s := range p.Schedules {
		names = append(names, s.Name)
	}
	return names
}

// about is a time in no more than two units.
func about(d time.Duration) string {
	if d < time.Minute {
		return d.Round(time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}
