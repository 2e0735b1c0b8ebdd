package redisproc

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
)

// A port lost between choice and use is replaced, also when the one who took it
// is a server that answers PING, and when that has happened several times.
func TestLostPortIsReplaced(t *testing.T) {
	if _, err := FindBinary(); err != nil {
		if os.Getenv("INCUMBENT_REQUIRE_REDIS") == "1" {
			t.Fatal(err)
		}
		t.Skip("needs a real server:", err)
	}
	rival, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer rival.Stop()
	var taken int
	fmt.Sscanf(rival.Addr(), "127.0.0.1:%d", &taken)
	picks := 0
	s, err := start(t.Context(), Options{}, func(cluster bool) (int, error) {
		if picks++; picks < 4 {
			return taken, nil
		}
		return freePort(cluster)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	if picks != 4 || s.Addr() == rival.Addr() || s.PID() == rival.PID() {
		t.Errorf("after %d picks: %s of process %d", picks, s.Addr(), s.PID())
	}
	picks = 0
	never, err := start(t.Context(), Options{}, func(bool) (int, error) { picks++; return taken, nil })
	if err == nil {
		never.Stop()
		t.Fatal("started on a port in use")
	}
	if picks != startTries || !strings.Contains(err.Error(), "port is in use") {
		t.Errorf("after %d picks: %v", picks, err)
	}
}

func TestFreePort(t *testing.T) {
	for _, cluster := range []bool{false, true} {
		port, err := freePort(cluster)
		if err != nil || port < lowPort || port >= highPort {
			t.Errorf("freePort(%v) = %d, %v", cluster, port, err)
		}
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if err := tryPort(ln.Addr().(*net.TCPAddr).Port); err == nil {
		t.Error("a port in use passes as free")
	}
}

func TestRedactLongestFirst(t *testing.T) {
	s := &Server{secrets: (&Options{Password: `a"b`, Args: []string{"masterauth", `"a\"bcd"`}}).secrets("user x >topsecret #00ff +@all")}
	got := s.redact(`x a"b y "a\x22b" z topsecret 00ff`)
	if want := `x *** y *** z *** ***`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
