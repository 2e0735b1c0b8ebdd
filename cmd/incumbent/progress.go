package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"incumbent/compare"
)

// progress tells how far a comparison is: on a terminal in one line that changes,
// elsewhere in a line at first and then now and then.
type progress struct {
	w        io.Writer
	total    int
	terminal bool
	begin    time.Time
	next     time.Time // when to say something again; zero at first
	every    time.Duration
}

const (
	everyOnTerminal = 200 * time.Millisecond
	everyElsewhere  = 10 * time.Second
)

func newProgress(w io.Writer, p compare.Plan, quiet bool) *progress {
	g := &progress{w: w, total: p.Total(), terminal: isTerminal(w), begin: time.Now(), every: everyElsewhere}
	if g.terminal {
		g.every = everyOnTerminal
	}
	if quiet {
		g.w, g.terminal = io.Discard, false
	}
	return g
}

// update says that so many runs are done, unless something was said just now.
func (g *progress) update(done int) {
	now := time.Now()
	if now.Before(g.next) {
		return
	}
	g.next = now.Add(g.every)
	text := progressText(done, g.total, now.Sub(g.begin))
	if g.terminal {
		_, _ = fmt.Fprintf(g.w, "\r\x1b[K%s", text)
		return
	}
	_, _ = fmt.Fprintln(g.w, text)
}

// end removes the line that changes.
func (g *progress) end() {
	if g.terminal {
		_, _ = fmt.Fprint(g.w, "\r\x1b[K")
	}
}

// progressText is what is said after so long.
func progressText(done, total int, took time.Duration) string {
	left := time.Duration(float64(took) / float64(done) * float64(total-done))
	return fmt.Sprintf("%d of %d runs (%d%%), %.0f a second, %s left",
		done, total, 100*done/total, float64(done)/took.Seconds(), left.Round(time.Second))
}

// isTerminal reports whether w is a terminal that can rewrite a line.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
