package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// everyCommand calls f with each command that users see, the program itself apart.
func everyCommand(f func(c *cobra.Command)) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, below := range c.Commands() {
			if !below.Hidden {
				f(below)
				walk(below)
			}
		}
	}
	walk(newRoot(&app{}))
}

// TestEveryCommand is documented, refuses what it does not know, and completes its flags.
func TestEveryCommand(t *testing.T) {
	everyCommand(func(c *cobra.Command) {
		path := c.CommandPath()
		if c.Args == nil || c.RunE == nil || c.Run != nil {
			t.Errorf("%s: must have Args, and RunE for its errors", path)
		}
		if c.ValidArgsFunction == nil {
			t.Errorf("%s: completes arguments with files, since it does not say otherwise", path)
		}
		if !strings.HasSuffix(c.Short, ".") || c.Long == "" && !c.HasAvailableSubCommands() {
			t.Errorf("%s: short and long help are %q, %q", path, c.Short, c.Long)
		}
		if !strings.HasPrefix(c.Example, "  "+path) && !strings.Contains(c.Example, path+" ") {
			t.Errorf("%s: no example in %q", path, c.Example)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if _, ok := c.GetFlagCompletionFunc(f.Name); !ok && f.Value.Type() != "bool" {
				t.Errorf("%s --%s: no completion", path, f.Name)
			}
			if r := []rune(f.Usage); len(r) == 0 || strings.ToUpper(string(r[0])) != string(r[0]) && f.Name != "mode" && f.Name != "format" || r[len(r)-1] != '.' {
				t.Errorf("%s --%s: no sentence: %q", path, f.Name, f.Usage)
			}
		})
	})
}

// TestHelpOfEveryCommand goes to standard output, by either way to ask for it, and no
// line is too long.
func TestHelpOfEveryCommand(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"help"}} {
		if out := helpText(t, args...); !strings.Contains(out, "\nElections on your servers:\n  ") || !strings.Contains(out, "\n  config print  ") {
			t.Errorf("%v: %s", args, out)
		}
	}
	everyCommand(func(c *cobra.Command) {
		path := strings.Fields(c.CommandPath())[1:]
		out := helpText(t, append(path, "--help")...)
		if other := helpText(t, append([]string{"help"}, path...)...); other != out {
			t.Errorf("%v: by help it is\n%s, by --help\n%s", path, other, out)
		}
		if !strings.HasPrefix(out, "Usage: "+c.CommandPath()) || !strings.Contains(out, "\nExamples:\n  ") || !strings.Contains(out, "--help  ") {
			t.Errorf("%v: %s", path, out)
		}
	})
}

// helpText is the help that the program prints.
func helpText(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errOut := call(t.Context(), args...)
	if code != exitOK || errOut != "" {
		t.Errorf("%v: exit code %d, error %q", args, code, errOut)
	}
	for line := range strings.Lines(out) {
		if line = strings.TrimSuffix(line, "\n"); len(line) > helpWidth || line != strings.TrimRight(line, " ") {
			t.Errorf("%v: line of %d characters: %q", args, len(line), line)
		}
	}
	return out
}

// TestNoCommand: without one, the help shows what there is, and a script that lost its
// arguments fails.
func TestNoCommand(t *testing.T) {
	code, stdout, stderr := call(t.Context())
	if code != exitUsage || stdout != "" || stderr != helpText(t, "--help") {
		t.Errorf("exit code %d, output %q, error %q", code, stdout, stderr)
	}
}

// TestMeant: a typing mistake is answered with what may have been meant, in one line.
func TestMeant(t *testing.T) {
	for args, want := range map[string]string{
		"chekc":                       `incumbent: unknown command "chekc", did you mean "check"? (see incumbent --help)`,
		"chekc --config x":            `incumbent: unknown command "chekc", did you mean "check"? (see incumbent --help)`,
		"help chekc":                  `incumbent: unknown command "chekc", did you mean "check"? (see incumbent --help)`,
		"config pritn --ttl 1s":       `incumbent: config: unknown command "pritn", did you mean "print"? (see incumbent config --help)`,
		"help config pritn":           `incumbent: config: unknown command "pritn", did you mean "print"? (see incumbent config --help)`,
		"conquer":                     `incumbent: unknown command "conquer" (see incumbent --help)`,
		"check --tlt 2s":              `incumbent: check: unknown flag --tlt, did you mean "--ttl"? (see incumbent check --help)`,
		"config print --qourum-m=a":   `incumbent: config print: unknown flag --qourum-m (see incumbent config print --help)`,
		"check -j":                    `incumbent: check: unknown flag -j (see incumbent check --help)`,
		"completion zhs":              `incumbent: completion: "zhs": must be bash, zsh, fish or powershell, did you mean "zsh"? (see incumbent completion --help)`,
		"compare --lab loacl":         `must be virtual, local, sentinel or remote, did you mean "local"?`,
		"compare --events wrost":      `incumbent: compare: --events: "wrost": must be all, worst or none, did you mean "worst"?`,
		"compare --faults crash,puse": `--faults: "puse": did you mean "pause"? It must be of calm, resign`,
		"compare --runs-of carsh=9":   `--runs-of: carsh=9: did you mean "crash"? It must be of a fault that is played`,
		"compare --runs-of crash=0":   `--runs-of: crash=0: must be of a fault that is played`,
		"replay 1 --fault puse-write": `--fault: "puse-write": did you mean "pause-write"? It must be of calm`,
	} {
		code, stdout, stderr := call(t.Context(), strings.Fields(args)...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d, output %q, error %q, want %q", args, code, stdout, stderr, want)
		}
	}
}

