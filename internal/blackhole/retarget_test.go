package blackhole_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"incumbent/internal/blackhole"
)

func TestRetarget(t *testing.T) {
	first, second := newTarget(t), newTarget(t)
	p := newProxy(t, first.ln.Addr().String())
	c := dial(t, p)
	c.echo("one")
	if err := p.Retarget("nowhere"); err == nil || !strings.Contains(err.Error(), "host:port") {
		t.Errorf("a target without a port: %v", err)
	}
	c.echo("two")
	if err := p.Retarget(second.ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	c.wantReset()
	dial(t, p).echo("three")
	if first.got() != "one\ntwo\n" || second.got() != "three\n" {
		t.Errorf("the first target got %q, the second %q", first.got(), second.got())
	}
	p.Cut()
	if err := p.Retarget(first.ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	c = dial(t, p)
	c.send("void")
	eventually(t, "the cut stays", func() bool { return p.Stats().Swallowed[blackhole.Requests] == 4 })
}

func TestLose(t *testing.T) {
	p := newProxy(t, newTarget(t).ln.Addr().String())
	c := dial(t, p)
	c.echo("warm")
	p.Lose(2) // 0.99: lost a first time, most likely
	start := time.Now()
	c.send("late\n")
	eventually(t, "request delivered", func() bool {
		return p.Stats().Forwarded[blackhole.Requests] == 10 || time.Since(start) > time.Second
	})
	if d := time.Since(start); d < 200*time.Millisecond {
		t.Errorf("delivered after %v", d)
	}
	p.Reset()
	p.Lose(-1)
	start = time.Now()
	dial(t, p).echo("soon")
	if d := time.Since(start); d >= 200*time.Millisecond {
		t.Errorf("without losses an echo took %v", d)
	}
}

func TestResetReply(t *testing.T) {
	p := newProxy(t, newTarget(t).ln.Addr().String())
	c := dial(t, p)
	dropped := p.ResetReplyTo(func(b []byte) bool { return strings.Contains(string(b), "EVALSHA") })
	c.echo("HELLO")
	c.send("EVALSHA\n")
	within(t, "drop", dropped)
	c.wantReset()
	dial(t, p).echo("EVALSHA")
}

func TestMuteReply(t *testing.T) {
	tg := newTarget(t)
	p := newProxy(t, tg.ln.Addr().String())
	c, idle := dial(t, p), dial(t, p)
	c.echo("HELLO")
	idle.echo("idle")
	dropped := p.MuteReplyTo(func(b []byte) bool { return strings.Contains(string(b), "EVALSHA") })
	c.send("EVALSHA\n")
	within(t, "drop", dropped)
	c.send("lost")
	eventually(t, "what follows swallowed", func() bool { return p.Stats().Swallowed[blackhole.Requests] == 4 })
	c.wantSilence()
	dial(t, p).echo("new")
	p.Heal()
	c.wantReset()
	idle.echo("unharmed")
	if got := tg.got(); strings.Contains(got, "lost") || !strings.Contains(got, "EVALSHA") {
		t.Errorf("the target received %q", got)
	}
}

func TestKeepReplies(t *testing.T) {
	p := newProxy(t, newTarget(t).ln.Addr().String())
	dropped := p.DropNextReply()
	p.KeepReplies()
	c := dial(t, p)
	c.echo("kept")
	select {
	case <-dropped:
		t.Error("a reply was dropped")
	default:
	}
	c.Close()
	if _, err := io.ReadAll(c); err == nil {
		t.Error("read from a closed connection")
	}
}
