package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"incumbent/bench"
	"incumbent/internal/redisproc/redistest"
)

// TestBenchUsage checks that each mistake gives exit code 2 and one line, before anything
// is started.
func TestBenchUsage(t *testing.T) {
	redistest.Require(t)
	t.Setenv("INCUMBENT_BENCH_REDIS", "")
	dir := t.TempDir()
	for _, tt := range []struct {
		args string
		want []string
	}{
		{"extra", []string{"extra"}},
		{"--gate x", []string{`--gate: "x": must be OPERATION<=LIMIT`}},
		{"--gate renew<=2", []string{`--gate: "renew<=2": must be`, "xfloor"}},
		{"--gate renew/quorum3<=2xfloor --modes single", []string{"--gate", "no such operation is measured", "renew/single"}},
		{"--modes quad", []string{`--modes: "quad": must be single, quorum3 or quorum5`}},
		{"--modes single,single", []string{"--modes: single: must be named once"}},
		{"--rounds 0", []string{"--rounds: 0: must be at least 6"}},
		{"--rounds 5", []string{"--rounds: 5: must be from 6 to"}},
		{"--rounds many", []string{"--rounds", "many"}},
		{"--time 0s", []string{"--time: 0s: must be at least 100ms"}},
		{"--time 1ms", []string{"--time: 1ms: must be from 100ms to 24h"}},
		{"--servers a", []string{"--servers: a: must be host:port"}},
		{"--servers a:1 --modes quorum3", []string{"--servers: 1 given: the modes need 3"}},
		{"--servers redis://me:hunter2@a:b", []string{"--servers: an address: must be host:port"}},
		{"--servers a:1 --server-bin redis-server", []string{"--server-bin: redis-server: is for servers that are started"}},
		{"--server-bin /none", []string{"--server-bin: /none: must be an executable"}},
		{"--out " + dir, []string{"--out: " + dir + ": must be a file"}},
		{"--out " + dir + "/none/file", []string{"--out", "no such file"}},
	} {
		code, stdout, stderr := call(t.Context(), append([]string{"bench"}, strings.Fields(tt.args)...)...)
		if code != exitUsage || stdout != "" || strings.Count(stderr, "\n") != 1 || strings.Contains(stderr, "hunter2") {
			t.Errorf("%q: exit code %d, output %q, error %q", tt.args, code, stdout, stderr)
		}
		for _, want := range tt.want {
			if !strings.Contains(stderr, want) {
				t.Errorf("%q: error lacks %q: %s", tt.args, want, stderr)
			}
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files left: %v, %v", left, err)
	}
}

func TestBenchWithoutServer(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("INCUMBENT_BENCH_REDIS", "")
	code, _, stderr := call(t.Context(), "bench")
	if code != exitUsage || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "--servers") {
		t.Errorf("exit code %d, error %q", code, stderr)
	}
}

func TestBenchHelp(t *testing.T) {
	code, stdout, stderr := call(t.Context(), "bench", "--help")
	if code != exitOK || stderr != "" {
		t.Errorf("exit code %d, error %q", code, stderr)
	}
	for _, want := range []string{"Examples:", "incumbent bench --quick", "Exit code:", "--gate", "INCUMBENT_BENCH_REDIS", "(default: 100, with --quick 30)", "20s, with --quick 5s"} {
		if !strings.Contains(strings.Join(strings.Fields(stdout), " "), want) { // however lines are broken
			t.Errorf("output lacks %q:\n%s", want, stdout)
		}
	}
	for line := range strings.Lines(stdout) {
		if len(line) > 101 {
			t.Errorf("line of %d characters: %s", len(line), line)
		}
	}
}

// brief is a run of a second on servers that it starts, with a temporary folder of its own.
func brief(t *testing.T) (dir string, args []string) {
	t.Helper()
	redistest.Require(t)
	t.Setenv("INCUMBENT_BENCH_REDIS", "start")
	dir = t.TempDir()
	t.Setenv("TMPDIR", dir)
	return dir, []string{"bench", "--modes", "single", "--rounds", "6", "--time", "200ms"}
}

