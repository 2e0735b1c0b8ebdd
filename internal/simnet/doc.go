// Package simnet is a simulated network with simulated Redis masters, for tests
// in virtual time. The real go-redis client talks to the real miniredis server;
// only the wire between them, the masters' clocks and their misfortunes are made
// up. One seed gives one history.
//
// # What is not promised
//
// It is not TCP: buffers are endless, a write never waits for the peer, and
// congestion does not exist. It is not a Redis server: blocking commands, and
// PUBLISH, SUBSCRIBE, INFO and WAIT inside MULTI, are refused with an error; WAIT
// never waits; nothing is replicated, and there are no ACLs or memory limits,
// though [Master.Intercept], [Master.InterceptScript] and [Master.Refuse] can give their
// answers.
// The package knows nothing of elections.
//
// A goroutine cannot be stopped between two statements. [World.Freeze] therefore
// stops a host at its network calls, and at whatever else is made to wait on
// [World.Gate].
//
// # Use
//
// Everything happens inside a testing/synctest bubble: call [New] there, and
// [World.Close] before the bubble ends.
//
//	logging.Disable()                      // of go-redis: it prints each failed dial
//	w, err := simnet.New(seed, simnet.Options{})
//	m := w.AddMaster("m1")
//	client := w.Client("host-a", m, nil)   // a *redis.Client
//	...
//	w.Cut("host-a", m)                     // black hole, both ways
//	m.Crash(); m.Restart(true)             // new run_id, empty
//	r.CopyFrom(m)                          // what a replica has that was in sync until now
//	w.Redirect("host-a", m, r)             // it is promoted
//	w.Close()
//
// # Wire
//
// Each write is one segment that travels for a while and then arrives, in order
// within its connection. The master runs the commands of a segment when it
// arrives, taking no time, and its replies travel back as one segment.
//
// A cut link holds what is sent into it and what it finds in flight. Healing
// sends all that on its way again, as TCP would by retransmission: a command
// whose client gave up long ago may thus still arrive, in full, behind the back
// of everybody. A reset is not retransmitted: one that meets a cut link is lost.
//
// Two things are quicker than in life. A redis.PubSub dials and shakes hands while
// it holds a mutex that its Close wants, and a goroutine that waits for a mutex
// stops a bubble's clock; so its connections open at once, or fail at once where
// they would have hung or timed out, and its writes do not wait while the host is
// frozen but are held. And a command with all that its script does takes no time.
//
// Scripts run in a Lua state that is kept, not in miniredis, which makes one for
// each run: it is many times faster, and errors read as those of Redis 7.0 do.
// math.random is missing.
// [World.SetNative] has Go answer known scripts, which is quicker still.
//
// # Determinism
//
// Goroutines that wake in the same instant run in any order. So nothing here
// depends on the order of calls within an instant:
//
//   - a delay is a hash of seed, link, direction, instant, and the length and
//     first bytes of the segment; no counter is involved. Two commands that only
//     differ later on, sent by one host to one master in one instant, share it.
//   - instants are aligned: each source of events owns residues modulo
//     [Options.Residues] nanoseconds, so that two sources never act in the same
//     instant. Deadlines set on connections are rounded up in the same way.
//   - arrivals that do fall into one instant are handled in the order of host,
//     master, direction and content.
//
// Timers, delays and random values of the program under test are its own affair.
// [World.Source] gives it residues and a random stream of its own; without that,
// two of its timers due in one instant can still make two histories out of one
// seed. So can two goroutines that send through one client in one instant: chance
// decides who gets the pool's idle connection and who has to dial. Give them
// clients of their own. Hosts, links and sources draw their residues when first named: name them
// from one goroutine.
package simnet
