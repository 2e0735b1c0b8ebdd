package report

import (
	"incumbent/compare"
	"incumbent/compare/decide"
)

// A Report is all that the documents of a comparison are written from.
type Report struct {
	Result *compare.Result
	// Versions says with what it was measured, Host on which machine, Command by
	// which command.
	Versions, Host, Command string
	// Next is the command to go on with.
	Next string
	// Decision is nil where nobody asked for one.
	Decision *decide.Decision
}

// NextStep is what to go on with: Next, or words where no comparison helps.
func (r Report) NextStep() string {
	if r.Decision != nil && r.Decision.Elsewhere.Step() != "" {
		return r.Decision.Elsewhere.Step()
	}
	return r.Next
}
