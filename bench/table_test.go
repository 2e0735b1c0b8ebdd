package bench

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"incumbent/compare/benchfile"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// example is a result of few operations and rounds.
func example() *Result {
	r := &Result{Seed: 1, Rounds: 2, CPUs: 2, Server: "redis 7.0.15", Servers: []string{"127.0.0.1:7001", "127.0.0.1:7002", "127.0.0.1:7003"}}
	add := func(o Op, p50, x, sent, inside float64) {
		round := Round{N: 100, Mean: p50 * 1.1, P50: p50, P90: p50 * 1.2, P99: p50 * 2, AA: 1.01, XFloor: x}
		r.Ops = append(r.Ops, Measurement{
			Op: o, N: 200, P50: p50, P90: p50 * 1.2, P99: p50 * 2, Mean: p50 * 1.1, Time: Interval{p50, p50 * 0.98, p50 * 1.04},
			XFloor: Interval{x, x - 0.1, x + 0.1}, AA: Interval{1.01, 0.98, 1.05}, Spread: 0.1, Heap: Heap{38, 2032},
			Counts: Counts{
				Sent: map[string]float64{"evalsha": sent}, Executed: map[string]float64{"evalsha": sent, "get": inside},
				ReceivedBytes: 290, SentBytes: 43, ServerReceived: 290, ServerSent: 43,
			},
			Rounds: []Round{round, round},
		})
	}
	add(Op{FloorRaw, "", 1, FloorRenew}, 18e-6, 0.65, 1, 0)
	add(Op{FloorRenew, "", 1, FloorRenew}, 27.7e-6, 1, 1, 2)
	add(Op{OpRenew, "single", 1, FloorRenew}, 50e-6, 1.8, 1, 6)
	add(Op{OpCycle, "quorum3", 3, FloorCycle}, 1.234e-3, 12.5, 3, 18)
	add(Op{OpRenew, "redsync3", 3, FloorRenew}, 110e-6, 9, 1, 2)
	return r
}

// TestTable compares the table with golden files: of servers of one's own, and of shared
// ones. It must fit a narrow terminal, and be ASCII.
func TestTable(t *testing.T) {
	shared := example()
	shared.Ops[2].Counts.ServerReceived = 345.5
	shared.Ops[2].Counts.Executed["get"] = 17.25
	for name, r := range map[string]*Result{"table.txt": example(), "shared.txt": shared} {
		var b bytes.Buffer
		if err := r.WriteTable(&b, "incumbent v0.0.0-20261129230000-0123456789ab", "go1.26.0", "go-redis v9.23.0", "redsync v4.18.1"); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if len(line) > 101 || strings.IndexFunc(line, func(c rune) bool { return c > 126 }) >= 0 {
				t.Errorf("%d characters, or not ASCII: %s", len(line), line)
			}
		}
		golden(t, name, b.Bytes())
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (-update rewrites it); got\n%s", path, got)
	}
}

func TestDuration(t *testing.T) {
	for sec, want := range map[float64]string{0: "0ns", 5e-9: "5ns", 1.234e-6: "1.23us", 12.34e-6: "12.3us", 123.4e-6: "123us", 1.2e-3: "1.20ms", 2: "2.00s"} {
		if got := duration(sec); got != want {
			t.Errorf("%g s is %q, want %q", sec, got, want)
		}
	}
}

// TestWriteBench: our own reader understands every line, and so does any other.
func TestWriteBench(t *testing.T) {
	var b bytes.Buffer
	if err := example().WriteBench(&b, "incumbent (devel), go1.26"); err != nil {
		t.Fatal(err)
	}
	r := benchfile.NewReader(&b, "file")
	seen := map[string]int{}
	for r.Scan() {
		res := r.Result()
		seen[string(res.Name)]++
		if res.GetConfig("seed") != "1" || res.GetConfig("versions") != "incumbent (devel), go1.26, redis 7.0.15" {
			t.Errorf("settings are %v", res.Config)
		}
		for _, unit := range []string{"sec/op", UnitP50, UnitP90, UnitP99, UnitFloor, "B/op", "allocs/op", UnitCommands, UnitReceived, UnitSent} {
			if v, ok := res.Value(unit); !ok || v <= 0 {
				t.Errorf("%s: %s is %g, %t", res.Name, unit, v, ok)
			}
			if r.Units().Better(unit) != -1 {
				t.Errorf("lower %s is not better", unit)
			}
		}
	}
	if err := r.Err(); err != nil || len(r.Info().Incomplete()) > 0 {
		t.Errorf("%v, %v", err, r.Info().Incomplete())
	}
	for _, name := range []string{"Floor/op=rawping-2", "Floor/op=evalsha-2", "Renew/mode=single-2", "AcquireRelease/mode=quorum3-2", "RedsyncRenew/masters=3-2"} {
		if seen[name] != 2 {
			t.Errorf("%s is there %d times, want once a round: %v", name, seen[name], seen)
		}
	}
}
