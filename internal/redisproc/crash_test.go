package redisproc_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

func TestCrash(t *testing.T) {
	s := redistest.StartT(t, redisproc.Options{})
	get := func(want string) {
		t.Helper()
		if got, _ := client(t, s).Get(ctx(t), "k").Result(); got != want {
			t.Errorf("the key is %q, want %q", got, want)
		}
	}
	saved, err := s.Saved()
	if saved != nil || err != nil {
		t.Errorf("before any snapshot: %d bytes, %v", len(saved), err)
	}
	noErr(t, client(t, s).Set(ctx(t), "k", "old", 0).Err())
	noErr(t, client(t, s).Save(ctx(t)).Err())
	saved, err = s.Saved()
	noErr(t, err)
	noErr(t, client(t, s).Set(ctx(t), "k", "new", 0).Err())
	pid := s.PID()
	noErr(t, s.Crash(ctx(t), saved))
	if s.PID() == pid {
		t.Error("it is the same process")
	}
	get("old")
	noErr(t, s.Crash(ctx(t), nil))
	get("")
	noErr(t, s.Kill())
	noErr(t, s.Crash(ctx(t), saved))
	get("old")
}

func TestCrashRefused(t *testing.T) {
	s := redistest.StartT(t, redisproc.Options{Persistence: redisproc.AOF})
	if err := s.Crash(ctx(t), nil); err == nil || s.PID() == 0 {
		t.Errorf("with an append-only file: %v", err)
	}
	noErr(t, s.Stop())
	if err := s.Crash(ctx(t), nil); !errors.Is(err, redisproc.ErrStopped) {
		t.Errorf("after Stop: %v", err)
	}
	if _, err := s.Saved(); !errors.Is(err, redisproc.ErrStopped) {
		t.Errorf("after Stop: %v", err)
	}
}

// TestEnv: the dynamic linker speaks before the server does.
func TestEnv(t *testing.T) {
	s := redistest.StartT(t, redisproc.Options{Env: []string{"LD_PRELOAD=/no/such/library.so"}})
	if log := s.LogTail(100); runtime.GOOS == "linux" && !strings.Contains(log, "/no/such/library.so") {
		t.Errorf("the variable had no effect: %s", log)
	}
}

// TestCrashAppendOnly: nothing that was acknowledged is lost, and what the file holds is
// gone once a snapshot takes its place.
func TestCrashAppendOnly(t *testing.T) {
	s := redistest.StartT(t, redisproc.Options{})
	c := client(t, s)
	saved := func(want string) {
		t.Helper()
		if got, err := client(t, s).Get(ctx(t), "k").Result(); got != want {
			t.Errorf("the key is %q, want %q; %v", got, want, err)
		}
	}
	noErr(t, c.Set(ctx(t), "k", "snapshot", 0).Err())
	noErr(t, c.Save(ctx(t)).Err())
	file, err := s.Saved()
	noErr(t, err)
	noErr(t, c.Do(ctx(t), "CONFIG", "SET", "appendfsync", "always", "appendonly", "yes").Err())
	for strings.Contains(c.Info(ctx(t), "persistence").Val(), "aof_rewrite_in_progress:1") { // until the first file is whole
	}
	for range 2 {
		noErr(t, client(t, s).Set(ctx(t), "k", "logged", 0).Err())
		noErr(t, s.CrashAppendOnly(ctx(t)))
		saved("logged")
		if info := client(t, s).Info(ctx(t), "persistence").Val(); !strings.Contains(info, "aof_enabled:1") {
			t.Errorf("it keeps no file any more: %s", info)
		}
	}
	noErr(t, s.Crash(ctx(t), file))
	saved("snapshot")
	noErr(t, s.Crash(ctx(t), nil))
	saved("")
	noErr(t, s.Stop())
	if err := s.CrashAppendOnly(ctx(t)); !errors.Is(err, redisproc.ErrStopped) {
		t.Errorf("after Stop: %v", err)
	}
}
