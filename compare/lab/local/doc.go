// Package local runs elections of real processes on this machine: real
// redis-server processes, and candidates that are processes of their own, which
// faults strike with real signals, restarts, promotions of replicas, and proxies that
// can go dark.
//
// What it does not promise. A run cannot be replayed: the operating system
// decides who runs when, so every figure includes the scheduling of this
// machine, and a busy one shows. Stamps are CLOCK_MONOTONIC of one host; while
// the host itself is suspended they mean nothing. The lease's time left comes
// from PTTL, which counts in whole milliseconds; a master that does not answer is
// taken to hold the lease for as long as its holder's deadline says. The resource
// that acts are written to is the lab's own process at the other end of a pipe: an
// act's time is when the lab read it. A candidate that is killed takes with it what
// it had not yet written about itself, at most its last few microseconds.
//
// # Where it differs from the virtual lab
//
// Faults are played in the same order, so that figures mean the same. But bytes that
// a cut has swallowed do not arrive when it is healed: connections from before are
// reset. What a lossy link loses is late by as much as TCP would be, and new
// connections are not lost. A restart takes as long as the server needs, some 50 ms.
// Clocks of masters can be set where libfaketime is installed; a candidate's host
// cannot be suspended. What a leader and its standbys ask of masters is counted on its
// way, by proxies. A master that becomes a replica has the other one's data when the sync
// is over, some 20 ms later; and one that restarts with a file has really read an RDB file,
// or an append-only one that was synced at each write.
//
// # What is left behind
//
// Nothing, however the program ends: a candidate exits when its input closes, on Linux
// the kernel kills it and all servers with the program, and all files are in one
// temporary folder, which a process of its own removes as soon as the program is gone.
// Candidates and that process are the lab's own binary, started again: whatever program
// uses the lab must call ChildMain first thing in main or TestMain.
//
// A [Player] plays runs of a comparison; a [Lab] is for those who want more of one.
package local
