// Package web answers over HTTP what a load balancer, an orchestrator and an operator
// ask of a candidate: does it lead, is it alive, is it ready. It is an http.Handler to
// embed, and a small server around it.
//
// # What is not promised
//
// An answer is of the past as soon as it is sent. "200" from /leader says that the
// candidate led when the question was handled; by the time that a request which was
// routed by it arrives, another may lead. A load balancer that asks every few seconds
// sends requests to the old leader until it asks again, and for a moment both the old
// and the new one may count as healthy there, though never both lead. Where that is
// not good enough, the resource has to refuse by the token: see package fence.
//
// Nothing here asks the store. What a standby says of the leader is what the last
// refusal told it, with its age; it looks about once a TTL.
//
// A new term shows when the elector's event has been delivered, a moment after it
// began. A term that is over never shows as leading, however late the events are.
//
// There is no authentication and no TLS. Candidates show what they store in Redis for
// others: ID, host, process id, metadata; no address, password or value of a lease.
// Listen where only those who may know that can connect.
//
// # Endpoints
//
//   - /leader: 200 if this candidate leads, otherwise 503, with the same JSON (Status)
//     either way: the check for a load balancer that routes to the leader, as with
//     Patroni's /leader and /primary.
//   - /livez: 200 unless something is wrong that a restart cures: the elector has
//     stopped for good, or work still runs although its term ended longer ago than
//     Options.OverrunTolerance. A standby is alive, and so is a candidate whose store
//     is down: restarting it would not mend the store.
//   - /readyz: 200 from the start, 503 from ShuttingDown on. It depends neither on
//     leading nor on the store. A standby is ready: a rolling update waits for the
//     new candidate to be ready before it stops the old one, which still leads, so
//     that readiness by leadership blocks it for ever. And if all candidates became
//     unready with the store, an orchestrator would take away all of them at once,
//     and with them whatever else they serve.
//   - /metrics: what Options.Metrics answers; 404 without it.
//
// GET and HEAD only. Nothing may be cached.
//
// # Use
//
//	h := web.New(web.Options{Election: "bridge-health"})
//	e, err := client.Elector("bridge-health", func(o *election.Options) { o.Observer = h.Observe })
//	go h.Serve(ctx, listener)  // or: mux.Handle("/election/", http.StripPrefix("/election", h))
//	err = election.Run(ctx, e, work)
//	h.Stopped(err)
//
// Call ShuttingDown first when the process is told to end, and end the context of
// Serve last, so that the endpoints answer while the work is stopping. To have
// package metrics listen to the same elector, chain both with metrics.Observers.
package web
