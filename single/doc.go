// Package single keeps an election's lease on one Redis primary: a standalone
// server, a primary behind Sentinel, or a Cluster.
//
// What it does not promise: leadership survives neither the loss of that
// primary nor a fail-over to a replica that had not received the lease. Redis
// replicates asynchronously; a replica that is promoted without the lease lets
// a second leader in until the first one's next renewal. Nor does it help
// against a leader that was paused between a check and an act: see package
// election.
//
// Each operation is one Lua script, sent with EVALSHA: one round trip, in which
// lease and record change together.
package single
