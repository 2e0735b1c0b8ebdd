package simnet

import (
	"cmp"
	"slices"
)

// A waiter is a goroutine of a frozen host.
type waiter struct {
	place
	since int64
	open  chan struct{}
}

// A place is where a goroutine is stopped. Those stopped at one place in one
// instant cannot be told apart, and go on together.
type place struct {
	label string
	link  uint64
	key   uint64 // of what is being sent
}

func (a *waiter) compare(b *waiter) int {
	return cmp.Or(cmp.Compare(a.since, b.since), cmp.Compare(a.label, b.label),
		cmp.Compare(a.link, b.link), cmp.Compare(a.key, b.key))
}

// Freeze stops host as SIGSTOP or a hypervisor's pause would: none of its
// network calls returns or sends anything until [World.Thaw], and neither does
// [World.Gate]. What had been sent before is not affected, and what arrives is
// kept by the kernel. A deadline that passed meanwhile fails its call on waking,
// even if data had come in time; a write that was about to happen still happens.
// A host must be thawed before anybody waits for its goroutines to end.
func (w *World) Freeze(host string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.host(host).frozen = true
}

// Thaw lets host go on. Its goroutines leave their gates one after the other,
// at instants of their own, in the order in which they came to be stuck.
func (w *World) Thaw(host string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.host(host)
	if !h.frozen {
		return
	}
	h.frozen = false
	slices.SortStableFunc(h.waiters, (*waiter).compare)
	at := w.now()
	for i, wt := range h.waiters {
		if i == 0 || wt.compare(h.waiters[i-1]) != 0 {
			at = alignUp(at+1, h.residue, w.modulus)
		}
		w.schedule(event{at: at, wait: wt})
	}
	h.waiters = nil
	for _, l := range h.linkList {
		l.release()
	}
}

// Frozen reports whether host is frozen.
func (w *World) Frozen(host string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.host(host).frozen
}

// Gate returns a function that returns at once unless host is frozen, and
// otherwise when it is thawed. A clock of a simulated program should pass it
// whenever it is read and when a timer has fired, so that a frozen host does not
// act on time; and an explicit yield between a check and a write may block on it.
// The label tells apart gates at which goroutines of one host are stopped in the
// same instant.
func (w *World) Gate(host, label string) func() {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.host(host)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.await(h, place{label: label})
	}
}

// await blocks while h is frozen. w.mu is held, and released meanwhile.
func (w *World) await(h *host, p place) {
	for h.frozen && !w.closed {
		wt := &waiter{place: p, since: w.now(), open: make(chan struct{})}
		h.waiters = append(h.waiters, wt)
		w.mu.Unlock()
		<-wt.open
		w.mu.Lock()
	}
}

// open releases everybody at once, when the world ends.
func (h *host) open() {
	h.frozen = false
	for _, wt := range h.waiters {
		close(wt.open)
	}
	h.waiters = nil
}
