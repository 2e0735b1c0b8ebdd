package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

// terminal opens a pair of a pseudo terminal: who types, and what a program reads.
func terminal(t *testing.T) (typist, tty *os.File) {
	t.Helper()
	typist, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = typist.Close() })
	if err := unix.IoctlSetPointerInt(int(typist.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(typist.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tty.Close() })
	return typist, tty
}

// TestRemoteQuestion: on a terminal it asks, and anything but yes is no.
func TestRemoteQuestion(t *testing.T) {
	s := redistest.StartT(t, redisproc.Options{})
	path := endpointFile(t, s.Addr(), "ttl: 500ms\n")
	for _, tt := range []struct {
		answer string
		plays  bool
	}{{"\n", false}, {"n\n", false}, {"maybe\n", false}, {"y\n", true}} {
		typist, tty := terminal(t)
		if _, err := typist.WriteString(tt.answer); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		args := []string{"compare", "--lab", "remote", "--config", path, "--runs", "1", "--faults", "resign"}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		code := run(ctx, args, tty, &stdout, &stderr)
		cancel()
		played := strings.Contains(stdout.String(), "remote lab")
		refused := strings.Contains(stderr.String(), "Nothing was written.")
		if code != exitOK || !strings.Contains(stderr.String(), "Go on? [y/N]") || played != tt.plays || refused == tt.plays {
			t.Errorf("%q: exit code %d, output %s, error %s", tt.answer, code, &stdout, &stderr)
		}
	}
	if keys := keysAt(t, s.Addr()); len(keys) > 0 {
		t.Errorf("keys are left: %v", keys)
	}
}
