package simnet

import (
	"sync/atomic"
	"time"
)

// A Source is something that acts by itself: a candidate's timers, a schedule of
// faults. It owns one residue, so that it never acts in the same instant as
// another source or the network, and a stream of random values that no other
// source can disturb. It is safe for concurrent use, but values drawn by
// goroutines in the same instant come in any order.
type Source struct {
	key     uint64
	residue int64
	modulus int64
	drawn   atomic.Uint64
}

// Source returns the source of that name, the same one for the same name.
func (w *World) Source(name string) *Source {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.sources[name]; s != nil {
		return s
	}
	s := &Source{
		key:     mix(hashString(w.seed, "source"), hashString(0, name)),
		residue: w.residues(1),
		modulus: w.modulus,
	}
	w.sources[name] = s
	return s
}

// Align returns the first instant at or after t that belongs to s.
func (s *Source) Align(t time.Time) time.Time {
	ns := t.UnixNano()
	return t.Add(time.Duration(alignUp(ns, s.residue, s.modulus) - ns))
}

// Until returns how long to wait from now for the first instant of s at or after
// d from now. It is what a timer of s should be set to instead of d.
func (s *Source) Until(d time.Duration) time.Duration {
	now := time.Now()
	return s.Align(now.Add(d)).Sub(now)
}

// Uint64 returns the next random value of s.
func (s *Source) Uint64() uint64 {
	return mix(s.key, s.drawn.Add(1))
}

// Float64 returns the next random value of s, from 0 to below 1.
func (s *Source) Float64() float64 {
	return unit(s.Uint64())
}

// Between returns a random duration from least to most, both included.
func (s *Source) Between(least, most time.Duration) time.Duration {
	if most <= least {
		return least
	}
	return least + time.Duration(s.Uint64()%uint64(most-least+1))
}

// Read fills p with random bytes and never fails: an [io.Reader] to put in place
// of crypto/rand.
func (s *Source) Read(p []byte) (int, error) {
	for i := 0; i < len(p); i += 8 {
		v := s.Uint64()
		for j := i; j < len(p) && j < i+8; j++ {
			p[j] = byte(v)
			v >>= 8
		}
	}
	return len(p), nil
}

// residues hands out n adjacent residues and returns the first. When all are
// given out it starts over: sources then share instants, which costs
// determinism only where two of them really meet. w.mu is held.
func (w *World) residues(n int64) int64 {
	if w.nextResidue+n > w.modulus {
		w.nextResidue = 0
	}
	r := w.nextResidue
	w.nextResidue += n
	return r
}

// alignUp returns the least value at or above t that is r modulo m.
func alignUp(t, r, m int64) int64 {
	d := (r - t%m) % m
	if d < 0 {
		d += m
	}
	return t + d
}

// mix hashes v into h (the finalizer of splitmix64).
func mix(h, v uint64) uint64 {
	h ^= v * 0x9e3779b97f4a7c15
	h += 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// hashString hashes s into h (FNV-1a, mixed).
func hashString[T string | []byte](h uint64, s T) uint64 {
	f := uint64(14695981039346656037)
	for i := range len(s) {
		f = (f ^ uint64(s[i])) * 1099511628211
	}
	return mix(h, f)
}

// unit maps v to the range from 0 to below 1.
func unit(v uint64) float64 {
	return float64(v>>11) / (1 << 53)
}
