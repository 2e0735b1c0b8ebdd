package timeline_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"incumbent/compare/history"
	"incumbent/compare/timeline"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

const msec = time.Millisecond

// runs are told in testdata.
var runs = map[string]history.Run{
	// A leader is paused, its successor begins before the lease is over by mistake, and
	// its stale acts meet the fence.
	"overlap": {
		Seed: 7, Mode: "quorum", Masters: 3, Fault: "pause-write", Guards: "off", Lab: "virtual", TTL: 2 * time.Second, Candidates: 3,
		Renew: 500 * msec, Link: "zone", Loss: 0.05, Drift: 0.5, Length: 6 * time.Second,
		Events: []history.Event{
			{At: 1, Actor: "candidate-1", Kind: history.Note, Name: "campaign-started"},
			{At: 10 * msec, Actor: "candidate-1", Kind: history.TermStarted, Token: 10, Deadline: 1978 * msec},
			{At: 10 * msec, Actor: "candidate-1", N: 1, Kind: history.Checked, Token: 10},
			{At: 11 * msec, Actor: "candidate-1", Kind: history.Acted, Token: 10, Unfenced: true, Fenced: true},
			{At: 12 * msec, Actor: "candidate-2", Kind: history.Note, Name: "bid-refused", Err: "held by another"},
			{At: 600 * msec, Actor: "candidate-1", Kind: history.Renewed, Token: 10, Deadline: 2560 * msec},
			{At: 700 * msec, Actor: "candidate-1", Kind: history.Acted, Token: 10, Unfenced: true, Fenced: true},
			{At: 800 * msec, Actor: "candidate-1", Kind: history.Fault, Name: "pause-write", Floor: 1800 * msec},
			{At: 800 * msec, Actor: "master-1", Kind: history.Note, Name: "a very long note about what happened to this master, which does not fit into what is left of a line of a hundred columns"},
			{At: 900 * msec, Actor: "candidate-2", Kind: history.TermStarted, Token: 11, Deadline: 2870 * msec},
			{At: 901 * msec, Actor: "candidate-1", Kind: history.Acted, Token: 10, Unfenced: true, Fenced: true},
			{At: 902 * msec, Actor: "candidate-2", Kind: history.Acted, Token: 11, Unfenced: true, Fenced: true},
			{At: 950*msec + 345678, Actor: "candidate-1", Kind: history.Acted, Token: 10, Unfenced: true},
			{At: 960 * msec, Actor: "candidate-1", Kind: history.Renewed, Token: 10, Deadline: 2900 * msec},
			{At: 1500 * msec, Actor: "candidate-2", Kind: history.Renewed, Token: 11, Deadline: 3450 * msec},
			{At: 2000 * msec, Actor: "lab", Kind: history.Healed, Name: "pause-write"},
			{At: 2700 * msec, Actor: "candidate-1", Kind: history.Note, Name: "renew-failed", Err: "unreachable"},
			{At: 2800 * msec, Actor: "candidate-1", Kind: history.TermStopping, Token: 10, Err: "expired"},
			{At: 2900 * msec, Actor: "candidate-1", Kind: history.TermEnded, Token: 10, Err: "expired"},
			{At: 2901 * msec, Actor: "candidate-1", Kind: history.Note, Name: "term-released", Err: "taken"},
			{At: 3000 * msec, Actor: "candidate-2", Kind: "unheard-of"},
			{At: 3450 * msec, Actor: "candidate-2", Kind: history.TermEnded, Token: 11, Err: "never heard of again"},
		},
	},
	// Nothing happens, and it is counted what that costs.
	"calm": {
		Seed: 1, Mode: "single", Masters: 1, Fault: "calm", Guards: "on", Lab: "virtual", TTL: 2 * time.Second, Length: 3 * time.Second,
		Load: history.Load{Span: 10 * time.Second, Leader: 17, Standby: 10, Standbys: 2},
		Events: []history.Event{
			{At: 10 * msec, Actor: "candidate-1", Kind: history.TermStarted, Token: 10, Deadline: 1978 * msec},
			{At: 500 * msec, Actor: "candidate-1", Kind: history.Fault, Name: "calm"},
			{At: 1600 * msec, Actor: "candidate-1", Kind: history.Renewed, Token: 10, Deadline: 3560 * msec},
		},
	},
	// A schedule after which nobody leads.
	"schedule": {
		Seed: 3, Mode: "single", Masters: 1, Fault: "mine", Guards: "on", Lab: "virtual", TTL: time.Second, Length: 4 * time.Second,
		Steps: []string{"crash", "flushall"},
		Events: []history.Event{
			{At: 10 * msec, Actor: "candidate-1", Kind: history.TermStarted, Token: 10, Deadline: 990 * msec},
			{At: 500 * msec, Actor: "candidate-1", Kind: history.Fault, Name: "crash", Floor: 510 * msec},
			{At: 990 * msec, Actor: "candidate-1", Kind: history.TermEnded, Token: 10, Err: "never heard of again"},
			{At: 1200 * msec, Actor: "master-1", Kind: history.Fault, Name: "flushall"},
		},
	},
}

func TestWrite(t *testing.T) {
	for name, run := range runs {
		var b strings.Builder
		if err := timeline.Write(&b, run); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if b.String() != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, b.String(), want)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > timeline.Width {
				t.Errorf("%s: a line has %d columns: %q", name, n, line)
			}
		}
	}
}

// TestWriteIsPure: the order of events does not matter, and they are left alone.
func TestWriteIsPure(t *testing.T) {
	run := runs["overlap"]
	var one, two strings.Builder
	if err := timeline.Write(&one, run); err != nil {
		t.Fatal(err)
	}
	events := append([]history.Event(nil), run.Events...)
	for i, j := 0, len(events)-1; i < j; i, j = i+1, j-1 {
		events[i], events[j] = events[j], events[i]
	}
	first := events[0]
	run.Events = events
	if err := timeline.Write(&two, run); err != nil {
		t.Fatal(err)
	}
	if one.String() != two.String() || events[0] != first {
		t.Errorf("another order gives\n%s", two.String())
	}
	if err := timeline.Write(&two, history.Run{}); err != nil {
		t.Errorf("an empty history: %v", err)
	}
}

type full struct{}

var errFull = errors.New("disk full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteFails(t *testing.T) {
	if err := timeline.Write(full{}, runs["calm"]); !errors.Is(err, errFull) {
		t.Errorf("error is %v", err)
	}
}
