package blackhole_test

import (
	"strings"
	"testing"

	"incumbent/internal/blackhole"
)

// TestCommands counts commands in whatever pieces they come.
func TestCommands(t *testing.T) {
	stream := "*1\r\n$4\r\nPING\r\n" + "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$9\r\n*2\r\n$1\r\nx\r\n" + "PING\r\n" + "\r\n" +
		"*2\r\n$4\r\nECHO\r\n$0\r\n\r\n" + "*x\r\n" + "*1\r\n$4\r\nPING\r\n" + strings.Repeat("y", 1000) + "\n"
	const want = 7
	for _, size := range []int{1, 2, 3, 7, len(stream)} {
		tg := newTarget(t)
		p := newProxy(t, tg.ln.Addr().String())
		c := dial(t, p)
		for rest := stream; rest != ""; rest = rest[min(size, len(rest)):] {
			if _, err := c.Write([]byte(rest[:min(size, len(rest))])); err != nil {
				t.Fatal(err)
			}
		}
		eventually(t, "all counted", func() bool {
			s := p.Stats()
			return s.Forwarded[blackhole.Requests] == int64(len(stream)) && s.Commands == want
		})
	}
}

// TestCommandsThatAreLost count for nothing.
func TestCommandsThatAreLost(t *testing.T) {
	tg := newTarget(t)
	p := newProxy(t, tg.ln.Addr().String())
	c := dial(t, p)
	c.echo("PING")
	p.Cut()
	c.send("PING\n")
	eventually(t, "the second one is swallowed", swallowed(p, blackhole.Requests, 5))
	if n := p.Stats().Commands; n != 1 {
		t.Errorf("%d commands, want 1", n)
	}
}
