package remote_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"incumbent/compare/history"
	"incumbent/compare/lab/local"
	"incumbent/compare/lab/remote"
	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

// ownerEnv makes this test binary a program that compares at the endpoints of the file
// that it names, and waits to be killed.
const ownerEnv = "REMOTE_TEST_OWNER"

func own(path string) {
	ctx := context.Background()
	s, err := remote.Load(remote.Options{Path: path, Environ: []string{}})
	if err == nil {
		err = s.Open(ctx)
	}
	if err == nil {
		p := &remote.Player{Set: s, ID: remote.NewID(s.Elections(1)), Samples: 2}
		spec := local.Spec{Mode: "single", Masters: 1, Fault: "pause", Guards: history.GuardsOn, TTL: s.TTL, Candidates: 2}
		err = p.Play(ctx, []local.Spec{spec}, func(int, history.Run, error) {})
	}
	fmt.Fprintln(os.Stderr, "was not killed:", err)
	os.Exit(1)
}

// TestKilled: when the program is killed in the middle of a run, its keys are removed
// all the same.
func TestKilled(t *testing.T) {
	t.Parallel()
	s := redistest.StartT(t, redisproc.Options{})
	c := admin(t, s.Addr())
	self, err := os.Executable()
	noErr(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), ownerEnv+"="+file(t, "mode: single\nsingle:\n  address: %s\nttl: 10s\n", s.Addr()))
	cmd.Stderr = os.Stderr
	noErr(t, cmd.Start())
	await := func(what, pattern string, want bool) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			keys, err := c.Keys(t.Context(), pattern).Result()
			noErr(t, err)
			if (len(keys) > 0) == want {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: keys are %v", what, keys)
			}
		}
	}
	await("a run has begun", "*-1}:lease", true)
	noErr(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	await("its keys are removed", "*", false)
}
