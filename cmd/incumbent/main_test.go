package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"incumbent/compare/lab/local"
	"incumbent/compare/lab/remote"
)

// TestMain lets the test binary be its own child process, as the program is.
func TestMain(m *testing.M) {
	actAsProgram()
	local.ChildMain()
	remote.ChildMain()
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		main()
	}
	goleak.VerifyTestMain(m)
}

// call runs the program and returns what it did.
func call(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(ctx, args, strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

// TestUsage checks that each mistake gives exit code 2 and one line that names the
// field, the value and the rule.
func TestUsage(t *testing.T) {
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args string
		want []string
	}{
		{"conquer", []string{"conquer"}},
		{"init", []string{"ELECTION is missing", "incumbent init --help"}},
		{"init job extra", []string{"extra"}},
		{"init job --colour red", []string{"--colour"}},
		{"init job --password hunter2", []string{"--password"}},
		{"compare extra", []string{"extra"}},
		{"compare --run 5", []string{"--run", "--runs"}},
		{"compare --runs five", []string{"--runs", "five"}},
		{"compare --runs 0", []string{"--runs: 0: must be from 1"}},
		{"compare --seed -1", []string{"--seed", "-1"}},
		{"compare --ttl 15", []string{"--ttl", "15"}},
		{"compare --ttl 1ms", []string{"--ttl: 1ms: must be from 100ms to 1h"}},
		{"compare --ttl 2000.5ms", []string{"--ttl: 2.0005s: must be a whole number of milliseconds"}},
		{"compare --modes single,both", []string{`--modes: "both": must be single, or quorum`}},
		{"compare --modes quorum4", []string{`--modes: "quorum4"`, "odd"}},
		{"compare --modes single,single", []string{"--modes: single: must be named once"}},
		{"compare --modes=", []string{"--modes"}},
		{"compare --faults flood", []string{`--faults: "flood": must be of calm, resign, crash`}},
		{"compare --faults crash,crash", []string{"--faults: crash: must be named once"}},
		{"compare --candidates 1", []string{"--candidates: 1: must be from 2 to 50"}},
		{"compare --lab moon", []string{`--lab: "moon": must be virtual, local, sentinel or remote`}},
		{"compare --server-bin redis-server", []string{`--server-bin: "redis-server": is for --lab local`}},
		{"compare --lab local --server-bin /none", []string{"--server-bin: /none: must be an executable"}},
		{"compare --workers=-1", []string{"--workers: -1: must be from 0"}},
		{"compare --out " + file, []string{"--out: " + file + ": "}},
	} {
		code, stdout, stderr := call(t.Context(), strings.Fields(tt.args)...)
		if code != exitUsage || stdout != "" || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: exit code %d, output %q, error %q", tt.args, code, stdout, stderr)
		}
		for _, want := range tt.want {
			if !strings.Contains(stderr, want) {
				t.Errorf("%q: error lacks %q: %s", tt.args, want, stderr)
			}
		}
	}
}

func TestHelp(t *testing.T) {
	for args, want := range map[string][]string{
		"--help":         {"compare", "version", "--quick"},
		"compare --help": {"Examples:", "incumbent compare --quick", "Exit code:", "--ttl", "single,quorum3,quorum5", "pause-write", "DIR"},
		"init --help": {"init ELECTION", "Examples:", "incumbent init bridge-health --config incumbent.yaml", "Exit code:", "When not:", "--config=FILE",
			"INCUMBENT_CONFIG", "--single-address", "--quorum-masters", "--guards-off", "--json"},
		"version --help": {"versions"},
	} {
		code, stdout, stderr := call(t.Context(), strings.Fields(args)...)
		if code != exitOK || stderr != "" {
			t.Errorf("%q: exit code %d, error %q", args, code, stderr)
		}
		for _, w := range want {
			if !strings.Contains(stdout, w) {
				t.Errorf("%q: output lacks %q:\n%s", args, w, stdout)
			}
		}
		if strings.Contains(stdout, "worker") && !strings.Contains(stdout, "--workers") {
			t.Errorf("%q shows what is not for users:\n%s", args, stdout)
		}
		for line := range strings.Lines(stdout) {
			if len(line) > 101 {
				t.Errorf("%q: line of %d characters: %s", args, len(line), line)
			}
		}
	}
}

func TestVersion(t *testing.T) {
	code, stdout, stderr := call(t.Context(), "version")
	if code != exitOK || stderr != "" || !strings.HasPrefix(stdout, "incumbent ") || !strings.Contains(stdout, "\ngo1.") {
		t.Errorf("exit code %d, output %q, error %q", code, stdout, stderr)
	}
}
