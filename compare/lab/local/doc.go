// Package local runs elections of real processes on this machine: real
// redis-server processes, and candidates that are processes of their own, which
// faults strike with real signals and a proxy that can go dark.
//
// What it does not promise. A run cannot be replayed: the operating system
// decides who runs when, so every figure includes the scheduling of this
// machine, and a busy one shows. Stamps are CLOCK_MONOTONIC of one host; while
// the host itself is suspended they mean nothing. The lease's time left comes
// from PTTL, which counts in whole milliseconds. The resource that acts are
// written to is the lab's own process at the other end of a pipe: an act's time
// is when the lab read it. A candidate that is killed takes with it what it had
// not yet written about itself, at most its last few microseconds.
//
// Candidates are the lab's own binary, started again: whatever program uses the
// lab must call ChildMain first thing in main or TestMain. Nothing outlives the
// program: a candidate exits when its input closes, and on Linux the kernel
// kills it with the program.
package local
