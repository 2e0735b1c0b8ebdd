// Package both keeps an election's lease in two stores at once, for the time in
// which an election moves from the one to the other.
//
// What it does not promise: it makes nothing safer or more available than one
// store. Nobody leads while either of the two cannot be asked. And it does not
// help when candidates that use only the first store run beside candidates that
// use only the second: these two know nothing of each other, and both lead.
//
// # The move
//
// From a first store to a second one, with no moment of two leaders:
//
//  1. All candidates use the first store.
//  2. They are replaced, one after the other, by candidates that use both. What
//     excludes is the lease in the first store, which all of them need.
//  3. Only when none is left that uses the first alone: they are replaced by
//     candidates that use the second. What excludes is the lease there.
//
// The way back is the same in reverse, with the two in the same order. Between
// steps 2 and 3, in both directions, one candidate must have led with both leases:
// its token is then in both stores, so that later ones are larger in either.
//
// # What a term needs
//
// Its token is not smaller than any that either store has issued, and stands in
// both of them before the term begins. A renewal counts when both stores confirm
// it, and the term ends as soon as one says that its lease is gone.
//
// The deadline holds for both leases. The elector counts it from before Acquire or
// Renew is called, and each store grants or renews its lease after that, for a full
// TTL: neither ends before the deadline that the elector believes in.
//
// The two may share servers: a Redis that serves single may become one of the
// quorum's masters, and two quorums may differ in one master only. Every lease of a
// bid carries the same value, which a server then finds to be its own (rule R9).
//
// The order of the two matters for speed alone. Candidates that take them in
// different orders can keep each other from both for a while, and never lead both.
package both
