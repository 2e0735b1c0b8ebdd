// Package virtual is the lab that needs Go and nothing else: candidates with the
// real electors, redsync and go-redis, and masters that are real Lua in
// miniredis, on a simulated network in virtual time.
//
// It does not promise that a Redis server behaves as miniredis does, nor that a
// kernel delays and stops programs as the simulation does; package local is there
// to compare with. Delays are those of a small local network, unless a [Spec] says
// otherwise, and computing takes no time at all: its figures are what the protocol
// itself costs, and a lower bound for anything real.
//
// Masters look as if they had been up for a day, and are told before a run that
// nobody can be leading, so that guards of the store wait for what a fault does and
// not for the beginning.
//
// What it does promise is that a seed replays: the same [Spec] gives the same
// history, byte for byte, on any machine and with any GOMAXPROCS. So all that
// acts by itself here owns residues of simnet's comb (see there), all randomness
// is drawn from the seed, and nothing that differs from process to process, such
// as a host name or a process id, gets on the wire.
//
// [Play] plays one run inside a bubble. [Pool] plays many in child processes, one
// a core, since an error of the bubble itself ends its process.
package virtual
