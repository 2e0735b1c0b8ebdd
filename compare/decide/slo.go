package decide

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// An SLO is what a team asks of an election. The zero value asks for nothing; so does
// each field that is not set.
type SLO struct {
	// Failover is the longest time without a working leader after a crash of the
	// leader, Handover after a resignation.
	Failover, Handover Limit[time.Duration]
	// Leaderless is the longest time without a leader after the restart of one
	// master.
	Leaderless Limit[time.Duration]
	// Overlap is the longest time for which two may believe that they lead, or one
	// of the past may still act, under the faults that leases and guards rule out. 0
	// asks for none in any run. What no guard closes is not counted: a note says how
	// long two led there.
	Overlap Limit[time.Duration]
	// Fence says whether the resource compares tokens. Where it does not, nothing
	// stops what a leader does after a pause: no limit of Overlap can be kept.
	// Unsaid, such acts are left out, and a note says so.
	Fence Answer
	// Servers is how many Redis servers there may be, Commands how many commands a
	// second all candidates together may send to them.
	Servers  Limit[int]
	Commands Limit[float64]
	// Survive asks, when it is Yes, that the election goes on after the loss of any
	// one master, without waiting for a fail-over. No says that it may wait.
	Survive Answer
}

// A Limit is the largest value that is allowed, if it is set.
type Limit[T int | float64 | time.Duration] struct {
	Set bool
	Max T
}

// An Answer is yes, no, or not given.
type Answer int

// Answers. The zero value is Unsaid.
const (
	Unsaid Answer = iota
	Yes
	No
)

// Keys of an SLO, as Parse reads them and Check names them.
const (
	Failover   = "failover"
	Handover   = "handover"
	Leaderless = "leaderless"
	Overlap    = "overlap"
	Fence      = "fence"
	Servers    = "servers"
	Commands   = "commands"
	Survive    = "loss-of-master"
)

// Words of the answers.
const (
	wordYes     = "yes"
	wordNo      = "no"
	wordSurvive = "survive"
	wordStop    = "stop"
)

// Asks reports whether s asks for anything.
func (s SLO) Asks() bool { return s != SLO{} }

// String is the SLO in the one form that Parse gives back unchanged: keys in their
// order, without spaces. It is "" when nothing is asked.
func (s SLO) String() string {
	var parts []string
	for _, f := range fields {
		if text, set := f.show(&s); set {
			parts = append(parts, f.key+f.sign+text)
		}
	}
	return strings.Join(parts, ",")
}

// A Requirement is one thing that an SLO asks for.
type Requirement struct {
	// Key is how Parse knows it, About what it is, Rule what is asked.
	Key, About, Rule string
}

// Requirements lists all that is asked for, in the order of String.
func (s SLO) Requirements() []Requirement {
	var list []Requirement
	for _, f := range fields {
		if _, set := f.show(&s); set {
			list = append(list, Requirement{f.key, f.about, s.rule(f.key)})
		}
	}
	return list
}

// rule is what is asked of a key, in words.
func (s SLO) rule(key string) string {
	for _, f := range fields {
		if f.key != key {
			continue
		}
		text, _ := f.show(&s)
		switch {
		case f.limit && text == "0":
			return "none in any run"
		case f.limit:
			return "at most " + text
		}
		return text
	}
	return ""
}

// About lists the keys with what they ask for, a line each, for the help of a command.
func About() string {
	var b strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&b, "  %-24s %s\n", f.key+f.sign+f.example, f.about)
	}
	return b.String()
}

// duration writes d as time.Duration does, without zeros at its end: 1m, not 1m0s.
func duration(d time.Duration) string {
	if d == 0 {
		return "0"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// number writes v with all its digits.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
