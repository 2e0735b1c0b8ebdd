package proof_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

// ownerEnv makes a process of the test binary one that has an election with a
// stopped leader, tells the ids of all its processes, and waits to be killed.
const ownerEnv = "INCUMBENT_PROOF_OWNER"

func ownerMain() {
	if os.Getenv(ownerEnv) == "" {
		return
	}
	if err := own(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func own(ctx context.Context) error {
	s, err := redisproc.Start(ctx, redisproc.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = s.Stop() }()
	x, err := newContest(ctx, childConfig{Election: "owned", Mode: "single", Masters: []string{s.Addr()}, Redis: s.Addr(), Raise: true})
	if err != nil {
		return err
	}
	defer func() { _ = x.close() }()
	c, p, err := x.aim(ctx)
	if err == nil {
		err = x.freeze(ctx, c, p)
	}
	if err != nil {
		return err
	}
	fmt.Println(x.all[0].proc.PID(), x.all[1].proc.PID(), s.PID())
	_, _ = bufio.NewReader(os.Stdin).ReadByte() // ends with the test, should that be killed
	return nil
}

// TestNothingOutlivesTheProgram kills a program that has an election: its
// candidates, one of them stopped, and its server end with it.
func TestNothingOutlivesTheProgram(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends the children of a program that was killed")
	}
	redistest.Require(t)
	pids := killOwner(t)
	limit := time.After(patience)
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
}

// killOwner kills a program that has an election, and says which processes
// that had.
func killOwner(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), ownerEnv+"=1", "TMPDIR="+t.TempDir()) // a killed program leaves its files
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	check(t, err)
	defer in.Close()
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	said, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err, cmd.Wait())
	}
	pids := strings.Fields(said)
	if len(pids) != 3 {
		t.Fatalf("processes %q, want 2 candidates and a server", said)
	}
	check(t, cmd.Process.Kill())
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
