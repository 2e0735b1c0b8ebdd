package tabulate_test

import (
	"flag"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"incumbent/compare/benchfile/tabulate"
)

var huge = flag.Bool("huge", false, "read 200 MB of results and 1 GB of log lines in TestG26, not a part of that")

// repeated is a file of one block over and over, which is never in memory as a whole.
type repeated struct {
	block string
	times int
	rest  string
}

func (r *repeated) Read(p []byte) (int, error) {
	for r.rest == "" {
		if r.times == 0 {
			return 0, io.EOF
		}
		r.times--
		r.rest = r.block
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// block is some lines of go test, about 1 kB.
func block() string {
	var b strings.Builder
	for i := range 12 {
		fmt.Fprintf(&b, "BenchmarkRenew/mode=%s-8 \t    1000\t %d ns/op\t %d split-ns\t %d B/op\t 12 allocs/op\n",
			[]string{"single", "quorum3", "quorum5"}[i%3], 10_000+i*i, i%4, 100+i)
	}
	return b.String()
}

// TestG26_huge: a long file gives the answer of a short one of the same results, in
// bounded memory; 1 GB of log lines around 100 results is no burden at all.
func TestG26_huge(t *testing.T) {
	results, noise := 3_000_000, 10_000_000
	if *huge {
		results, noise = 200_000_000, 1_000_000_000
	}
	end := strings.NewReader("PASS\n")
	one := block()
	small := readLean(t, "less", io.MultiReader(&repeated{block: one, times: 500}, end))
	end.Reset("PASS\n")
	large := readLean(t, "results", io.MultiReader(&repeated{block: one, times: results / len(one)}, end))
	for i, u := range large.Units {
		for k, c := range u.Rows[0].Cells {
			s := small.Units[i].Rows[0].Cells[k]
			if c.Median != s.Median || c.Min != s.Min || c.Max != s.Max || k > 0 && c.Versus.Verdict != s.Versus.Verdict {
				t.Errorf("%s: %+v, but of the short file %+v", u.Name, c, s)
			}
		}
	}
	line := "redis: 2026/01/02 03:04:05 pool.go:367: redis: connection pool: failed to dial after 5 attempts\n"
	log := &repeated{block: strings.Repeat(line, 100), times: noise / 100 / len(line)}
	little := readLean(t, "log", io.MultiReader(log, strings.NewReader(strings.Repeat("BenchmarkX 1 5 ns/op\n", 100)+"PASS\n")))
	if n := little.Units[0].Rows[0].Cells[0].N; n != 100 {
		t.Errorf("%d results", n)
	}
}

// readLean reads a file as the program does, and checks the memory that was taken from
// the system meanwhile.
func readLean(t *testing.T, what string, r io.Reader) *tabulate.Report {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(30))
	debug.FreeOSMemory()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	c, err := tabulate.NewCollection(tabulate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Add(r, what, tabulate.New); err != nil {
		t.Fatal(err)
	}
	report := c.Report()
	runtime.ReadMemStats(&after)
	took := int64(after.HeapSys) - int64(before.HeapSys) // of the largest that the heap has been
	t.Logf("%s: %d lines, %.1f s, heap grew by %d MB", what, report.Files[0].Lines, time.Since(begin).Seconds(), took>>20)
	if took > 300<<20 {
		t.Errorf("%s: heap grew by %d MB", what, took>>20)
	}
	return report
}

// BenchmarkRead reads 1 MB of results.
func BenchmarkRead(b *testing.B) {
	one := block()
	b.SetBytes(int64(1_000_000 / len(one) * len(one)))
	for b.Loop() {
		c, err := tabulate.NewCollection(tabulate.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := c.Add(&repeated{block: one, times: 1_000_000 / len(one)}, "x", tabulate.New); err != nil {
			b.Fatal(err)
		}
	}
}
