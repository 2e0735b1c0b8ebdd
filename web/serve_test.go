package web_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"incumbent/web"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noErr(t, err)
	return l
}

// A request that is under way when the server is told to end is answered; the port is
// free afterwards, and nothing is left behind.
func TestServeEndsCleanly(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	h := web.New(web.Options{Election: name, Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(asked)
		<-answer
		_, _ = io.WriteString(w, "numbers")
	})})
	l := listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- h.Serve(ctx, l) }()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	body := make(chan string, 1)
	go func() {
		res, err := client.Get("http://" + l.Addr().String() + "/metrics")
		if err != nil {
			body <- err.Error()
			return
		}
		text, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		body <- string(text)
	}()
	<-asked
	cancel()
	for get(h, "/readyz").Code == ok {
		time.Sleep(time.Millisecond)
	}
	select {
	case err := <-served:
		t.Fatalf("Serve returned %v with a request under way", err)
	default:
	}
	close(answer)
	if text := <-body; text != "numbers" {
		t.Errorf("the request got %q", text)
	}
	noErr(t, <-served)
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("it still listens")
	}
}

func TestServeSaysWhyItCannot(t *testing.T) {
	l := listen(t)
	noErr(t, l.Close())
	h := web.New(web.Options{})
	if err := h.Serve(t.Context(), l); err == nil || !strings.Contains(err.Error(), l.Addr().String()) {
		t.Errorf("a closed listener: %v", err)
	}
	codes{no, ok, ok}.of(t, h, "no server")
}
