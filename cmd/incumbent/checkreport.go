package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"incumbent/compare/lab/remote"
	"incumbent/config"
)

// checkReport is what a check found. --json writes it.
type checkReport struct {
	Election string           `json:"election,omitempty"`
	Mode     string           `json:"mode"`
	Servers  []string         `json:"servers"`
	Result   string           `json:"result"` // ok, failed or misfit
	Errors   int              `json:"errors"`
	Warnings int              `json:"warnings"`
	Findings []config.Finding `json:"findings"`
}

// newCheckReport counts what was found, and judges it.
func newCheckReport(name string, cfg *config.Config, found []config.Finding, strict bool) *checkReport {
	r := &checkReport{Election: name, Mode: string(cfg.Mode), Servers: cfg.ServerNames(), Result: "ok", Findings: found}
	if found == nil {
		r.Findings = []config.Finding{} // null is no list
	}
	misfit := false
	for _, f := range found {
		switch f.Severity {
		case config.Fault:
			r.Errors++
			misfit = misfit || f.Permanent || !remote.Passing(f.Err)
		case config.Warning:
			r.Warnings++
		case config.Info:
		}
	}
	switch {
	case misfit:
		r.Result = "misfit"
	case r.Errors > 0, strict && r.Warnings > 0:
		r.Result = "failed"
	}
	return r
}

// code is the exit code.
func (r *checkReport) code() int {
	switch r.Result {
	case "ok":
		return exitOK
	case "misfit":
		return exitUsage
	}
	return exitFailed
}

// print writes a line for each finding, one for its remedy, and the sum. What is the same
// at several servers is said once, and counts once.
func (r *checkReport) print(w io.Writer) error {
	var b strings.Builder
	counts := map[config.Severity]int{}
	for _, f := range grouped(r.Findings) {
		counts[f.Severity]++
		_, _ = fmt.Fprintf(&b, "%-7s  %s: %s: %s\n", f.Severity, cmp.Or(f.Server, "all servers"), f.Code, f.Message)
		if f.Remedy != "" {
			_, _ = fmt.Fprintf(&b, "         remedy: %s\n", f.Remedy)
		}
	}
	verdict := map[string]string{
		"ok": "can serve", "failed": "not as it should be",
		"misfit": "servers and configuration do not fit each other: waiting does not help",
	}[r.Result]
	_, _ = fmt.Fprintf(&b, "%s, %s: %s; %s, %s, %s\n", r.Mode, plural(len(r.Servers), "server"), verdict,
		plural(counts[config.Fault], "error"), plural(counts[config.Warning], "warning"), plural(counts[config.Info], "note"))
	_, err := io.WriteString(w, b.String())
	return err
}

// grouped makes one finding of those that differ in nothing but their server, which then
// names all of these. It stands where the first one stood.
func grouped(found []config.Finding) []config.Finding {
	var groups []config.Finding
	for _, f := range found {
		i := slices.IndexFunc(groups, func(g config.Finding) bool {
			return g.Server != "" && f.Server != "" && g.Severity == f.Severity && g.Code == f.Code && g.Message == f.Message && g.Remedy == f.Remedy
		})
		if i < 0 {
			groups = append(groups, f)
			continue
		}
		groups[i].Server += ", " + f.Server
	}
	return groups
}
