package supervise_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"incumbent/internal/supervise"
)

// hide makes this process one that belongs to root as far as /proc is concerned.
func hide() {
	if unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) != nil {
		os.Exit(3)
	}
}

// A process that /proc does not show (hidepid, ProtectProc=) is there all the same: the
// command does not count as gone before that has ended, too.
func TestHiddenProcessIsNotGone(t *testing.T) {
	dir, program := readableByAll(t)
	file := filepath.Join(dir, "beats")
	script := `"$0" beat "$1" deaf hidden & until [ -s "$1" ]; do sleep 0.01; done; exit 0`
	s, err := json.Marshal(setup{
		must(t, "sh"), []string{"sh", "-c", script, program, file},
		supervise.Timing{StepDown: time.Second, Grace: 300 * time.Millisecond}, time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unshare", "--mount", "sh", "-c", `mount -t proc -o hidepid=2 proc /proc &&
		exec setpriv --reuid=65534 --regid=65534 --clear-groups "$0" agent`, program)
	in, err := cmd.StdinPipe() // it stays open: nothing more is to be told
	if err != nil {
		t.Fatal(err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = 2 * time.Second // whoever is left holds its standard error
	var out, text strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &text
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write(append(s, '\n')); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		t.Fatalf("%v: %s%s", err, &out, &text)
	}
	if !strings.Contains(out.String(), `"Ended":true`) {
		t.Fatalf("the command has not ended: %s%s", &out, &text)
	}
	for pid := range beats(t, file).pids {
		if !isGone(pid) {
			t.Errorf("%d is left", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// readableByAll is a folder with a copy of this program, for another user.
func readableByAll(t *testing.T) (dir, program string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root may mount a /proc that hides processes")
	}
	if out, err := exec.Command("unshare", "--mount", "setpriv", "--version").CombinedOutput(); err != nil {
		t.Skipf("no namespaces here: %v: %s", err, bytes.TrimSpace(out))
	}
	dir, err := os.MkdirTemp("", "supervise")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	text, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(dir, "program")
	if err := os.WriteFile(program, text, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir, program
}
