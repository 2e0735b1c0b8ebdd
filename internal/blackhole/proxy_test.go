package blackhole_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"incumbent/internal/blackhole"
)

// patience bounds every wait; no test that passes comes near it.
const patience = 20 * time.Second

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// target is an echo server that shows what reached it.
type target struct {
	ln       net.Listener
	accepted chan net.Conn
	wg       sync.WaitGroup

	mu       sync.Mutex
	received strings.Builder
	conns    []net.Conn
}

func newTarget(t *testing.T) *target {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tg := &target{ln: ln, accepted: make(chan net.Conn, 1000)}
	tg.wg.Go(tg.serve)
	t.Cleanup(func() {
		ln.Close()
		tg.mu.Lock()
		for _, c := range tg.conns {
			c.Close()
		}
		tg.mu.Unlock()
		tg.wg.Wait()
	})
	return tg
}

func (tg *target) serve() {
	for {
		c, err := tg.ln.Accept()
		if err != nil {
			return
		}
		tg.mu.Lock()
		tg.conns = append(tg.conns, c)
		tg.mu.Unlock()
		tg.accepted <- c
		tg.wg.Go(func() {
			defer c.Close()
			io.Copy(c, io.TeeReader(c, tg))
		})
	}
}

func (tg *target) Write(b []byte) (int, error) {
	tg.mu.Lock()
	defer tg.mu.Unlock()
	if tg.received.Len() < 1<<20 { // enough for whoever looks
		tg.received.Write(b)
	}
	return len(b), nil
}

func (tg *target) got() string {
	tg.mu.Lock()
	defer tg.mu.Unlock()
	return tg.received.String()
}

func newProxy(t *testing.T, addr string) *blackhole.Proxy {
	t.Helper()
	p, err := blackhole.New(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// client is a connection with a deadline and line-wise reads.
type client struct {
	t *testing.T
	net.Conn
	r *bufio.Reader
}

func dial(t *testing.T, p *blackhole.Proxy) *client {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(patience))
	t.Cleanup(func() { c.Close() })
	return &client{t, c, bufio.NewReader(c)}
}

func (c *client) send(s string) {
	c.t.Helper()
	if _, err := io.WriteString(c, s); err != nil {
		c.t.Fatalf("send %q: %v", s, err)
	}
}

func (c *client) echo(s string) {
	c.t.Helper()
	c.send(s + "\n")
	got, err := c.r.ReadString('\n')
	if err != nil || got != s+"\n" {
		c.t.Fatalf("echo of %q: got %q, %v", s, got, err)
	}
}

// fails reads until the connection breaks and returns the error.
func (c *client) fails() error {
	c.t.Helper()
	b, err := io.ReadAll(c.r)
	if len(b) > 0 {
		c.t.Errorf("got %q before the end of the connection, want nothing", b)
	}
	return err // nil after an orderly end
}

func (c *client) wantReset() {
	c.t.Helper()
	if err := c.fails(); !errors.Is(err, syscall.ECONNRESET) {
		c.t.Errorf("read: %v, want %v", err, syscall.ECONNRESET)
	}
}

// wantSilence shows that no byte arrived and that the connection is open.
func (c *client) wantSilence() {
	c.t.Helper()
	c.SetReadDeadline(time.Unix(1, 0)) // asks for what is there, without waiting
	if _, err := c.r.ReadByte(); !isTimeout(err) {
		c.t.Errorf("read: %v, want a timeout", err)
	}
	raw, err := c.Conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		c.t.Fatal(err)
	}
	raw.Control(func(fd uintptr) {
		n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		if !errors.Is(err, syscall.EAGAIN) {
			c.t.Errorf("peek: %d bytes, %v; want an open connection without data", n, err)
		}
	})
	c.SetReadDeadline(time.Now().Add(patience))
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

// eventually waits until ok reports true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

func within[T any](t *testing.T, what string, ch <-chan T) {
	t.Helper()
	select {
	case <-ch:
	case <-time.After(patience):
		t.Fatalf("not within %v: %s", patience, what)
	}
}

func swallowed(p *blackhole.Proxy, d blackhole.Direction, n int) func() bool {
	return func() bool { return p.Stats().Swallowed[d] == int64(n) }
}

func TestForwardsAndCounts(t *testing.T) {
	tg := newTarget(t)
	p := newProxy(t, tg.ln.Addr().String())
	a, b := dial(t, p), dial(t, p)
	a.echo("hello")
	b.echo("world!")
	want := blackhole.Stats{Accepted: 2, Open: 2, Forwarded: [2]int64{13, 13}, Commands: 2}
	eventually(t, "all bytes counted", func() bool { return p.Stats() == want })
	a.Close()
	want.Open = 1
	eventually(t, "one connection closed", func() bool { return p.Stats() == want })
}

func TestEndOfTargetReachesClient(t *testing.T) {
	tg := newTarget(t)
	p := newProxy(t, tg.ln.Addr().String())
	c := dial(t, p)
	c.echo("x")
	(<-tg.accepted).Close()
	if err := c.fails(); err != nil {
		t.Errorf("read: %v, want an orderly end", err)
	}
}

func TestTargetDown(t *testing.T) {
	tg := newTarget(t)
	addr := tg.ln.Addr().String()
	tg.ln.Close()
	p := newProxy(t, addr)
	if c, err := net.Dial("tcp", p.Addr()); err == nil { // the reset may come as early as that
		c.SetDeadline(time.Now().Add(patience))
		_, err = c.Read(make([]byte, 1))
		c.Close()
		if !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("read: %v, want %v", err, syscall.ECONNRESET)
		}
	} else if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("dial: %v, want %v", err, syscall.ECONNRESET)
	}

	p.CutOneWay(blackhole.Replies) // now the refusal cannot come back either
	c := dial(t, p)
	c.send("lost")
	eventually(t, "request swallowed", swallowed(p, blackhole.Requests, 4))
	c.wantSilence()
}

