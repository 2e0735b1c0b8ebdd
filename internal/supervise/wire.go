package supervise

import "syscall"

// order is a line from the agent to the watchdog: one field is set.
type order struct {
	Start    *start         `json:"start,omitempty"`
	Deadline Instant        `json:"deadline,omitempty"` // a new one
	Signal   syscall.Signal `json:"signal,omitempty"`   // pass it on
	Stop     syscall.Signal `json:"stop,omitempty"`     // pass it on; the command is to end
	Kill     bool           `json:"kill,omitempty"`     // at once
}

// start is the first order. Arguments are bytes: they need not be text.
type start struct {
	Path     []byte   `json:"path"`
	Args     [][]byte `json:"args"`
	Deadline Instant  `json:"deadline"`
	Timing   Timing   `json:"timing"`
}

// answer is a line from the watchdog to the agent: one field is set.
type answer struct {
	Started  int           `json:"started,omitempty"`  // number of the process and of its group
	Failed   syscall.Errno `json:"failed,omitempty"`   // it could not be started
	Late     bool          `json:"late,omitempty"`     // it was not started: too little time is left
	Deadline Instant       `json:"deadline,omitempty"` // is known
	Asked    Reason        `json:"asked,omitempty"`    // the command was asked to end
	Killing  bool          `json:"killing,omitempty"`  // and is being killed now
	Exited   *Status       `json:"exited,omitempty"`   // the command itself has ended
	Stuck    string        `json:"stuck,omitempty"`    // cannot be killed
	Gone     bool          `json:"gone,omitempty"`     // nothing of it is left
}
