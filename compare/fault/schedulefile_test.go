package fault_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"incumbent/compare/fault"
)

const restartDuringPause = `# A comment.
name: restart-during-pause
steps:
  - {fault: pause, for: 1.5}
  - {after: 0.3, fault: restart-empty}
`

func TestParseSchedule(t *testing.T) {
	s, err := fault.ParseSchedule("a.yaml", []byte(restartDuringPause))
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "restart-during-pause" || s.Path != "a.yaml" || len(s.Steps) != 2 ||
		s.Steps[0] != (fault.Step{Fault: "pause", For: 1.5}) || s.Steps[1] != (fault.Step{After: 0.3, Fault: "restart-empty"}) {
		t.Errorf("read %+v", s)
	}
}

func TestParseScheduleErrors(t *testing.T) {
	step := func(s string) string { return "name: x\nsteps:\n  - {fault: crash}\n  - " + s + "\n" }
	for text, want := range map[string]string{
		"":                                  "f.yaml: the file must be",
		"- a\n":                             "f.yaml: the file must be a mapping",
		"name: [\n":                         "f.yaml:1: ",
		"name: x\x00\n":                     "f.yaml: the file must be UTF-8",
		"name: x\nnome: y\nsteps: []\n":     `f.yaml:2: unknown field "nome": the keys are name and steps`,
		"name: x\nname: y\n":                "f.yaml:2: ",
		"name: x\n---\nname: y\n":           "f.yaml: the file must hold one",
		"steps: [{fault: crash}]\n":         `f.yaml: name: "": must be lower-case`,
		"name: Bad One\nsteps: []\n":        `f.yaml:1: name: "Bad One": must be lower-case`,
		"name: crash\nsteps: []\n":          "f.yaml:1: name: crash: must not be that of a fault",
		"name: store\nsteps: []\n":          "f.yaml:1: name: store: must not be",
		"name: x\nsteps: []\n":              "f.yaml:2: steps: 0 of them: must be 1 to 50",
		"name: x\n":                         "f.yaml: steps: 0 of them",
		"name: x\nsteps: 7\n":               "f.yaml:2: ",
		step("{fault: flood}"):              `f.yaml:4: steps[1].fault: "flood": must be one of calm, `,
		step("{fault: random}"):             `f.yaml:4: steps[1].fault: "random": must be one of`,
		step("{after: 1}"):                  `f.yaml:4: steps[1].fault: "": must be one of`,
		step("{fault: del, after: -1}"):     "f.yaml:4: steps[1].after: -1: must be a number of TTLs",
		step("{fault: del, after: .inf}"):   "f.yaml:4: steps[1].after: +Inf: must be",
		step("{fault: pause, for: .nan}"):   "f.yaml:4: steps[1].for: NaN: must be",
		step("{fault: pause, for: soon}"):   `f.yaml:4: "soon": must be a number, of TTLs and without a unit`,
		step("{fault: pause, for: 2s}"):     `f.yaml:4: "2s": must be a number`,
		step("{fault: [a]}"):                "f.yaml:4: ",
		"name: x\nsteps: !!set {x}\n":       "f.yaml: the file cannot be read as YAML", // the parser panics
		step("{fault: crash, for: 2}"):      "f.yaml:4: steps[1].for: 2: crash is over at once",
		step("{fault: pause, for: 201}"):    "f.yaml:3: steps: 201 TTLs in all: must be at most 200",
		step("{fault: pause, until: 3}"):    `f.yaml:4: unknown field "until"`,
		step(strings.Repeat("[", 1100)):     "f.yaml: the file has more than 1000 opening brackets",
		"# " + strings.Repeat("x", 5000):    "f.yaml: the file has a line of more than 4096",
		strings.Repeat("# comment\n", 7000): "f.yaml: the file has more than 65536 bytes",
	} {
		_, err := fault.ParseSchedule("f.yaml", []byte(text))
		var field *fault.FieldError
		if !errors.As(err, &field) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60q: error is %v, want %q", text, err, want)
		}
	}
}

func TestReadSchedule(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.yaml")
	if _, err := fault.ReadSchedule(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v", err)
	}
	if err := os.WriteFile(path, []byte(restartDuringPause), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := fault.ReadSchedule(path); err != nil || s.Path != path {
		t.Errorf("read %+v, %v", s, err)
	}
	if err := os.WriteFile(path, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := fault.ReadSchedule(path); err == nil || !strings.Contains(err.Error(), "more than 65536 bytes") {
		t.Errorf("error is %v", err)
	}
}

// TestExamples: the files that the documentation shows are valid.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../docs/examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	for _, file := range files {
		if _, err := fault.ReadSchedule(file); err != nil {
			t.Error(err)
		}
	}
}

// FuzzParseSchedule: whatever is in a file, it is a valid schedule or a FieldError.
func FuzzParseSchedule(f *testing.F) {
	f.Add([]byte(restartDuringPause))
	f.Add([]byte("name: x\nsteps:\n- fault: del\n  after: 1e3\n"))
	f.Add([]byte("{name: &a x, steps: [*a]}"))
	f.Add([]byte("a: b\n---\n"))
	f.Add([]byte("name: x\nsteps: !!set {x}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := fault.ParseSchedule("f", text)
		var field *fault.FieldError
		switch {
		case err != nil && !errors.As(err, &field):
			t.Errorf("error is %T: %v", err, err)
		case err == nil && s.Validate() != nil:
			t.Errorf("%+v is read, and not valid: %v", s, s.Validate())
		}
	})
}
