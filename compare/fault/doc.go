// Package fault holds what can go wrong with a leader, one fault a file.
//
// A fault knows nothing of how a lab does it: to a [World] a freeze is a SIGSTOP
// or a gate in virtual time. Nor does it promise that it hurts: whether a
// candidate led when it was struck is for the lab to see to.
package fault
