// Package fault holds what can go wrong with a leader and with a store, one fault a
// file.
//
// A fault knows nothing of how a lab does it: to a [World] a freeze is a SIGSTOP
// or a gate in virtual time. Nor does it promise that it hurts: whether a
// candidate led when it was struck is for the lab to see to.
//
// # Faults of the store
//
// They strike one master at a random moment of a live term, while the leader lives
// on. With one master that is all that there is. With several, a leader that holds
// more of them than a majority outlives the loss of one, and nothing is to be
// seen. So in three of four runs it is first cut off, it alone, from as many
// masters as it can do without, until its lease has run out there: it holds a bare
// majority, the rest is free for others, and one of those that it holds is
// struck. In the fourth run it holds all of them.
//
// # Schedules
//
// A [Schedule] plays several faults in one run, one after the other or one on top of
// the other, as a YAML file says ([ReadSchedule]) or, for the fault that is called
// random, as the seed draws them. It does not promise that all steps strike: one that
// finds nobody is skipped, and the history says so. What heals one fault may heal
// another one that struck the same candidate in the same way.
package fault
