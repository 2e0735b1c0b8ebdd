package main

import (
	"fmt"
	"io"
	"time"
)

// benchProgress tells how far a benchmark is, as progress does of a comparison. It says
// nothing within a block, so that it disturbs no time.
type benchProgress struct {
	w        io.Writer
	terminal bool
	begin    time.Time
	next     time.Time // when to say something again; zero at first
}

func newBenchProgress(w io.Writer, quiet bool) *benchProgress {
	g := &benchProgress{w: w, terminal: isTerminal(w), begin: time.Now()}
	if quiet {
		g.w, g.terminal = io.Discard, false
	}
	if g.terminal {
		_, _ = fmt.Fprint(g.w, "starting servers and counting")
	}
	return g
}

// update says that so many blocks are done, unless something was said just now.
func (g *benchProgress) update(done, total int) {
	now := time.Now()
	if done == 1 {
		g.begin = now // what came before was preparation
		g.next = now.Add(everyOnTerminal)
		return
	}
	if now.Before(g.next) {
		return
	}
	g.next = now.Add(everyElsewhere)
	left := time.Duration(float64(now.Sub(g.begin)) / float64(done) * float64(total-done)).Round(time.Second)
	text := fmt.Sprintf("%d of %d blocks (%d%%), %s left", done, total, 100*done/total, left)
	if g.terminal {
		g.next = now.Add(everyOnTerminal)
		_, _ = fmt.Fprintf(g.w, "\r\x1b[K%s", text)
		return
	}
	_, _ = fmt.Fprintln(g.w, text)
}

// end removes the line that changes.
func (g *benchProgress) end() {
	if g.terminal {
		_, _ = fmt.Fprint(g.w, "\r\x1b[K")
	}
}
