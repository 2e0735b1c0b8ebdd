// Package decide holds a result of the harness against what a team asks for, and says
// which mode fits.
//
// It proves nothing. A requirement counts as met when every run of the faults it is
// about kept to it, in at least [MinRuns] runs of each; how often it may be missed all
// the same is given as an upper bound, never as "never". A requirement that the plan
// did not play is not met. What was measured at the TTL that was played, and what is
// worked out for another TTL from it, are told apart everywhere: only measured figures
// make a mode fit. The servers are counted as electors need them: replicas, Sentinels
// and spare machines come on top.
//
// [Parse] reads what a team asks for, [Decide] judges. Nothing here reads clocks, files
// or the network.
package decide
