// Package measure turns histories into figures. What failover latency, a
// split-brain window or a stale act is stands here and nowhere else.
//
// It does not say whether a figure is good. What a history came from matters in one
// place only: [Promises] says under which faults, and with which guards, two leaders
// are ruled out, so that seeing them is a broken rule and not a figure. Functions are
// pure; they never return NaN, and a run in which something did not happen is not
// counted as one in which it took no time.
//
// # Definitions
//
//   - Failover latency: from the fault to the start of the next term. A run
//     without one is not counted. Of several faults in a run the first one counts.
//   - Floor: the time that the lease still had at the store when the fault struck;
//     0 for a resignation; in quorum mode the time until so many masters had
//     expired that a majority was free. Overshoot: failover minus floor, which
//     can be compared across TTLs.
//   - Store outage: from the fault until a majority of masters served again, in runs in
//     which it left fewer and they came back. A master serves that executes what it is
//     asked, writes included: not one that is down, loads its data, hangs, is paused or
//     refuses writes. One that is out of reach of a candidate, or has forgotten what it
//     knew, does serve. A term that begins meanwhile ends the outage: somebody was
//     served. Of several faults in a run the first one counts. One fault leaves a
//     quorum its majority, so that there is no outage.
//   - Election after it: from the end of the outage to the start of the next term. A run
//     whose leader outlived the outage is not counted. Outage and election add up to
//     the failover; how long guards hold a restarted master back is part of the election.
//   - Leaderless time: for how long, from the fault to the end of the run, no
//     candidate's term was valid.
//   - Belief overlap: for how long the terms of two candidates were both valid,
//     each by its own Valid: max(0, end of the earlier - start of the later).
//   - Act overlap, the split-brain window: from the start of a term until the last
//     act of an earlier term reached the resource.
//   - Stale acts: acts of an earlier term that arrived after a later term had
//     begun. Attempted: all of them. Accepted, by a resource with and without a
//     fence. A fence knows a term from its first act on, so a lab's leaders act
//     as soon as they lead; what it takes of an earlier term before that act comes
//     before all that the later leader does, and is not counted as accepted.
//
// Earlier and later are by the start of terms, not by their tokens: tokens are
// what is being tested.
package measure