func TestCut(t *testing.T) {
	tg := newTarget(t)
	p := newProxy(t, tg.ln.Addr().String())
	old := dial(t, p)
	old.echo("before")
	server := <-tg.accepted

	p.Cut()
	old.send("lost")
	eventually(t, "request swallowed", swallowed(p, blackhole.Requests, 4))
	io.WriteString(server, "push")
	eventually(t, "reply swallowed", swallowed(p, blackhole.Replies, 4))
	fresh := dial(t, p)
	fresh.send("void")
	eventually(t, "new connection swallowed", swallowed(p, blackhole.Requests, 8))
	old.wantSilence()
	fresh.wantSilence()
	if n := len(tg.accepted); n != 0 {
		t.Errorf("target saw %d new connections during the cut", n)
	}

	p.Heal()
	old.wantReset()
	fresh.wantReset()
	dial(t, p).echo("after")
	if got := tg.got(); got != "before\nafter\n" {
		t.Errorf("target received %q", got)
	}
}

func TestCutSwallowsEnds(t *testing.T) {
	tg := newTarget(t)
	p := newProxy(t, tg.ln.Addr().String())
	c := dial(t, p)
	c.echo("x")
	server := <-tg.accepted
	p.Cut()
	io.WriteString(server, "z")
	server.Close()
	eventually(t, "reply swallowed", swallowed(p, blackhole.Replies, 1))
	c.send("more")
	eventually(t, "request swallowed", swallowed(p, blackhole.Requests, 4))
	c.wantSilence()
	p.Heal()
	c.wantReset()
}

func TestClientGoneDuringCutLeavesNothing(t *testing.T) {
	tg := newTarget(t)
	p := newProxy(t, tg.ln.Addr().String())
	p.Cut()
	for range 20 {
		dial(t, p).Close()
	}
	eventually(t, "dead connections forgotten", func() bool {
		s := p.Stats()
		return s.Accepted == 20 && s.Open == 0
	})
}

func TestCutOneWay(t *testing.T) {
	t.Run("requests", func(t *testing.T) {
		tg := newTarget(t)
		p := newProxy(t, tg.ln.Addr().String())
		c := dial(t, p)
		c.echo("x")
		p.CutOneWay(blackhole.Requests)
		c.send("lost")
		eventually(t, "request swallowed", swallowed(p, blackhole.Requests, 4))
		io.WriteString(<-tg.accepted, "push\n")
		if got, err := c.r.ReadString('\n'); got != "push\n" {
			t.Errorf("got %q, %v; want the push", got, err)
		}
		p.Heal()
		c.wantReset()
		if got := tg.got(); got != "x\n" {
			t.Errorf("target received %q", got)
		}
	})
	t.Run("replies", func(t *testing.T) {
		tg := newTarget(t)
		p := newProxy(t, tg.ln.Addr().String())
		p.CutOneWay(blackhole.Replies)
		c := dial(t, p)
		c.send("arrives")
		eventually(t, "reply swallowed", swallowed(p, blackhole.Replies, 7))
		c.wantSilence()
		if got := tg.got(); got != "arrives" {
			t.Errorf("target received %q", got)
		}
		p.CutOneWay(blackhole.Requests) // adds to the first
		c.send("lost")
		eventually(t, "request swallowed", swallowed(p, blackhole.Requests, 4))
	})
}

