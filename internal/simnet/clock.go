package simnet

import (
	"fmt"
	"time"
)

// A serverClock is the wall clock of a master: right at first, then as told.
type serverClock struct {
	real   time.Time // when it was last set, by the right time
	shown  time.Time // what it was set to
	excess float64   // seconds gained a second
}

func (c *serverClock) at(t time.Time) time.Time {
	elapsed := t.Sub(c.real)
	return c.shown.Add(elapsed + time.Duration(float64(elapsed)*c.excess))
}

// SetClockOffset makes m's clock differ from the right time by d, at once. Keys
// keep the instant at which they expire by that clock: those that are put
// forward past it expire, and those that are put back live longer.
func (m *Master) SetClockOffset(d time.Duration) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	now := time.Now()
	m.setClock(now, now.Add(d))
}

// JumpClock sets m's clock forward by d, or back when d is negative, as
// SetClockOffset does.
func (m *Master) JumpClock(d time.Duration) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	now := time.Now()
	m.setClock(now, m.clock.at(now).Add(d))
}

// SetDrift makes m's clock gain that many microseconds a second from now on, or
// lose them when negative; an offset that it has stays. It panics when the clock
// would stand still or run backwards.
func (m *Master) SetDrift(ppm float64) {
	if !(ppm > -1e6) {
		panic(fmt.Sprintf("simnet: SetDrift(%v): must be above -1e6", ppm))
	}
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	now := time.Now()
	m.clock = serverClock{real: now, shown: m.clock.at(now), excess: ppm / 1e6}
}

// Now returns the time by m's clock.
func (m *Master) Now() time.Time {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	return m.clock.at(time.Now())
}

// setClock sets the clock. miniredis stores how long keys have left, while a
// server stores when they expire: a jump back has to be made up for.
func (m *Master) setClock(now, shown time.Time) {
	m.tick()
	back := m.clock.at(now).Sub(shown)
	m.clock.real, m.clock.shown = now, shown
	m.redis.SetTime(shown)
	if back > 0 {
		m.redis.FastForward(-back)
	}
	m.tick()
}

// tick tells miniredis the time, and lets it expire keys.
func (m *Master) tick() {
	m.redis.SetTime(m.clock.at(time.Now()))
	m.redis.DB(0)
}
