package redisproc_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

func TestServerDiesWithItsProgram(t *testing.T) {
	redistest.Require(t)
	exe, err := os.Executable()
	noErr(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), crashEnv+"="+t.TempDir())
	_, err = cmd.StdinPipe()
	noErr(t, err)
	out, err := cmd.StdoutPipe()
	noErr(t, err)
	noErr(t, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	addr, err := bufio.NewReader(out).ReadString('\n')
	noErr(t, err)
	addr = strings.TrimSpace(addr)
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatalf("child said %q: %v", addr, err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))

	noErr(t, cmd.Process.Kill())
	if _, err := conn.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
		t.Fatalf("the server has outlived its program: %v", err)
	}
	eventually(t, "nobody listens any more", func() bool { return refused(addr) }) // closed in any order
}

// The kernel ties the death signal to the thread that forked. The thread of
// whoever calls Start may end, and the server must not.
func TestServerOutlivesCallingThread(t *testing.T) {
	redistest.Require(t)
	var s *redisproc.Server
	var tid int
	var err error
	onMortalThread(t, func() {
		tid = syscall.Gettid()
		s, err = redisproc.Start(t.Context(), redisproc.Options{})
	})
	noErr(t, err)
	defer s.Stop()
	eventually(t, "end of the thread", func() bool {
		_, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", tid))
		return os.IsNotExist(err)
	})
	noErr(t, client(t, s).Ping(ctx(t)).Err())
}

// onMortalThread runs f on a thread that ends right after. The main thread never
// does: a goroutine that happens to be on it holds it and leaves f to another.
func onMortalThread(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if syscall.Gettid() == os.Getpid() {
			defer runtime.UnlockOSThread()
			onMortalThread(t, f)
			return
		}
		f() // still locked at the end, which ends the thread
	}()
	<-done
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
