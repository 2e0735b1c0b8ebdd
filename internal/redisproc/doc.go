// Package redisproc runs real redis-server or valkey-server processes for
// tests, benchmarks and the local lab.
//
// It does not promise a server that outlives its program: on Linux the kernel
// kills the server when the program dies in whatever way; elsewhere a program
// that is killed leaves its servers behind. It offers no durability beyond what
// Persistence says, listens on 127.0.0.1 only, and makes no cluster of more
// than one node.
//
// A server keeps its configuration, log and data in a temporary folder of its
// own, which Stop removes. Signals go only to the process that this package
// started and has not yet reaped: never to a number read from elsewhere.
package redisproc