// What Cut promises holds in the middle of a stream, too.
func TestNothingPassesAfterCut(t *testing.T) {
	p := newProxy(t, newTarget(t).ln.Addr().String())
	for range 20 {
		var streams sync.WaitGroup
		for range 4 {
			c := dial(t, p)
			streams.Go(func() { io.Copy(io.Discard, c) })
			streams.Go(func() {
				for {
					if _, err := c.Write(make([]byte, 1000)); err != nil {
						return
					}
				}
			})
		}
		start := p.Stats()
		eventually(t, "bytes flow", func() bool {
			s := p.Stats() // one that waits to be accepted would be new after the cut
			return s.Open == 4 && s.Forwarded[blackhole.Replies] > start.Forwarded[blackhole.Replies]
		})
		p.Cut()
		cut := p.Stats()
		eventually(t, "bytes are swallowed", func() bool { return p.Stats().Swallowed[blackhole.Requests] > cut.Swallowed[blackhole.Requests]+1000 })
		if now := p.Stats(); now.Forwarded != cut.Forwarded {
			t.Errorf("forwarded %v, and %v when Cut returned", now.Forwarded, cut.Forwarded)
		}
		p.Heal()
		streams.Wait()
	}
}

// A cut must not wait for a receiver that has stopped reading.
func TestCutInterruptsBlockedDelivery(t *testing.T) {
	tg := newTarget(t)
	p := newProxy(t, tg.ln.Addr().String())
	c := dial(t, p) // never reads
	server := <-tg.accepted
	blocked := make(chan struct{})
	go func() {
		defer close(blocked)
		buf := make([]byte, 1<<16)
		for { // until one write does not get through
			server.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
			if _, err := server.Write(buf); err != nil {
				return
			}
		}
	}()
	within(t, "stream stuck", blocked)
	done := make(chan struct{})
	go func() { p.Cut(); close(done) }()
	within(t, "return of Cut", done)
	before := p.Stats().Forwarded
	eventually(t, "backlog swallowed", func() bool { return p.Stats().Swallowed[blackhole.Replies] > 1<<16 })
	if after := p.Stats().Forwarded; after != before {
		t.Errorf("forwarded %v after Cut had returned, %v before", after, before)
	}
	p.Heal()
	io.Copy(io.Discard, c)
}

func TestHealWithoutCutKeepsConnections(t *testing.T) {
	p := newProxy(t, newTarget(t).ln.Addr().String())
	c := dial(t, p)
	c.echo("x")
	p.Heal()
	c.echo("y")
}

func TestDelay(t *testing.T) {
	p := newProxy(t, newTarget(t).ln.Addr().String())
	c := dial(t, p)
	c.echo("warm")
	p.Delay(blackhole.Requests, 40*time.Millisecond)
	p.Delay(blackhole.Replies, 20*time.Millisecond)
	start := time.Now()
	c.echo("slow")
	if d := time.Since(start); d < 60*time.Millisecond {
		t.Errorf("round trip of %v, want at least 60ms", d)
	}
	for _, s := range []string{"a", "b", "c"} {
		c.send(s + "\n")
	}
	p.Delay(blackhole.Requests, 0)
	c.send("d\n") // must not overtake
	for _, want := range []string{"a\n", "b\n", "c\n", "d\n"} {
		if got, err := c.r.ReadString('\n'); got != want {
			t.Fatalf("got %q, %v; want %q", got, err, want)
		}
	}
}

func TestCutLosesWhatADelayHolds(t *testing.T) {
	tg := newTarget(t)
	p := newProxy(t, tg.ln.Addr().String())
	c := dial(t, p)
	c.echo("x")
	p.Delay(blackhole.Requests, 50*time.Millisecond)
	c.send("held")
	p.CutOneWay(blackhole.Requests)
	eventually(t, "held bytes swallowed", swallowed(p, blackhole.Requests, 4))
	if got := tg.got(); got != "x\n" {
		t.Errorf("target received %q", got)
	}
}

