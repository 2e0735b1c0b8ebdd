package bubble_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBuiltBinary builds an ordinary program and runs it: what works in go test
// might not work elsewhere.
func TestBuiltBinary(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command("go", "build", "-o", exe, "./testdata/program").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, tt := range []struct {
		arg  string
		code int
		want string // all of standard output
	}{
		{"sleep", 7, "slept 1h0m0s\nslept 1h0m0s\n"},
		{"panic", 3, "panic: boom\n"},
		{"deadlock", 3, "panic: deadlock: main bubble goroutine has exited but blocked goroutines remain\n"},
	} {
		cmd := exec.Command(exe, tt.arg, "-test.run=other", "--flag")
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, _ := cmd.Output()
		if code := cmd.ProcessState.ExitCode(); code != tt.code || string(out) != tt.want {
			t.Errorf("%s: exit code %d, want %d; output %q, want %q\n%s", tt.arg, code, tt.code, out, tt.want, &stderr)
		}
	}
}
