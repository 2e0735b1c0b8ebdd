package vote

import (
	"context"
	"testing"
	"time"
)

// handClock is a clock that is set by hand.
type handClock struct{ now time.Time }

func (c *handClock) Now() time.Time { return c.now }

func (c *handClock) AfterFunc(time.Duration, func()) func() bool { return func() bool { return false } }

// A look is a reading: so much later by our clock, on a round trip of so long, the
// server's clock has gone on by so much.
type look struct{ after, trip, server time.Duration }

func TestServerClock(t *testing.T) {
	const ms, window = time.Millisecond, 10 * time.Second
	for name, c := range map[string]struct {
		looks []look
		jump  bool
	}{
		"as fast as ours":              {[]look{{0, 2 * ms, 0}, {time.Second, 2 * ms, time.Second}}, false},
		"within the slack":             {[]look{{0, 0, 0}, {time.Second, 0, time.Second + 13*ms}}, false},
		"a little more than the slack": {[]look{{0, 0, 0}, {time.Second, 0, time.Second + 14*ms}}, true},
		"drift of a leader's deadline": {[]look{{0, 0, 0}, {window, 0, window + window/100}, {window, 0, window + window/100}}, false},
		"a slow first request":         {[]look{{0, 500 * ms, 0}, {time.Second, 0, time.Second}}, false},
		"a slow second request":        {[]look{{0, 0, 0}, {time.Second, 500 * ms, time.Second + 500*ms}}, false},
		"slow, and more":               {[]look{{0, 500 * ms, 0}, {time.Second, 500 * ms, time.Second + 530*ms}}, true},
		"in small steps":               {[]look{{0, 0, 0}, {time.Second, 0, time.Second + 10*ms}, {time.Second, 0, time.Second + 10*ms}, {time.Second, 0, time.Second + 10*ms}}, false},
		"in steps that add up":         {[]look{{0, 0, 0}, {time.Second, 0, time.Second + 13*ms}, {time.Second, 0, time.Second + 13*ms}}, true},
		"in small steps that add up": {[]look{{0, 0, 0}, {time.Second, 0, time.Second + 11200*time.Microsecond},
			{time.Second, 0, time.Second + 11200*time.Microsecond}, {time.Second, 0, time.Second + 11200*time.Microsecond}}, true},
		"over two windows": {[]look{{0, 0, 0}, {window, 0, window + 102*ms}, {window / 2, 0, window/2 + 52*ms}}, true},
		"back":             {[]look{{0, 0, 0}, {time.Second, 0, -time.Hour}}, false},
		"back and forth":   {[]look{{0, 0, 0}, {time.Second, 0, -5 * time.Second}, {time.Second, 0, 7 * time.Second}}, true},
		// The second answer says that the clock is behind by at least 400 ms.
		"back and forth on slow requests": {[]look{{0, 500 * ms, 0}, {time.Second, 500 * ms, 600 * ms}, {time.Second, 0, 1400 * ms}}, true},
		// What was long under way may have been read at any time; the next one says more.
		"a jump hides in no slow request": {[]look{{0, 900 * ms, 900 * ms}, {time.Second, 0, 100 * ms}, {100 * ms, 0, 400 * ms}}, true},
		// Of a whole window the reading that says most is kept, not the first one.
		"a jump hides in no slow request at the turn of windows": {[]look{{0, 0, 0}, {window, 900 * ms, window + 900*ms}, {5 * time.Second, 0, 4100 * ms},
			{6500 * ms, 500 * ms, 7 * time.Second}, {500 * ms, 0, 500 * ms}}, true},
		"slow requests prove nothing": {[]look{{0, 0, 0}, {time.Second, 900 * ms, 1800 * ms}, {time.Second, 0, 200 * ms}}, false},
		"long ago tells little":       {[]look{{0, 0, 0}, {3 * window, 0, 3 * window}, {time.Second, 0, time.Second + 50*ms}}, true},
		"base moves on":               {[]look{{0, 0, 0}, {window, 0, window}, {window, 0, window}, {window, 0, window + 250*ms}}, true},
	} {
		own := &handClock{time.Unix(1000, 0)}
		s := serverClock{own: own}
		s.span(window)
		s.span(time.Second) // a shorter lease does not shorten what matters
		server := time.Unix(5000, 0)
		for _, l := range c.looks {
			own.now = own.now.Add(l.after)
			sent := own.now
			own.now = own.now.Add(l.trip)
			server = server.Add(l.server)
			s.heard(sent, server)
			own.now = sent
		}
		if got := s.distrust(window) > 0; got != c.jump {
			t.Errorf("%s: a jump: %t, want %t", name, got, c.jump)
		}
	}
}

// Distrust lasts for the longest lease from the answer that brought the news.
func TestServerClockDistrust(t *testing.T) {
	own := &handClock{time.Unix(1000, 0)}
	s := serverClock{own: own}
	s.span(10 * time.Second)
	s.heard(own.now, time.Unix(5000, 0))
	sent := own.now
	own.now = own.now.Add(200 * time.Millisecond)
	s.heard(sent, time.Unix(5001, 0))
	if got := s.distrust(10 * time.Second); got != 10*time.Second {
		t.Errorf("%s at once", got)
	}
	own.now = own.now.Add(9 * time.Second)
	if got := s.distrust(10 * time.Second); got != time.Second {
		t.Errorf("%s after 9 s", got)
	}
	s.heard(own.now, time.Unix(5010, 0)) // as fast as ours again
	own.now = own.now.Add(time.Second)
	if got := s.distrust(10 * time.Second); got != 0 {
		t.Errorf("%s after 10 s", got)
	}
}

// Replicas get most of the time that is left, and never for ever.
func TestAckTime(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if d := ackTime(ctx); d > 45*time.Minute || d < 44*time.Minute {
		t.Errorf("of an hour: %s", d)
	}
	ctx, cancel = context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if d := ackTime(ctx); d != time.Millisecond {
		t.Errorf("of nothing: %s", d)
	}
}
