package virtual_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"incumbent/compare/history"
	"incumbent/compare/lab/virtual"
)

// misbehave is what a child process does instead of, or before, its work.
func misbehave(behaviour string) {
	switch what, arg, _ := strings.Cut(behaviour, " "); what {
	case "die":
		fmt.Fprintln(os.Stderr, "no memory left")
		os.Exit(9)
	case "hang":
		<-time.After(time.Hour)
	case "lua":
		virtual.AnswerInLua()
	case "die-once": // the first process that can make the file dies
		if f, err := os.OpenFile(arg, os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			_ = f.Close()
			fmt.Fprintln(os.Stderr, "killed")
			os.Exit(9)
		}
	}
}

// pool is one of this test binary's.
func pool(workers int, behaviour string) *virtual.Pool {
	return &virtual.Pool{Workers: workers, Command: func() *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "VIRTUAL_TEST_WORKER="+behaviour)
		return cmd
	}}
}

// specs are n of them in all modes.
func specs(n int) []virtual.Spec {
	list := make([]virtual.Spec, n)
	for i := range list {
		m := modes[i%len(modes)]
		list[i] = spec(uint64(i), m.mode, m.masters, "resign")
	}
	return list
}

func TestPoolPlaysInOrder(t *testing.T) {
	list := specs(12)
	for _, workers := range []int{0, 1, 3} {
		next := 0
		err := pool(workers, "work").Play(t.Context(), list, func(i int, run history.Run, err error) {
			if i != next || err != nil {
				t.Errorf("%d workers: run %d after %d, error %v", workers, i, next-1, err)
			}
			next++
			if i < 3 { // in the process itself it is the same
				here, _ := json.Marshal(play(t, list[i]))
				there, _ := json.Marshal(run)
				if string(here) != string(there) {
					t.Errorf("%s differs from process to process", list[i])
				}
			}
		})
		if err != nil || next != len(list) {
			t.Errorf("%d workers: %d of %d, error %v", workers, next, len(list), err)
		}
	}
}

func TestPoolReportsWhatCannotBePlayed(t *testing.T) {
	list := specs(6)
	list[2].Fault = "flood"
	var failed []int
	err := pool(2, "work").Play(t.Context(), list, func(i int, _ history.Run, err error) {
		if err != nil {
			failed = append(failed, i)
			if !strings.Contains(err.Error(), "flood") || !strings.Contains(err.Error(), "seed 2") {
				t.Errorf("error is %v", err)
			}
		}
	})
	if err != nil || len(failed) != 1 || failed[0] != 2 {
		t.Errorf("failed are %v, error %v", failed, err)
	}
}

func TestPoolOutlivesAProcess(t *testing.T) {
	list := specs(6)
	played, died := 0, 0
	flag := filepath.Join(t.TempDir(), "died")
	err := pool(1, "die-once "+flag).Play(t.Context(), list, func(i int, _ history.Run, err error) {
		switch {
		case err == nil:
			played++
		case errors.Is(err, virtual.ErrDied) && i == 0 && strings.Contains(err.Error(), "killed") && strings.Contains(err.Error(), "seed 0"):
			died++
		default:
			t.Errorf("run %d: %v", i, err)
		}
	})
	if err != nil || played != len(list)-1 || died != 1 {
		t.Errorf("%d played, %d died, error %v", played, died, err)
	}
}

func TestPoolGivesUp(t *testing.T) {
	reported := 0
	err := pool(1, "die").Play(t.Context(), specs(100), func(_ int, _ history.Run, err error) {
		if errors.Is(err, virtual.ErrDied) {
			reported++
		}
	})
	if !errors.Is(err, virtual.ErrDied) || !strings.Contains(err.Error(), "no memory left") || reported != 3 {
		t.Errorf("%d reported, error %v", reported, err)
	}
	missing := &virtual.Pool{Command: func() *exec.Cmd { return exec.Command(filepath.Join(t.TempDir(), "missing")) }}
	if err := missing.Play(t.Context(), specs(1), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v", err)
	}
}

func TestPoolStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	played := 0
	err := pool(2, "work").Play(ctx, specs(100_000), func(_ int, _ history.Run, err error) {
		if err != nil {
			t.Error(err)
		}
		if played++; played == 3 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || played < 3 || played > 20 {
		t.Errorf("%d played, error %v", played, err)
	}
}

// TestPoolKillsAProcessThatHangs: a process that does not end although there is
// nothing left to do is killed.
func TestPoolKillsAProcessThatHangs(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	hanging := pool(1, "hang")
	command := hanging.Command
	hanging.Command = func() *exec.Cmd {
		cancel() // so that it gets no work
		return command()
	}
	if err := hanging.Play(ctx, specs(1), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}