// TestBench: gates decide the exit code, and the file can be reported.
func TestBench(t *testing.T) {
	dir, args := brief(t)
	out := filepath.Join(t.TempDir(), "out.txt")
	for _, tt := range []struct {
		gates []string
		code  int
		want  string
	}{
		{nil, exitOK, "nobody else used them"},
		{[]string{"renew<=10000xfloor", "renew<=1commands"}, exitOK, "gate renew<=1commands: passed: renew/single: 1 commands a master"},
		{[]string{"renew<=1commands", "renew/single<=5allocs"}, exitMissed, "gate renew/single<=5allocs: missed: renew/single: "},
	} {
		call1 := append(args, "--out", out)
		for _, g := range tt.gates {
			call1 = append(call1, "--gate", g)
		}
		code, stdout, stderr := call(t.Context(), call1...)
		if code != tt.code || !strings.Contains(stdout, tt.want) {
			t.Errorf("%v: exit code %d, want %d and %q; error %q, output:\n%s", tt.gates, code, tt.code, tt.want, stderr, stdout)
		}
		if strings.Contains(stderr, "gate") != (tt.code != exitOK) {
			t.Errorf("%v: error %q", tt.gates, stderr)
		}
	}
	code, stdout, stderr := call(t.Context(), "report", out)
	if code != exitOK || !strings.Contains(stdout, "Renew") || !strings.Contains(stdout, bench.UnitFloor) {
		t.Errorf("report: exit code %d, error %q, output:\n%s", code, stderr, stdout)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files left: %v, %v", left, err)
	}
}

func TestBenchJSON(t *testing.T) {
	_, args := brief(t)
	code, stdout, stderr := call(t.Context(), append(args, "--json", "--quiet", "--gate", "renew<=1commands")...)
	var got struct {
		bench.Result
		Versions string
		Gates    []bench.Outcome
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != exitOK || stderr != "" {
		t.Fatalf("%v, exit code %d, error %q, output %s", err, code, stderr, stdout)
	}
	if got.Op(bench.OpRenew, "single") == nil || len(got.Gates) != 1 || got.Gates[0].Status != bench.Passed || got.Versions == "" {
		t.Errorf("output is %s", stdout)
	}
}

// TestBenchInterrupted: no server and no file is left.
func TestBenchInterrupted(t *testing.T) {
	dir, args := brief(t)
	out := filepath.Join(t.TempDir(), "out.txt")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	code, stdout, stderr := call(ctx, append(args, "--time", "1h", "--out", out)...)
	if code != exitInterrupted || stdout != "" || !strings.Contains(stderr, "interrupted") {
		t.Errorf("exit code %d, output %q, error %q", code, stdout, stderr)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files left: %v, %v", left, err)
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("the file is there: %v", err)
	}
}

// TestBenchLeft: where cleaning up failed, it says so in one line more.
func TestBenchLeft(t *testing.T) {
	left := &bench.CleanError{Err: errors.Join(errors.New("no connection"), errors.New("no connection"), errors.New("to nobody"))}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{context.Canceled, ""},
		{errors.Join(context.Canceled, left), ": no connection; to nobody"},
	} {
		var b strings.Builder
		benchInterrupted(&b, tt.err)
		first, second, _ := strings.Cut(b.String(), "\n")
		if !strings.HasSuffix(first, "interrupted") || (second == "") != (tt.want == "") || !strings.Contains(second, tt.want) {
			t.Errorf("%v: it says %q", tt.err, b.String())
		}
	}
}

func TestBenchProgress(t *testing.T) {
	var b strings.Builder
	g := newBenchProgress(&b, false)
	g.update(1, 100)
	g.next = time.Time{}
	g.update(50, 100)
	g.update(51, 100) // too soon
	g.end()
	if got := b.String(); !strings.HasPrefix(got, "50 of 100 blocks (50%), ") || strings.Count(got, "\n") != 1 {
		t.Errorf("it says %q", got)
	}
	b.Reset()
	g = newBenchProgress(&b, true)
	g.next = time.Time{}
	g.update(50, 100)
	if b.Len() > 0 {
		t.Errorf("quiet, it says %q", b.String())
	}
}