func TestCloseDuringDelay(t *testing.T) {
	p := newProxy(t, newTarget(t).ln.Addr().String())
	c := dial(t, p)
	c.echo("x")
	p.Delay(blackhole.Replies, time.Hour)
	c.send("held")
	eventually(t, "request forwarded", func() bool { return p.Stats().Forwarded[blackhole.Requests] == 6 })
	p.Close()
	c.wantReset()
}

func TestDropNextReply(t *testing.T) {
	tg := newTarget(t)
	p := newProxy(t, tg.ln.Addr().String())
	c, idle := dial(t, p), dial(t, p)
	c.echo("before")
	idle.echo("idle")
	dropped := p.DropNextReply()
	c.send("acted\n")
	within(t, "drop", dropped)
	if err := c.fails(); err != nil {
		t.Errorf("read: %v, want an orderly end", err)
	}
	idle.echo("unharmed")
	dial(t, p).echo("once only")
	if got := tg.got(); !strings.Contains(got, "acted\n") {
		t.Errorf("target received %q, want the request in it", got)
	}
	if n := p.Stats().Swallowed[blackhole.Replies]; n != 6 {
		t.Errorf("swallowed %d bytes, want 6", n)
	}
}

func TestDropReplyToMatchesRequest(t *testing.T) {
	p := newProxy(t, newTarget(t).ln.Addr().String())
	c := dial(t, p)
	dropped := p.DropReplyTo(func(b []byte) bool { return strings.Contains(string(b), "EVALSHA") })
	c.echo("HELLO")
	c.send("EVALSHA\n")
	within(t, "drop", dropped)
	if err := c.fails(); err != nil {
		t.Errorf("read: %v, want an orderly end", err)
	}
}

func TestReset(t *testing.T) {
	p := newProxy(t, newTarget(t).ln.Addr().String())
	a, b := dial(t, p), dial(t, p)
	a.echo("a")
	b.echo("b")
	p.Reset()
	if n := p.Stats().Open; n != 0 {
		t.Errorf("%d connections open after Reset", n)
	}
	a.wantReset()
	b.wantReset()
	dial(t, p).echo("new")
}

func TestCloseIsIdempotent(t *testing.T) {
	p := newProxy(t, newTarget(t).ln.Addr().String())
	c := dial(t, p)
	c.echo("x")
	p.Cut()
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() { p.Close() })
	}
	wg.Wait()
	c.wantReset()
	if conn, err := net.Dial("tcp", p.Addr()); err == nil {
		conn.Close()
		t.Error("dial succeeded after Close")
	}
}

// Everything at once; the race detector and goleak are the judges, and a proxy
// that still works afterwards.
func TestConcurrentUse(t *testing.T) {
	p := newProxy(t, newTarget(t).ln.Addr().String())
	var clients, orders sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if c, err := net.Dial("tcp", p.Addr()); err == nil {
					c.SetDeadline(time.Now().Add(5 * time.Millisecond))
					io.WriteString(c, "x\n")
					io.ReadFull(c, make([]byte, 2))
					c.Close()
				}
			}
		})
	}
	for _, order := range []func(){
		p.Cut, p.Heal, p.Reset,
		func() { p.CutOneWay(blackhole.Replies) },
		func() { p.DropNextReply() },
		func() { p.Delay(blackhole.Requests, time.Millisecond); p.Stats() },
	} {
		orders.Go(func() {
			for range 200 {
				order()
			}
		})
	}
	orders.Wait()
	close(stop)
	clients.Wait()
	p.Cut()
	p.Heal()
	p.DropReplyTo(func([]byte) bool { return false })
	dial(t, p).echo("still here")
}

func TestErrors(t *testing.T) {
	for _, target := range []string{"", "localhost", "::1:6379:x", "host:1:2"} {
		_, err := blackhole.New(target)
		if err == nil {
			t.Errorf("New(%q) succeeded", target)
			continue
		}
		msg := err.Error()
		if !strings.HasPrefix(msg, "blackhole: target ") || !strings.Contains(msg, "host:port") || strings.Contains(msg, "\n") {
			t.Errorf("New(%q): %q, want one line with the field, its value and the rule", target, msg)
		}
	}
}

func TestDirectionString(t *testing.T) {
	for d, want := range map[blackhole.Direction]string{
		blackhole.Requests: "requests", blackhole.Replies: "replies", 7: "Direction(7)",
	} {
		if got := d.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
