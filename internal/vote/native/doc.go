// Package native is the library's Lua scripts once more, in Go, for a simulated
// server that has to answer many of them: running Lua takes ten times as long.
//
// It is not a second definition of the protocol. The scripts of package vote are
// what runs at real servers, and what they answer is right; this package is for
// simulations only, and its tests compare the two, answers and stored state, over
// random calls. Each script is known by the SHA-1 of the Lua that it stands for, so
// that Lua which was changed, by a mistake or on purpose, runs as Lua.
//
// It does not answer everything. Where an argument, a record or a key is not as
// this library writes them, such as a number with a fraction or a key of another
// type, it declines before it has written anything, and the caller runs the Lua:
// so that no oddity of Lua's numbers or of a server's errors has to be repeated here.
package native
