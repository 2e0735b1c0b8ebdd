// Package remote plays elections at Redis endpoints that somebody uses: the modes of a
// configuration as package config reads it, TLS and ACL users included.
//
// What it does not promise. Faults of servers are not played: nobody's server is
// stopped, restarted, promoted, flushed, reconfigured or has its clients killed, so that
// nothing is learnt of what happens then. That keys are gone in the end is promised for
// masters that can be reached, also after a kill -9 of the program: a process of its own
// waits for that. Where both are killed, or a master is out of reach, they go by
// themselves: leases after a TTL, records an hour later (see [Removed] and Set.Remove).
// Endpoints have their load from elsewhere, and the network has its own: figures are
// those of now. Candidates are processes of this one host, all as far from the masters as
// it is. A cut is made on this host, so that a master sees a silent client, not a dead
// network; bytes on their way to it still arrive. All runs have two hops over the
// loopback more than services would have; RTT and the cost of a renewal are measured
// without them.
//
// # What is written
//
// Each run has an election of its own, whose name nobody else uses: its two keys are
//
//	<prefix>:{compare-<id>-<n>}:lease and :record
//
// with the prefix of the configuration, so that an ACL user who may elect may compare,
// too. They are removed after each run, and all of them again in the end.
//
// # What is sent
//
// What candidates send (see docs/protocol.md), PING, PTTL for the lease, and DEL for
// those two keys. Beforehand what "incumbent check" sends, which only reads: INFO, TIME,
// a script that may not write, a subscription, and CONFIG GET of four directives where
// that is permitted. Nothing else: no FLUSH, CONFIG SET, SCRIPT, CLIENT KILL, KEYS, SCAN.
package remote

// Name is what histories and reports call this lab.
const Name = "remote"
