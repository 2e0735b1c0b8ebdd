package simnet_test

import (
	"fmt"
	"testing"
	"time"

	"incumbent/internal/simnet"
)

func TestSourcesOwnTheirInstants(t *testing.T) {
	world(t, 1, simnet.Options{}, func(t *testing.T, w *simnet.World) {
		owner := map[int64]string{}
		for i := range 100 {
			s := w.Source(fmt.Sprint("source ", i))
			if w.Source(fmt.Sprint("source ", i)) != s {
				t.Fatal("the same name gave another source")
			}
			for j := range 100 {
				at := time.Now().Add(time.Duration(j*j*37) * time.Microsecond)
				got := s.Align(at)
				if d := got.Sub(at); d < 0 || d >= 4096 {
					t.Fatalf("Align moved an instant by %d ns", d)
				}
				if got != s.Align(got) {
					t.Fatal("Align of an aligned instant moved it")
				}
				r := got.UnixNano() % 4096
				if o := owner[r]; o != "" && o != fmt.Sprint(i) {
					t.Fatalf("sources %s and %d share residue %d", o, i, r)
				}
				owner[r] = fmt.Sprint(i)
			}
			if d := s.Until(time.Second); d < time.Second || d >= time.Second+4096 {
				t.Errorf("Until(1s) = %v", d)
			}
		}
	})
}

func TestLinksOwnTheirInstants(t *testing.T) {
	world(t, 1, simnet.Options{}, func(t *testing.T, w *simnet.World) {
		m, n := w.AddMaster("m"), w.AddMaster("n")
		owner := map[int64]string{}
		w.OnCommand(func(c simnet.Command) {
			link, r := c.Host+c.Master, c.At.UnixNano()%4096
			if o := owner[r]; o != "" && o != link {
				t.Errorf("links %s and %s share residue %d", o, link, r)
			}
			owner[r] = link
		})
		for i := range 10 {
			host := fmt.Sprint(i)
			c, d := w.Client(host, m, nil), w.Client(host, n, nil)
			for range 20 {
				must(t, c.Ping(ctx))
				must(t, d.Ping(ctx))
			}
		}
		if len(owner) != 20 {
			t.Errorf("%d residues for 20 links", len(owner))
		}
	})
}

func TestSourceRandomness(t *testing.T) {
	draw := func(seed uint64, name string) (got string) {
		world(t, seed, simnet.Options{}, func(t *testing.T, w *simnet.World) {
			s := w.Source(name)
			b := make([]byte, 11)
			s.Read(b)
			got = fmt.Sprint(s.Uint64(), s.Float64(), s.Between(time.Second, time.Minute), b)
			for range 1000 {
				if f := s.Float64(); f < 0 || f >= 1 {
					t.Fatalf("Float64 = %v", f)
				}
				if d := s.Between(3, 5); d < 3 || d > 5 {
					t.Fatalf("Between(3, 5) = %d", d)
				}
			}
			if d := s.Between(7, 7); d != 7 {
				t.Errorf("Between(7, 7) = %d", d)
			}
		})
		return got
	}
	first, again := draw(1, "a"), draw(1, "a")
	if first != again {
		t.Errorf("one source, two streams: %s and %s", first, again)
	}
	if first == draw(2, "a") || first == draw(1, "b") {
		t.Error("two sources, one stream")
	}
}

// Residues run out; then they are shared, and all goes on.
func TestManyLinks(t *testing.T) {
	world(t, 1, simnet.Options{Residues: 64}, func(t *testing.T, w *simnet.World) {
		m := w.AddMaster("m")
		for i := range 50 {
			must(t, w.Client(fmt.Sprint(i), m, nil).Ping(ctx))
		}
	})
}
