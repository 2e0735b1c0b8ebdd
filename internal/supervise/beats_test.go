//go:build linux || darwin

package supervise_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"incumbent/internal/supervise"
)

// heard is what a file of beats tells.
type heard struct {
	last supervise.Instant
	pids map[int]bool
}

// beats reads a file of beats, to which nobody must write any more.
func beats(t *testing.T, file string) heard {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	h := heard{pids: map[int]bool{}}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var at supervise.Instant
		var pid int
		if _, err := fmt.Sscan(lines.Text(), &at, &pid); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		h.last = max(h.last, at)
		h.pids[pid] = true
	}
	return h
}

// patience is how long tests wait for what must come.
const patience = 60 * time.Second

// eventually waits until something is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for limit := time.Now().Add(patience); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

// awaitBeats waits until n processes write to a file.
func awaitBeats(t *testing.T, file string, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d processes write", n), func() bool {
		if _, err := os.Stat(file); err != nil {
			return false
		}
		return len(beatsSoFar(file)) == n
	})
}

// beatsSoFar is who has written to a file. Its last line may be incomplete.
func beatsSoFar(file string) map[int]bool {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	pids := map[int]bool{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var at, pid int
		if _, err := fmt.Sscan(lines.Text(), &at, &pid); err == nil {
			pids[pid] = true
		}
	}
	return pids
}

// isGone reports whether there is no process of that number, or a dead one.
func isGone(pid int) bool {
	return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || supervise.IsDead(pid)
}
