// Package election elects one leader among candidates, over a lease that a
// store keeps, and knows no store itself.
//
// # What is not promised
//
// No library can promise that two processes never act as leader at the same
// instant. Between a check of Term.Valid and the moment at which an act
// reaches a resource a process can be paused for any length of time: by the
// scheduler, a garbage collector, a suspended host. Only the resource itself
// can refuse such an act, by comparing Term.Token with the largest token it has
// seen. Nor is it promised that somebody leads: while the store cannot be
// reached nobody does. A store that forgets a lease it granted can let a second
// leader in before the first one knows; what each store does about that stands
// in its own documentation.
//
// # What is promised, and why it holds
//
//  1. A term's deadline is counted from before the request that won or renewed
//     it: sent + TTL - TTL/100 - 2ms. The store counts from when it handled the
//     request, which is later; so the term ends at this process before the lease
//     ends at the store, however slow the network, the client or the process is.
//     A local timer enforces it; no network call can delay that.
//  2. The clock counts the time during which the machine was suspended, sits
//     behind Clock, and is read whenever Valid, Remaining or the term's context
//     is asked. Nothing remembers "I am leader".
//  3. Valid is false from the deadline on. StepDown earlier the term's context
//     is done, for good, so that work has time to stop.
//  4. A bid is recognised by a value of its own. A lost reply, a hidden retry of
//     a client or a cancelled context neither loses to itself nor leaves a lease
//     that nobody owns.
//  5. Renewing and releasing ask for that value, whole, where the lease is kept.
//     A late release of one term cannot touch the next.
//  6. A lapsed term is over: a renewal counts only if the old deadline still
//     lies ahead when its reply is handled. A later win is another term with a
//     larger token.
//  7. Run gives the lease back only after the work has returned, with a context
//     of its own, after Valid is false; after a panic too.
//  8. Tokens strictly increase, as long as one record of the last token survives
//     in the store (in a quorum: in every majority), or the servers' clocks
//     disagree by less than the time since that token. A candidate that can see
//     that one would not increase does not lead with it (ErrTokenRegressed).
//  9. Zero leaders is acceptable, two is not.
//  10. A standby sleeps until the lease can be free or a release wakes it, and
//     looks about once a TTL besides. Being woken wins nothing: it must acquire.
//  11. Losing is not the end: the elector campaigns again. It never exits the
//     process and leaves no goroutine, timer or connection behind.
//  12. Every loss has a reason: context.Cause of the term's context is a *Loss.
//
// # States
//
//	                 Campaign
//	                    │
//	                    ▼
//	  ┌────────── campaigning ◄──────────────────────────┐
//	  │ ctx ends        │ granted, and enough of it left │
//	  ▼                 ▼                                │
//	no term          leading ── renewals move the ──┐    │
//	              Valid: true   deadline            │    │
//	              ctx: alive ◄──────────────────────┘    │
//	                    │ deadline - StepDown, resigned, │
//	                    │ unhealthy, MaxTerm, fenced     │
//	                    ▼                                │
//	                 stopping ── renewed for Grace ─┐    │
//	              Valid: until the   while the work │    │
//	              deadline           is stopping    │    │
//	              ctx: done ◄───────────────────────┘    │
//	                    │ deadline, taken, expired,      │
//	                    │ Resign                         │
//	                    ▼                                │
//	                  over ── released after the work ───┘
//	              Valid: false       (Run campaigns again)
//
// A term that is known to be taken or expired goes from leading to over at
// once. Only work that Run started is waited for; a term from Campaign is given
// back by Resign, Close or the next Campaign.
//
// # Time
//
// With the default TTL of 15 s: renewals at most every 5 s, each bounded so
// that two fit before the deadline; the context is done 1.5 s before it. A
// crashed leader is replaced when its lease ends, 10 to 15 s later; one that
// resigns within milliseconds.
package election
