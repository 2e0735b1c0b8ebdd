package local

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"incumbent/internal/blackhole"
)

// echoServer answers what it is sent.
func echoServer(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); _, _ = io.Copy(c, c) }()
		}
	}()
	t.Cleanup(func() { _ = ln.Close(); <-done })
	return ln.Addr().String()
}

// linked is an exchange behind a proxy, as each candidate has one.
func linked(t *testing.T) (*exchange, *blackhole.Proxy) {
	t.Helper()
	x, err := newExchange()
	if err != nil {
		t.Fatal(err)
	}
	p, err := blackhole.New(x.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close(); x.close() })
	return x, p
}

// TestExchange: what is named is reached, a refusal is told as one, and who has no
// ticket reaches nothing.
func TestExchange(t *testing.T) {
	x, p := linked(t)
	there := echoServer(t)
	conn, err := dialThrough(t.Context(), p.Addr(), x.ticket, there)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "hello\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || line != "hello\n" {
		t.Errorf("got %q, %v", line, err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := ln.Addr().String()
	_ = ln.Close() // nobody listens there now
	var op *net.OpError
	if _, err := dialThrough(t.Context(), p.Addr(), x.ticket, closed); !errors.As(err, &op) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("a closed port: %v", err)
	}
	if _, err := dialThrough(t.Context(), p.Addr(), "none", there); !errors.Is(err, io.EOF) {
		t.Errorf("without a ticket: %v", err)
	}
}

// TestExchangeBehindABlackHole: a dial lasts as long as its caller lets it.
func TestExchangeBehindABlackHole(t *testing.T) {
	x, p := linked(t)
	there := echoServer(t)
	p.Cut()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := dialThrough(ctx, p.Addr(), x.ticket, there); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	p.Heal()
	conn, err := dialThrough(t.Context(), p.Addr(), x.ticket, there)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close() // its end is nobody's concern
}

// TestFarDialer: each master of a quorum has a link of its own, and what is found at
// run time shares the first.
func TestFarDialer(t *testing.T) {
	x, first := linked(t)
	second, err := blackhole.New(x.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = second.Close() })
	a, b := echoServer(t), echoServer(t)
	f := &farChild{Ticket: x.ticket, Links: []string{first.Addr(), second.Addr()}}
	dial := f.dialer([]string{"somewhere:1", a})
	for _, tt := range []struct {
		address string
		by      *blackhole.Proxy
	}{{a, second}, {b, first}} {
		before := tt.by.Stats().Accepted
		conn, err := dial(t.Context(), "tcp", tt.address)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close() // its end is nobody's concern
		if tt.by.Stats().Accepted != before+1 {
			t.Errorf("%s went by another link", tt.address)
		}
	}
}

// TestWithoutSettings: no child inherits what may be a password.
func TestWithoutSettings(t *testing.T) {
	got := withoutSettings([]string{"PATH=/bin", "INCUMBENT_PASSWORD=hush", "HOME=/", "INCUMBENT_TTL=1s"})
	if strings.Join(got, " ") != "PATH=/bin HOME=/" {
		t.Errorf("got %q", got)
	}
}
