package proof_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// timeline is one pause, as people read it.
type timeline struct {
	title   string
	moments []moment
}

// moment is one line of it. Its times count from SIGSTOP.
type moment struct {
	at   time.Duration
	who  string
	what string
}

// precision is what is shown of times.
const precision = 10 * time.Microsecond

func (m moment) millis() float64 { return float64(m.at.Microseconds()) / 1000 }

// Whom a moment is about.
const (
	oldLeader = "old leader"
	newLeader = "new leader"
	theStore  = "store"
)

// toResource begins what a leader sent to a resource.
const toResource = "-> "

// timeline tells what led to a pause, and what came of it.
func (p *pause) timeline() timeline {
	l := timeline{title: fmt.Sprintf("TTL %v, old token %d, new token %d", ttl, p.oldToken, p.nextToken)}
	add := func(at time.Duration, who, what string, a ...any) {
		l.moments = append(l.moments, moment{(at - p.stopped).Round(precision), who, fmt.Sprintf(what, a...)})
	}
	add(p.checked, oldLeader, "checks: its term is valid")
	add(p.stopped, oldLeader, "SIGSTOP, before it writes")
	add(p.leaseEnd, theStore, "the lease runs out")
	for _, l := range p.told(started, p.nextToken, nil) {
		add(l.At, newLeader, "bid granted, with a larger token")
	}
	for _, l := range p.told(raised, p.nextToken, nil) {
		add(l.At, newLeader, toResource+"%s: guard raised", l.Resource)
	}
	for _, l := range p.told(act, p.nextToken, func(l line) bool { return l.Guarded && l.At < p.resumed }) {
		add(l.At, newLeader, toResource+"%s: write %s", l.Resource, l.Outcome)
	}
	add(p.resumed, oldLeader, "SIGCONT: it is past its check, and writes")
	for _, guarded := range []bool{false, true} {
		for _, l := range p.told(act, p.oldToken, func(l line) bool { return l.Guarded == guarded }) {
			how := "without a guard: stale write"
			if guarded {
				how = "guard: stale write"
			}
			add(l.At, oldLeader, toResource+"%s, %s %s", l.Resource, how, l.Outcome)
		}
	}
	for _, l := range p.told(ended, p.oldToken, nil) {
		add(l.At, oldLeader, "learns that its term is over: %s", l.Err)
	}
	slices.SortStableFunc(l.moments, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	return l
}

// String is a text that parseTimeline reads.
func (l timeline) String() string {
	var b strings.Builder
	fmt.Fprintln(&b, l.title)
	for _, m := range l.moments {
		fmt.Fprintf(&b, "%+9.2f ms  %-10s  %s\n", m.millis(), m.who, m.what)
	}
	return b.String()
}

// parseTimeline reads what String has written.
func parseTimeline(text string) (timeline, error) {
	title, rest, _ := strings.Cut(text, "\n")
	l := timeline{title: title}
	for row := range strings.Lines(rest) {
		at, rest, ok := strings.Cut(strings.TrimSpace(row), " ms  ")
		if !ok || len(rest) < len(oldLeader)+2 {
			return l, fmt.Errorf("not a moment: %q", row)
		}
		d, err := time.ParseDuration(at + "ms")
		if err != nil {
			return l, err
		}
		who, what := rest[:len(oldLeader)], rest[len(oldLeader)+2:]
		l.moments = append(l.moments, moment{d, strings.TrimSpace(who), what})
	}
	return l, nil
}

// String shows a pause in a failed test.
func (p *pause) String() string { return p.timeline().String() }

// write writes the timeline to files, by their names as text or as a picture.
func (p *pause) write(files string) error {
	l := p.timeline()
	for file := range strings.SplitSeq(files, ",") {
		text := l.String()
		if strings.HasSuffix(file, ".svg") {
			text = picture(l)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func TestTimelineText(t *testing.T) {
	want := timeline{"title", []moment{{-1500 * time.Microsecond, oldLeader, "a: b"}, {0, theStore, "c"}, {time.Second, newLeader, "-> d"}}}
	got, err := parseTimeline(want.String())
	check(t, err)
	if got.String() != want.String() || len(got.moments) != 3 || got.moments[1] != want.moments[1] {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := parseTimeline("title\nnonsense\n"); err == nil {
		t.Error("nonsense was read")
	}
}
