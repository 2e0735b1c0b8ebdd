// Package fence has guards: what a resource needs to refuse a leader whose term
// is over. A guard remembers the highest fencing token that it has seen, and
// refuses acts that come with a smaller one.
//
// # What is not promised
//
//   - A guard protects only what goes through it, in one piece with the
//     comparison: the same transaction (SQL), the same script (Redis), the same
//     handler (Middleware), the same call of Do (Memory). To ask the guard first
//     and act afterwards protects nothing.
//   - A resource that cannot compare tokens, such as a mail server, is not
//     helped by any guard in front of it. Make its work idempotent, or accept
//     that it may happen twice.
//   - Until a new token is seen, stale acts are accepted. A term that has begun
//     at the store is not known at the resource before it is raised there.
//   - A guard forgets what its resource forgets. A Redis that is wiped, restored,
//     or replaced by a replica that lagged behind has lost the last tokens
//     together with the last writes, and accepts stale acts until the leader acts
//     or raises again. (After a restore also set election.Options.MinToken above
//     what other resources have seen.)
//   - A token is no secret and no proof of identity. Whoever may write to the
//     resource may also lift its token, to the largest there is, and lock every
//     leader out. Authentication is not the guard's work.
//   - Acts of the same term are not kept apart: a guard is no mutex.
//
// # What is promised
//
// Once a guard has seen a token, no act with a smaller one has any effect on
// what it guards, whichever process was paused for how long, and however late
// the act arrives. Raise returns nil only once that holds for acts that were
// under way as well: they have ended before, or never will. Of two acts with
// different tokens it is therefore always the smaller one's that came first.
//
// It holds because comparing, remembering and acting are one step at the
// resource, and because tokens are compared as exact integers and never go down.
//
// # Raise before the work
//
// Say that term 41's leader is paused in the middle of its work, and term 42
// begins. If 42 reads the resource, computes, and writes its first result a
// minute later, then for this minute the resource knows 41 only. 41 wakes up,
// writes, is accepted, and what 42 had read is no longer true (rule R14 of the
// protocol). Raise closes that gap: it lifts the token before anything is read.
// election.Run does so when it is given the guards:
//
//	election.Run(ctx, e, work, guard)
//
// A guard that cannot be reached keeps the work from starting. A guard that
// knows a higher token, for example since the store was restored from an old
// copy, ends the term as fenced, and the next one's token is above it. Work that
// returns a *election.FencedError ends its term in the same way.
//
// # Which one
//
//   - SQL: a database. Transactions call Check, or SQL.Do runs them. Rows puts
//     the token into the rows themselves.
//   - Redis: keys of a Redis server. Set, HSet, Del, and Do for a script of your
//     own.
//   - Middleware, at an HTTP service; Transport and HTTPGuard, at its clients.
//     The service reads the header Incumbent-Token and answers 409 Conflict with
//     the higher token. The act is the handler, so this suits a service that runs
//     as one process. One with several should pass the token on
//     (TokenFromContext) to the database that they share; a Memory in each would
//     be several guards.
//   - Memory: what lives in one process, and tests.
//
// One guard may serve several resources only if all their acts go through it. One
// resource may have several guards, one for each election that writes to it.
//
// # When the outcome is unknown
//
// A *election.FencedError says that the act had no effect. An answer that was
// lost (ErrOutcomeUnknown, or any error of an HTTP request) says nothing: the act
// may have happened. A guard makes it safe against other terms to send it again;
// whether it is safe to do it twice is known to the caller alone, so nothing here
// does that by itself.
package fence
