package vote

import (
	"sync"
	"time"

	"incumbent/election"
)

// serverClock watches a master's clock through the time that its replies carry.
// A lease ends by that clock: where it jumps ahead, it ends before its holder
// knows (R8).
type serverClock struct {
	own election.Clock

	mu      sync.Mutex
	window  time.Duration // how long a reading is compared with at least
	base    reading
	last    reading   // the one that the present window begins with
	next    reading   // of the present window the one that says most: the next base
	jumped  time.Time // by our clock, when a jump ahead was seen last; zero if never
	watched bool
}

// reading is a look at the server's clock: it showed server somewhere between
// sent and got of ours.
type reading struct{ server, sent, got time.Time }

// span sets how long readings matter: as long as a lease can last.
func (c *serverClock) span(d time.Duration) {
	c.mu.Lock()
	c.window = max(c.window, d)
	c.mu.Unlock()
}

// longest is the longest lease that was asked for.
func (c *serverClock) longest() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.window
}

// heard notes a reply to a request that was sent at that time.
func (c *serverClock) heard(sent, server time.Time) {
	r := reading{server, sent, c.own.Now()}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.watched:
		c.watched = true
		c.anew(r)
	case r.ahead(c.base):
		// rare: clock-jumped-ahead
		c.jumped = r.got
		c.anew(r)
	case r.behind(c.base):
		// rare: clock-went-back
		// When it comes back to where it was it will be seen as a jump ahead.
		c.anew(r)
	case r.got.Sub(c.last.got) > 2*c.window:
		c.anew(r) // what was long ago tells little
	case r.got.Sub(c.last.got) >= c.window:
		c.base, c.last, c.next = c.next, r, r
	}
	if r.tighter(c.base) {
		c.base = r
	}
	if r.tighter(c.next) {
		c.next = r
	}
}

// anew forgets all readings before r.
func (c *serverClock) anew(r reading) { c.base, c.last, c.next = r, r, r }

// tighter reports whether r says at least as well as an earlier reading how far ahead
// the server's clock can be: the answer to a request that was long under way says
// little, and a jump could hide in that.
func (r reading) tighter(before reading) bool {
	return r.server.Sub(before.server) <= r.sent.Sub(before.sent)
}

// slack is what clocks may differ by in that time without a jump: the same that
// a lease's deadline gives up, and the truncation to milliseconds.
func slack(elapsed time.Duration) time.Duration { return elapsed/100 + 3*time.Millisecond }

// ahead reports whether the server's clock went on by more since an earlier
// reading than time can have passed, however long the requests took.
func (r reading) ahead(before reading) bool {
	elapsed := r.got.Sub(before.sent)
	return r.server.Sub(before.server) > elapsed+slack(elapsed)
}

// behind reports whether it went on by less than time must have passed.
func (r reading) behind(before reading) bool {
	elapsed := r.sent.Sub(before.got)
	return r.server.Sub(before.server) < elapsed-slack(max(elapsed, 0))
}

// distrust is for how long grants of this server are not to be used yet.
func (c *serverClock) distrust(longest time.Duration) time.Duration {
	now := c.own.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.jumped.IsZero() {
		return 0
	}
	return max(0, longest-now.Sub(c.jumped))
}

// server is what the server's clock shows about now, and by how much that may be
// off; zero before the first reply.
func (c *serverClock) server() (now time.Time, off time.Duration) {
	at := c.own.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.watched {
		return time.Time{}, 0
	}
	elapsed := at.Sub(c.last.got)
	return c.last.server.Add(elapsed), slack(elapsed)
}
