package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/election"
)

// E15: terms that are lost quickly are followed by longer and longer pauses, so that two
// candidates do not take the lease from each other without end; a long term begins anew.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ttl = 800 * time.Millisecond
		b := backoff{ttl: ttl}
		if got := b.pause(); got != 0 {
			t.Errorf("%s before the first term", got)
		}
		for round := range 2 {
			b.won()
			for i, most := range []time.Duration{100, 200, 400, 800, 1600, 3200, 6400, 6400, 6400} {
				most *= time.Millisecond
				time.Sleep(10*ttl - 1)
				if got := b.pause(); got < most*3/4 || got > most {
					t.Errorf("round %d: %s after %d short terms, want up to %s", round, got, i+1, most)
				}
				b.won()
			}
			time.Sleep(10 * ttl)
			if got := b.pause(); got != 0 {
				t.Errorf("round %d: %s after a long term", round, got)
			}
		}
	})
}

// A term that was given up on purpose is followed by no pause.
func TestNoBackoffAfterTermsThatWereMeantToEnd(t *testing.T) {
	for reason, want := range map[error]bool{election.ErrResigned: false, election.ErrMaxTerm: false, election.ErrTaken: true, nil: true} {
		b := backoff{ttl: time.Second}
		for range 3 {
			b.won()
			var l *election.Loss
			if reason != nil {
				l = &election.Loss{Reason: reason}
			}
			b.ended(l)
			if got := b.pause() > 0; got != want {
				t.Errorf("%v: a pause: %v", reason, got)
			}
		}
	}
}

// --wait: only a store that serves makes it an ordinary end.
func TestNotWithin(t *testing.T) {
	held, down := &election.HeldError{}, &election.MasterError{Master: "a:1", Op: "acquire", Kind: election.ErrUnreachable}
	gaveUp := func(last error) error {
		return errors.Join(election.ErrNotAcquired, context.Canceled, last)
	}
	for name, tt := range map[string]struct {
		err, last error
		want      error
	}{
		"held":           {gaveUp(held), held, errRunNotAcquired},
		"held, untold":   {gaveUp(held), nil, errRunNotAcquired},
		"guarded":        {gaveUp(election.ErrGuarded), election.ErrGuarded, errRunNotAcquired},
		"votes split":    {gaveUp(election.ErrContended), election.ErrContended, errRunNotAcquired},
		"down":           {gaveUp(down), down, errRunNoAnswer},
		"no try":         {gaveUp(nil), nil, errRunNoAnswer},
		"permanent":      {election.ErrServerTooOld, election.ErrServerTooOld, election.ErrServerTooOld},
		"down, was held": {gaveUp(down), held, errRunNoAnswer},
	} {
		err := notWithin(tt.err, tt.last)
		if !errors.Is(err, tt.want) || tt.last != nil && strings.Contains(err.Error(), "context canceled") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Trouble that lasts is repeated once a minute.
func TestTroubleIsRepeated(t *testing.T) {
	now, said := time.Now(), 0
	var tr trouble
	for range 301 {
		if lasts, say := tr.note(election.ErrAuth, now); say {
			if said++; lasts != time.Duration(said)*time.Minute {
				t.Errorf("it lasts %s", lasts)
			}
		}
		now = now.Add(time.Second)
	}
	if said != 5 {
		t.Errorf("said %d times", said)
	}
	tr.note(&election.HeldError{}, now)
	if _, say := tr.note(election.ErrAuth, now.Add(time.Hour)); say {
		t.Error("new trouble is the elector's to log")
	}
}

// A term that is lost before its command starts counts as lost.
func TestLostBeforeTheStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for sig, want := range map[syscall.Signal]error{0: errRunLost, syscall.SIGTERM: nil} {
		r := runner{k: &runCommand{onLost: exitOnLost}, signal: sig}
		if err := r.lead(ctx, nil); err != nil || !errors.Is(r.done(), want) {
			t.Errorf("signal %d: %v, %v", sig, err, r.done())
		}
	}
}

// Metadata that is full already keeps no program from running.
func TestCommandInMetadata(t *testing.T) {
	for room, want := range map[int]string{len("commandtrue"): "true", len("commandtrue") - 1: ""} {
		m := map[string]string{"k": strings.Repeat("x", metadataLimit-1-room)}
		if nameCommand(m, "true"); m["command"] != want {
			t.Errorf("room for %d bytes: %q", room, m["command"])
		}
	}
}

// slowWriter takes a line whenever it is let.
type slowWriter struct {
	let   chan struct{}
	lines chan string
}

func (w *slowWriter) Write(b []byte) (int, error) {
	<-w.let
	w.lines <- string(b)
	return len(b), errors.New("a log has nobody to tell")
}

// Whoever logs never waits. What was dropped is counted, and the last lines are written.
func TestRunLogNeverBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &slowWriter{make(chan struct{}), make(chan string, 3*logQueue)}
		l := newRunLog(w, "text", false)
		for i := range logQueue + 10 {
			l.Info("line", "n", i)
			synctest.Wait() // the first is being written
		}
		close(w.let)
		synctest.Wait()
		l.Info("last")
		l.close()
		l.close()
		l.Info("too late")
		close(w.lines)
		var got []string
		for line := range w.lines {
			got = append(got, line)
		}
		// One was being written, and as many as there is room for have waited.
		if n := len(got); n != logQueue+3 || !strings.Contains(got[n-2], "9 lines of the log were dropped") || !strings.Contains(got[n-1], "msg=last") {
			t.Errorf("%d lines, the last ones are %q", n, got[max(0, n-2):])
		}
	})
}

// A log that nobody reads holds nobody up in the end, either.
func TestRunLogEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		l := newRunLog(w, "json", true)
		l.Info("not said")
		l.Warn("line")
		began := time.Now()
		l.close()
		if took := time.Since(began); took != logFlush {
			t.Errorf("it took %s", took)
		}
		line := make([]byte, 1000)
		n, err := r.Read(line)
		if err != nil || !strings.HasPrefix(string(line[:n]), "{") || !strings.Contains(string(line[:n]), `"msg":"line"`) {
			t.Errorf("%s, error %v", line[:n], err)
		}
	})
}

// The exit codes stand in the help.
func TestRunHelpHasTheCodes(t *testing.T) {
	_, help, _ := call(t.Context(), "run", "--help")
	for _, code := range []int{exitRunLost, exitRunNotAcquired, exitRunConfig, exitRunFailed, exitRunCannot, exitRunNotFound} {
		if !strings.Contains(help, fmt.Sprintf("\n  %d  ", code)) {
			t.Errorf("no %d:\n%s", code, help)
		}
	}
	for _, want := range []string{"128 + n", "INCUMBENT_TOKEN", "--grace", "--wait", "Examples:", "incumbent run nightly-report"} {
		if !strings.Contains(help, want) {
			t.Errorf("no %s:\n%s", want, help)
		}
	}
	if _, all, _ := call(t.Context(), "--help"); !strings.Contains(all, "  run ") || strings.Contains(all, "watchdog") {
		t.Errorf("the list of commands:\n%s", all)
	}
}
