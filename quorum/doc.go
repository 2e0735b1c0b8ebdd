// Package quorum keeps an election's lease on a majority of N independent Redis
// masters: the Redlock algorithm (Redis, "Distributed Locks with Redis"), with
// redsync counting the votes.
//
// What it does not promise: the masters must really be independent. Replicas
// of one another, or members of one Cluster, are one failure domain that looks
// like several. A master that forgets a lease it had granted (a restart
// without persistence, an eviction, a clock that jumps) weakens the majority
// by one. And, as in package single, nothing here stops a leader that was
// paused between a check and an act.
//
// A term starts in two steps. Votes: every master is asked at once, and answers
// with the token that it would issue. Seal: the largest of these is written to a
// majority that still holds our vote. Every operation takes the time of the
// fastest majority; the others are not cancelled but finished in the
// background, since a bare majority is one fault away from a rival.
package quorum
