package web_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/web"
)

// pipes is a listener for connections in memory, whose deadlines follow virtual time.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "unix"} }

// dial is a client's end of a new connection. It stops waiting after five minutes,
// which is longer than any limit of the server.
func (p *pipes) dial(t *testing.T) net.Conn {
	t.Helper()
	client, server := net.Pipe()
	p.conns <- server
	noErr(t, client.SetDeadline(time.Now().Add(5*time.Minute)))
	return client
}

// serve starts a server, in virtual time, whose metrics are as given. end tells it to end,
// and returns what Serve did.
func serve(t *testing.T, metrics http.HandlerFunc) (p *pipes, end func() error) {
	t.Helper()
	h := web.New(web.Options{Election: name, Metrics: metrics})
	p = newPipes()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- h.Serve(ctx, p) }()
	return p, func() error { cancel(); return <-done }
}

// took is how long it takes until the server closes the connection, and what it said.
func took(c net.Conn) (time.Duration, string) {
	began := time.Now()
	said, _ := io.ReadAll(c) // ends when the server closes it, or after the client's deadline
	return time.Since(began), string(said)
}

// send writes a request, or a part of one.
func send(t *testing.T, c net.Conn, text string) {
	t.Helper()
	_, err := io.WriteString(c, text)
	noErr(t, err)
}

// A client that sends a part of a request, or nothing for long, is not waited for.
func TestServeCutsOffSlowSenders(t *testing.T) {
	const host = " HTTP/1.1\r\nHost: x\r\n"
	for what, c := range map[string]struct {
		text string
		want time.Duration
		says string // how the answer begins
	}{
		"nothing":              {"", 5 * time.Second, ""},
		"half a header":        {"GET /livez" + host, 5 * time.Second, ""},
		"a header and no body": {"GET /livez" + host + "Content-Length: 10\r\n\r\n", 5 * time.Second, "HTTP/1.1 200 OK"},
		"one request":          {"GET /livez" + host + "\r\n", 2 * time.Minute, "HTTP/1.1 200 OK"},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, end := serve(t, nil)
				client := p.dial(t)
				defer func() { _ = client.Close() }()
				send(t, client, c.text)
				d, said := took(client)
				if d < c.want || d > c.want+time.Second {
					t.Errorf("it was cut off after %s, want %s", d, c.want)
				}
				if !strings.HasPrefix(said, c.says) {
					t.Errorf("it was told %q", said)
				}
				noErr(t, end())
			})
		})
	}
}

// A client that does not read its answer is given up.
func TestServeCutsOffSlowReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gaveUp := make(chan time.Time, 1)
		p, end := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat("numbers", 100_000)) // it fails
			gaveUp <- time.Now()
		})
		client := p.dial(t)
		began := time.Now()
		send(t, client, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
		select {
		case at := <-gaveUp:
			if d := at.Sub(began); d < 30*time.Second || d > 31*time.Second {
				t.Errorf("it was given up after %s", d)
			}
		case <-time.After(time.Minute):
			t.Error("it is still waited for")
		}
		noErr(t, client.Close())
		noErr(t, end())
	})
}

// Headers may be a few times as long as any client's are, and no longer.
func TestServeLimitsHeaders(t *testing.T) {
	for size, want := range map[int]int{8 << 10: http.StatusOK, 32 << 10: http.StatusRequestHeaderFieldsTooLarge} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, end := serve(t, nil)
				client := p.dial(t)
				defer func() { _ = client.Close() }()
				// The server may answer, and stop reading, before it has all.
				go func() {
					_, _ = io.WriteString(client, "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX: "+strings.Repeat("x", size)+"\r\n\r\n")
				}()
				_, said := took(client)
				if prefix := fmt.Sprintf("HTTP/1.1 %d ", want); !strings.HasPrefix(said, prefix) {
					t.Errorf("%.60q, want %s", said, prefix)
				}
				noErr(t, end())
			})
		})
	}
}

// A request that is not over in time when the server is told to end is cut off: Serve
// leaves no connection and no handler behind that waits for one.
func TestServeCutsOffWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan context.Context, 1)
		p, end := serve(t, func(_ http.ResponseWriter, r *http.Request) {
			begun <- r.Context()
			select {
			case <-r.Context().Done():
			case <-time.After(time.Minute):
			}
		})
		client := p.dial(t)
		send(t, client, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
		request := <-begun
		told := time.Now()
		noErr(t, end())
		if d := time.Since(told); d < 5*time.Second || d > 6*time.Second {
			t.Errorf("Serve returned %s after it was told to end", d)
		}
		synctest.Wait()
		if request.Err() == nil {
			t.Error("a request is still under way")
		}
		if d, said := took(client); d != 0 || said != "" {
			t.Errorf("the client was cut off %s later, and told %q", d, said)
		}
		noErr(t, client.Close())
	})
}
