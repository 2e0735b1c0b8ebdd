package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// completion asks what completes a command line, whose last word is not complete, without
// descriptions. It returns the words, and what the shell should do with them.
func completion(t *testing.T, args ...string) (words []string, directive string) {
	t.Helper()
	code, stdout, _ := call(t.Context(), append([]string{cobra.ShellCompNoDescRequestCmd}, args...)...)
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	if code != exitOK {
		t.Fatalf("%v: exit code %d, output %q", args, code, stdout)
	}
	last := len(lines) - 1
	return lines[:last], lines[last]
}

// What a shell should do: more than one is their sum.
const (
	files   = ":0"
	noFiles = ":4"
	noSpace = ":6" // nor files
	byName  = ":8" // files whose names end so
	folders = ":16"
)

func TestComplete(t *testing.T) {
	for _, tt := range []struct {
		args      []string
		want      string // words, of which there may be more where it ends in ...
		directive string
	}{
		{[]string{"c"}, "check config compare completion", noFiles},
		{[]string{"config", ""}, "print", noFiles},
		{[]string{"help", "conf"}, "config", noFiles},
		{[]string{"help", "config", ""}, "print", noFiles},
		{[]string{"check", ""}, "", noFiles},
		{[]string{"check", "--guards"}, "--guards-off", noFiles},
		{[]string{"check", "--mode", ""}, "single quorum both", noFiles},
		{[]string{"check", "--mode=q"}, "quorum", noFiles},
		{[]string{"check", "--config", ""}, "yaml yml", byName},
		{[]string{"check", "--ttl", ""}, "", noFiles},
		{[]string{"check", "--tls-ca-file", ""}, "", files},
		{[]string{"init", "--guards-off", "restart,"}, "restart,failover restart,no-record...", noSpace},
		{[]string{"config", "print", "--config", ""}, "yaml yml", byName},
		{[]string{"compare", "--lab", ""}, "virtual local sentinel remote", noFiles},
		{[]string{"compare", "--faults", "pause"}, "pause pause-write", noSpace},
		{[]string{"compare", "--faults", "crash,pause,pause"}, "crash,pause,pause-write", noSpace},
		{[]string{"compare", "--runs-of", "cr"}, "crash=", noSpace},
		{[]string{"compare", "--modes", ""}, "single quorum3 quorum5...", noSpace},
		{[]string{"compare", "--events", "w"}, "worst", noFiles},
		{[]string{"compare", "--out", ""}, "", folders},
		{[]string{"compare", "-o", ""}, "", folders},
		{[]string{"compare", "--schedule", ""}, "", files},
		{[]string{"compare", "--faults", "crash", "--fault"}, "--faults", noFiles}, // it may be repeated
		{[]string{"compare", "--out", "x", "--ou"}, "", noFiles},
		{[]string{"replay", "--fault", "calm"}, "calm", noFiles},
		{[]string{"replay", "--link", ""}, "lan zone wan", noFiles},
		{[]string{"report", ""}, "", files},
		{[]string{"report", "--format", "m"}, "markdown", noFiles},
		{[]string{"report", "--columns", ""}, "mode file", noFiles},
		{[]string{"bench", "--modes", "single,"}, "single,quorum3 single,quorum5", noSpace},
		{[]string{"completion", ""}, "bash zsh fish powershell", noFiles},
		{[]string{"completion", "bash", ""}, "", noFiles},
		{[]string{"work"}, "", noFiles},
	} {
		words, directive := completion(t, tt.args...)
		want, more := strings.CutSuffix(tt.want, "...")
		wanted := strings.Fields(want)
		if more && len(words) > len(wanted) {
			words = words[:len(wanted)]
		}
		if !slices.Equal(words, wanted) || directive != tt.directive {
			t.Errorf("%q: %q %s, want %q %s", tt.args, words, directive, wanted, tt.directive)
		}
	}
}

// TestCompleteDescribes: a shell that can shows what each thing is, though not behind a
// comma.
func TestCompleteDescribes(t *testing.T) {
	for typed, want := range map[string]string{"flush": "flushall\tall that one master stores is deleted\n:6\n", "crash,flush": "crash,flushall\n:6\n"} {
		code, stdout, _ := call(t.Context(), cobra.ShellCompRequestCmd, "compare", "--faults", typed)
		if code != exitOK || stdout != want {
			t.Errorf("%s: exit code %d, output %q, want %q", typed, code, stdout, want)
		}
	}
}

// TestCompletionVariables: what people set for completion is no unknown setting.
func TestCompletionVariables(t *testing.T) {
	t.Setenv("INCUMBENT_COMPLETION_DESCRIPTIONS", "false")
	t.Setenv("INCUMBENT_ACTIVE_HELP", "0")
	code, stdout, _ := call(t.Context(), cobra.ShellCompRequestCmd, "compare", "--lab", "l")
	if code != exitOK || !strings.HasPrefix(stdout, "local\n") {
		t.Errorf("exit code %d, output %q", code, stdout)
	}
	judge(t, "config print --config "+configFile(t, "127.0.0.1:1"), exitOK, []string{"mode"}, nil)
}

// TestCompletionScripts: each shell has one, and bash can read its own.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range shells {
		code, stdout, stderr := call(t.Context(), "completion", shell)
		if code != exitOK || stderr != "" || !strings.Contains(stdout, cobra.ShellCompRequestCmd+" ") {
			t.Errorf("%s: exit code %d, error %q, %d bytes", shell, code, stderr, len(stdout))
		}
		code, plain, stderr := call(t.Context(), "completion", shell, "--no-descriptions")
		if code != exitOK || stderr != "" || !strings.Contains(plain, cobra.ShellCompNoDescRequestCmd) {
			t.Errorf("%s: exit code %d, error %q, %d bytes", shell, code, stderr, len(plain))
		}
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		return // the rest needs one
	}
	_, script, _ := call(t.Context(), "completion", "bash")
	cmd := exec.CommandContext(t.Context(), bash, "-n")
	cmd.Stdin = strings.NewReader(script)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("bash: %v: %s", err, out)
	}
}
