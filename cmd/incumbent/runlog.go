package main

import (
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"
)

const (
	logQueue = 1024            // lines that may wait to be written
	logFlush = 2 * time.Second // for the last ones
)

// runLog is the log of "incumbent run". It never blocks whoever logs: if nobody reads
// standard error, a line that waits for its writer must not keep a lease from being
// renewed, or a command from being ended. What finds no room is dropped, and counted.
type runLog struct {
	*slog.Logger
	to    io.Writer
	ended chan struct{}

	mu      sync.Mutex
	lines   chan []byte
	dropped int
	closed  bool
}

// newRunLog logs to w until close is called.
func newRunLog(w io.Writer, format string, quiet bool) *runLog {
	l := &runLog{to: w, lines: make(chan []byte, logQueue), ended: make(chan struct{})}
	level := slog.LevelInfo
	if quiet {
		level = slog.LevelWarn
	}
	o := &slog.HandlerOptions{Level: level}
	if format == "json" {
		l.Logger = slog.New(slog.NewJSONHandler(l, o))
	} else {
		l.Logger = slog.New(slog.NewTextHandler(l, o))
	}
	go l.drain()
	return l
}

// Write takes a line. It always succeeds.
func (l *runLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return len(line), nil
	}
	if l.dropped > 0 {
		note := fmt.Appendf(nil, "incumbent: run: %d lines of the log were dropped: nobody read them\n", l.dropped)
		if !l.offer(note) {
			l.dropped++
			return len(line), nil
		}
		l.dropped = 0
	}
	if !l.offer(append([]byte(nil), line...)) { // the caller uses it again
		l.dropped++
	}
	return len(line), nil
}

func (l *runLog) offer(line []byte) bool {
	select {
	case l.lines <- line:
		return true
	default:
		return false
	}
}

func (l *runLog) drain() {
	defer close(l.ended)
	for line := range l.lines {
		_, _ = l.to.Write(line) // there is nowhere to say that it failed
	}
}

// close waits for the last lines, though not for ever. What is logged later is lost.
func (l *runLog) close() {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.lines)
	}
	l.mu.Unlock()
	select {
	case <-l.ended:
	case <-time.After(logFlush):
	}
}
