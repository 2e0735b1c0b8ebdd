package local

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestNoFolder: where no file can be made the error says so, and nothing that was not made
// is closed.
func TestNoFolder(t *testing.T) {
	p := Player{ServerBinary: program(t, "redis-server", "exit 0", 0o700)}
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	err := p.Play(t.Context(), []Spec{{Mode: "single", Masters: 1, Fault: "crash", TTL: time.Second, Candidates: 2}}, nil)
	if err == nil || !strings.Contains(err.Error(), "set TMPDIR to a writable folder") {
		t.Errorf("error is %v", err)
	}
}
