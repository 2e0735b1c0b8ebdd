package tabulate

import (
	"slices"

	"golang.org/x/perf/benchmath"
)

// sample is a set of measurements, in pieces: a slice that grows would need twice the
// room, and some files have millions.
type sample struct {
	chunks [][]float64
	n      int
	bad    int // measurements that are not finite, and so not here
}

func (s *sample) add(v float64) {
	last := len(s.chunks) - 1
	if last < 0 || len(s.chunks[last]) == cap(s.chunks[last]) {
		s.chunks = append(s.chunks, make([]float64, 0, min(max(s.n, 4), 8192)))
		last++
	}
	s.chunks[last] = append(s.chunks[last], v)
	s.n++
}

// join moves what other has to s.
func (s *sample) join(other *sample) {
	s.chunks = append(s.chunks, other.chunks...)
	s.n += other.n
	s.bad += other.bad
	*other = sample{}
}

// values returns all in order, and empties the sample.
func (s *sample) values() []float64 {
	v := make([]float64, 0, s.n)
	for i, c := range s.chunks {
		v = append(v, c...)
		s.chunks[i] = nil
	}
	s.chunks = nil
	slices.Sort(v)
	return v
}

// compared is how many measurements of a side the U test sees at most. More tell it
// nothing, and the sum of the cubes of ties would no longer fit in an integer.
const compared = 100_000

// thin picks so many of sorted values, evenly spaced, that the distribution stays.
func thin(v []float64) []float64 {
	if len(v) <= compared {
		return v
	}
	out := make([]float64, compared)
	for i := range out {
		out[i] = v[int((float64(i)+0.5)*float64(len(v))/compared)]
	}
	return out
}

// sorted makes a sample of benchmath of sorted values.
func sorted(v []float64) *benchmath.Sample {
	t := benchmath.DefaultThresholds
	return &benchmath.Sample{Values: v, Thresholds: &t}
}

func mean(v []float64) float64 {
	m := 0.0
	for i, x := range v {
		m += (x - m) / float64(i+1) // never overflows, as a sum might
	}
	return m
}