// TestMistakenValues: each says which flag, what was given, and what is wanted.
func TestMistakenValues(t *testing.T) {
	for args, want := range map[string]string{
		"check --json=maybe":                  `--json: "maybe": must be true or false`,
		"check --assume-new=maybe":            `--assume-new: "maybe": must be true or false`,
		"compare --ttl 15":                    `--ttl: "15": must be a time with its unit, as in 30s or 500ms`,
		"compare --runs 1.5":                  `--runs: "1.5": must be a whole number`,
		"compare --seed -1":                   `--seed: "-1": must be a whole number, and not negative`,
		"compare --candidates 9e":             `--candidates: "9e": must be a whole number`,
		"compare --loss much":                 `--loss: "much": must be a number`,
		"compare --runs-of crash":             `--runs-of: "crash": must be FAULT=N`,
		"compare --runs 99999999999999999999": `--runs: "99999999999999999999": is out of range`,
		"compare -o":                          `--out needs a value: --out=DIR`,
		"check --config":                      `--config needs a value: --config=FILE`,
		"replay 1 --candidates":               `--candidates needs a value: --candidates=N`,
		"compare --out --quiet":               `--out needs a value, and "--quiet" is none; perhaps --out=--quiet is meant`,
		"compare -o --json":                   `--out needs a value, and "--json" is none`,
		"check --config -- job":               `--config needs a value, and "--" is none`,
		"check --=x":                          `bad flag syntax: --=x`,
		"replay 1 -2":                         `unknown flag -2`,
		"replay 1 -- -2":                      `SEED: "-2": must be a whole number, and not negative`,
		"help check job":                      `"incumbent check" has no commands`,
		"version 1":                           `version: unexpected argument "1"`,
		"completion":                          `SHELL is missing: incumbent completion SHELL`,
	} {
		code, stdout, stderr := call(t.Context(), strings.Fields(args)...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d, output %q, error %q, want %q", args, code, stdout, stderr, want)
		}
	}
	// What stands behind --, or behind =, is meant.
	for _, args := range []string{"check -- --config", "check --config=--json"} {
		if _, _, stderr := call(t.Context(), strings.Fields(args)...); strings.Contains(stderr, "needs a value") {
			t.Errorf("%s: error %q", args, stderr)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		text  string
		width int
		want  string
	}{
		{"", 10, ""},
		{"one two  three", 7, "one two|three"},
		{"one two three", 13, "one two three"},
		{"a verylongword b", 5, "a|verylongword|b"},
		{"äöü äöü", 7, "äöü äöü"},
	} {
		if got := strings.Join(wrap(tt.text, tt.width), "|"); got != tt.want {
			t.Errorf("%q in %d columns: %q, want %q", tt.text, tt.width, got, tt.want)
		}
	}
}

// TestPlainFlags: what pflag knows only by type, the help shows as the others.
func TestPlainFlags(t *testing.T) {
	f := pflag.NewFlagSet("test", pflag.ContinueOnError)
	f.DurationP("wait", "w", 0, "How long to wait.")
	f.Int("count", 3, "How many.")
	f.String("name", "", "Whose `ID` it is.")
	f.String("to", "me", "Who gets it (default: whoever asks).")
	f.StringSlice("tags", nil, "Tags.")
	f.Bool("now", false, "At once.")
	f.SortFlags = false
	var got []string
	f.VisitAll(func(f *pflag.Flag) {
		row := flagRow(f, false)
		got = append(got, strings.TrimLeft(row[0], " ")+" "+row[1])
	})
	want := "-w, --wait=TIME How long to wait.|--count=N How many (default: 3).|--name=ID Whose ID it is.|" +
		"--to=VALUE Who gets it (default: whoever asks).|--tags=VALUE,... Tags.|--now At once."
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}

// TestFullDisk: what cannot be written is a failure that is told, help too.
func TestFullDisk(t *testing.T) {
	for _, args := range []string{"--help", "help", "check --help", "--version", "version", "completion fish", "config print --config " + configFile(t, "a:1")} {
		var stderr strings.Builder
		code := run(t.Context(), strings.Fields(args), strings.NewReader(""), full{}, &stderr)
		if code != exitFailed || stderr.String() != "incumbent: disk full\n" {
			t.Errorf("%s: exit code %d, error %q", args, code, &stderr)
		}
	}
}

// full is a file on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// TestVersionFlag prints the first line of the command.
func TestVersionFlag(t *testing.T) {
	_, all, _ := call(t.Context(), "version")
	code, line, stderr := call(t.Context(), "--version")
	if code != exitOK || stderr != "" || strings.Count(line, "\n") != 1 || !strings.HasPrefix(all, line) {
		t.Errorf("exit code %d, output %q, error %q, want the first line of %q", code, line, stderr, all)
	}
}

// TestOwnFlagBesideSettings: a command's own flag stays, in place of the setting's.
func TestOwnFlagBesideSettings(t *testing.T) {
	f := pflag.NewFlagSet("test", pflag.ContinueOnError)
	grace := f.Duration("grace", 0, "Own.")
	s := newSettings(f)
	if err := f.Parse([]string{"--grace", "3s", "--mode", "single"}); err != nil {
		t.Fatal(err)
	}
	if grace.Seconds() != 3 || len(s.given) != 1 || s.given["mode"] != "single" {
		t.Errorf("the flag is %s, settings are %v", grace, s.given)
	}
}
