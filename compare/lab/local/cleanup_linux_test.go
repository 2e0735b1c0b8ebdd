package local_test

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"incumbent/internal/redisproc/redistest"
)

// TestNothingOutlivesTheProgram kills the program that owns a lab: candidates,
// even a frozen one, and masters end with it, and all files are removed.
func TestNothingOutlivesTheProgram(t *testing.T) {
	redistest.Require(t)
	dir := t.TempDir()
	pids := killOwner(t, dir)
	limit := time.After(10 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for _, pid := range pids {
		for alive(pid) {
			select {
			case <-tick.C:
			case <-limit:
				t.Fatalf("process %s of %v still runs", pid, pids)
			}
		}
	}
	for {
		left, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(left) == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("still there: %v", left)
		}
	}
}

// killOwner kills a program that has a lab, whose files are in dir, and says which
// processes that had.
func killOwner(t *testing.T, dir string) []string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), ownerEnv+"=1", "TMPDIR="+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err, cmd.Wait())
	}
	pids := strings.Fields(line)
	if len(pids) != 5 {
		t.Fatalf("processes %q, want 2 candidates and 3 masters", line)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it says that it was killed
	return pids
}

// alive reports whether a process runs: one that nobody has reaped yet does not.
func alive(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}
