//go:build unix

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"incumbent/config"
	"incumbent/internal/blackhole"
)

// E12: each outcome has its own exit code, and none leaves a lease.
func TestRunExitCodes(t *testing.T) {
	s := newRunServer(t)
	file := runConfig(t, s.Addr())
	dir := t.TempDir()
	script := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	run := []string{"run", "job", "--config", file, "--"}
	sh := func(text string) []string { return append(slices.Clip(run), "sh", "-c", text) }
	for _, tt := range []struct {
		name string
		args []string
		want int
		says string
	}{
		{"success", sh("exit 0"), 0, ""},
		{"its own 1", sh("exit 1"), 1, ""},
		{"its own 2", sh("exit 2"), 2, ""},
		{"its own 127", sh("exit 127"), 127, ""},
		{"its own 255", sh("exit 255"), 255, ""},
		{"segmentation fault", sh("kill -SEGV $$"), 128 + 11, "segmentation fault"},
		{"killed", sh("kill -KILL $$"), 128 + 9, "killed"},
		{"not executable", append(run, script("plain", "#!/bin/sh\n", 0o644)), exitRunCannot, "permission denied"},
		{"not found", append(run, "no-such-program-anywhere"), exitRunNotFound, "no-such-program-anywhere"},
		{"no program, found by trying", append(run, script("text", "echo\n", 0o755)), exitRunCannot, "#!/bin/sh"},
		{"no interpreter, found by trying", append(run, script("lost", "#!/no/such\n", 0o755)), exitRunNotFound, "no such file"},
		{"no configuration", []string{"run", "job", "--", "true"}, exitRunConfig, "--config FILE"},
		{"wrong configuration", []string{"run", "job", "--config", file, "--renew", "10s", "--", "true"}, exitRunConfig, "renew"},
		{"unknown flag", []string{"run", "job", "--colour", "--", "true"}, exitRunConfig, "--colour"},
		{"no command", []string{"run", "job", "--config", file}, exitRunConfig, "COMMAND is missing"},
		{"nothing after the dashes", []string{"run", "job", "--config", file, "--"}, exitRunConfig, "COMMAND is missing"},
		{"no election", []string{"run", "--config", file, "--", "true"}, exitRunConfig, "ELECTION is missing"},
		{"impossible election", []string{"run", "two words", "--config", file, "--", "true"}, exitRunConfig, "two words"},
		{"empty election", []string{"run", "", "--config", file, "--", "true"}, exitRunConfig, "ELECTION is empty"},
		{"no dashes", []string{"run", "job", "true", "--config", file}, exitRunConfig, "follows after --"},
		{"once, and again", []string{"run", "job", "--config", file, "--once", "--on-lost=recampaign", "--", "true"}, exitRunConfig, "--once"},
		{"unknown choice", []string{"run", "job", "--config", file, "--on-lost=die", "--", "true"}, exitRunConfig, "recampaign or exit"},
		{"wait without unit", []string{"run", "job", "--config", file, "--wait=5", "--", "true"}, exitRunConfig, "with its unit"},
		{"negative wait", []string{"run", "job", "--config", file, "--wait=-5s", "--", "true"}, exitRunConfig, "negative"},
		{"address without port", []string{"run", "job", "--config", file, "--http=localhost", "--", "true"}, exitRunConfig, "HOST:PORT"},
		{"address of another host", []string{"run", "job", "--config", file, "--http=192.0.2.1:9090", "--", "true"}, exitRunFailed, "--http"},
		{"help", []string{"run", "--help"}, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := launch(t, tt.args...)
			if code := p.code(t); code != tt.want || !strings.Contains(p.logged(), tt.says) {
				t.Errorf("exit code %d, want %d; standard error lacks %q:\n%s", code, tt.want, tt.says, p.logged())
			}
			if keys := s.keys(t, "job"); len(keys) > 0 {
				t.Errorf("left: %q", keys)
			}
		})
	}
}

// What cannot be run takes no lease: nothing is written to the server.
func TestRunLooksBeforeItCampaigns(t *testing.T) {
	s := newRunServer(t)
	p := launch(t, "run", "untouched", "--config", runConfig(t, s.Addr()), "--", "no-such-program-anywhere")
	if code := p.code(t); code != exitRunNotFound {
		t.Errorf("exit code %d:\n%s", code, p.logged())
	}
	if n, err := s.client.Exists(t.Context(), "incumbent:{untouched}:record").Result(); err != nil || n != 0 {
		t.Errorf("%d records, error %v", n, err)
	}
}

// E13: nobody reads the arguments, and the command knows its election and its token.
func TestRunPassesArguments(t *testing.T) {
	s := newRunServer(t)
	p := launch(t, "run", "two-words", "--config", runConfig(t, s.Addr()), "--",
		"sh", "-c", `for a; do echo "[$a]"; done; echo "$INCUMBENT_ELECTION"; echo "$INCUMBENT_TOKEN"`, "name", "a b", "$HOME", "`id`; *", "", "--help")
	if code := p.code(t); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, p.logged())
	}
	want := "[a b]\n[$HOME]\n[`id`; *]\n[]\n[--help]\ntwo-words\n"
	token, found := strings.CutPrefix(p.out.String(), want)
	if !found || !regexp.MustCompile(`^[1-9][0-9]{12,}\n$`).MatchString(token) {
		t.Errorf("got %q, want %q and a token", p.out.String(), want)
	}
}

// The command does not get the password of the store, and all else that was in the
// environment.
func TestRunPassesNoPassword(t *testing.T) {
	s := newRunServer(t)
	if err := s.client.ConfigSet(t.Context(), "requirepass", "geheim").Err(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("INCUMBENT_PASSWORD", "geheim")
	t.Setenv("INCUMBENT_STEP_DOWN", "90ms")
	p := launch(t, "run", "secret", "--config", runConfig(t, s.Addr()), "--", "env")
	if code := p.code(t); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, p.logged())
	}
	if out := p.out.String(); strings.Contains(out, "geheim") || !strings.Contains(out, "INCUMBENT_STEP_DOWN=90ms") {
		t.Errorf("the command's environment:\n%s", out)
	}
	if strings.Contains(p.logged(), "geheim") {
		t.Errorf("log:\n%s", p.logged())
	}
}

// E12, D: somebody else leads for longer than anybody wants to wait.
func TestRunNotAcquired(t *testing.T) {
	s := newRunServer(t)
	file := runConfig(t, s.Addr())
	lead(t, file)
	for _, wait := range []string{"0s", "300ms"} {
		p := launch(t, "run", "job", "--config", file, "--wait", wait, "--", "true")
		if code := p.code(t); code != exitRunNotAcquired || !strings.Contains(p.logged(), "held by") {
			t.Errorf("--wait %s: exit code %d:\n%s", wait, code, p.logged())
		}
	}
}

// E12, E15: when the lease is lost the program exits with its code, or campaigns again; the
// command is gone in either case.
func TestRunLost(t *testing.T) {
	s := newRunServer(t)
	for _, flags := range [][]string{{"--on-lost=exit"}, {"--once"}, {"--once", "--on-lost=exit"}} {
		beating := filepath.Join(t.TempDir(), "beats")
		args := append([]string{"run", "lost", "--config", runConfig(t, s.Addr())}, flags...)
		p := launch(t, append(args, "--", os.Args[0], "beat", beating, "deaf", "child", "deaf")...)
		b := awaitBeats(t, beating, 2)
		s.drop(t, "lost")
		if code := p.code(t); code != exitRunLost || !b.gone() {
			t.Errorf("%q: exit code %d, all gone: %v", flags, code, b.gone())
		}
	}
}

func (s runServer) drop(t *testing.T, election string) {
	t.Helper()
	if n, err := s.client.Del(t.Context(), "incumbent:{"+election+"}:lease").Result(); err != nil || n != 1 {
		t.Fatalf("%d leases removed, error %v", n, err)
	}
}

func TestRunCampaignsAgain(t *testing.T) {
	s := newRunServer(t)
	beating := filepath.Join(t.TempDir(), "beats")
	p := launch(t, "run", "again", "--config", runConfig(t, s.Addr()), "--", os.Args[0], "beat", beating)
	for n := 1; n <= 3; n++ {
		awaitBeats(t, beating, n)
		if n < 3 {
			s.drop(t, "again")
		}
	}
	p.signal(t, syscall.SIGTERM)
	if code := p.code(t); code != exitRunSignal+int(syscall.SIGTERM) {
		t.Errorf("exit code %d:\n%s", code, p.logged())
	}
	if got := readBeats(beating).tokens; len(got) != 3 || !slices.IsSorted(got) {
		t.Errorf("tokens %v", got)
	}
	if !strings.Contains(p.logged(), "pausing before the next campaign") {
		t.Errorf("no pause:\n%s", p.logged())
	}
}

// F10: an error in the background ends no process: the store dies, the command with it,
// and when the store is back the program leads again.
func TestRunOutlivesTheStore(t *testing.T) {
	s := newRunServer(t)
	beating := filepath.Join(t.TempDir(), "beats")
	p := launch(t, "run", "f10", "--config", runConfig(t, s.Addr()), "--", os.Args[0], "beat", beating)
	b := awaitBeats(t, beating, 1)
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the command is gone", b.gone)
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitBeats(t, beating, 2)
	p.signal(t, syscall.SIGTERM)
	if code := p.code(t); code != exitRunSignal+int(syscall.SIGTERM) {
		t.Errorf("exit code %d", code)
	}
}

// E09, E10: each signal that can be caught reaches the command, and the program ends with
// the command's own code, after it.
func TestRunPassesSignals(t *testing.T) {
	s := newRunServer(t)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !slices.Contains(interrupts(), os.Signal(sig)) && sig == syscall.SIGHUP {
			continue // it is ignored, as under nohup
		}
		ready := filepath.Join(t.TempDir(), "ready")
		p := launch(t, "run", "signals", "--config", runConfig(t, s.Addr()), "--", "sh", "-c",
			fmt.Sprintf(`trap 'echo heard; exit 9' %d; trap 'echo usr1 >> %[2]s' USR1; echo $$ > %[2]s; while :; do sleep 0.01; done`, sig, ready))
		has := func(text string) func() bool {
			return func() bool { b, _ := os.ReadFile(ready); return strings.Contains(string(b), text) }
		}
		eventually(t, "it runs", has("\n"))
		p.signal(t, syscall.SIGUSR1)
		eventually(t, "it hears what does not end it", has("usr1"))
		p.signal(t, sig)
		if code := p.code(t); code != 9 || p.out.String() != "heard\n" {
			t.Errorf("%v: exit code %d, output %q", sig, code, p.out.String())
		}
		if keys := s.keys(t, "signals"); len(keys) > 0 {
			t.Errorf("%v: left: %q", sig, keys)
		}
	}
}

// E09: who does not end within its grace is killed; the lease goes after that.
func TestRunGrace(t *testing.T) {
	s := newRunServer(t)
	beating := filepath.Join(t.TempDir(), "beats")
	p := launch(t, "run", "grace", "--config", runConfig(t, s.Addr()), "--grace", "300ms", "--",
		os.Args[0], "beat", beating, "deaf", "child", "deaf", "apart", "deaf")
	b := awaitBeats(t, beating, 3)
	p.signal(t, syscall.SIGTERM)
	if code := p.code(t); code != exitRunSignal+int(syscall.SIGKILL) || !b.gone() {
		t.Errorf("exit code %d, all gone: %v", code, b.gone())
	}
	if keys := s.keys(t, "grace"); len(keys) > 0 {
		t.Errorf("left: %q", keys)
	}
}

// A watchdog that is killed is no reason to go on without one: all of the command goes, and
// the lease is given back. Then it is as with any term that was lost, but for the code.
func TestRunWithoutWatchdog(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("children are found in /proc")
	}
	s := newRunServer(t)
	for _, flag := range []string{"--on-lost=exit", "--once", "--on-lost=recampaign"} {
		beating := filepath.Join(t.TempDir(), "beats")
		p := launch(t, "run", "dog", "--config", runConfig(t, s.Addr()), flag, "--", os.Args[0], "beat", beating, "deaf", "child", "deaf", "apart", "deaf")
		b := awaitBeats(t, beating, 3)
		if err := childOf(p.Process.Pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		want := exitRunFailed
		if flag == "--on-lost=recampaign" {
			eventually(t, "it leads again", func() bool { return len(readBeats(beating).tokens) == 2 })
			p.signal(t, syscall.SIGQUIT)
			want = exitRunSignal + int(syscall.SIGKILL) // after its grace: it is deaf
		}
		if code := p.code(t); code != want || !b.gone() || !strings.Contains(p.logged(), "the watchdog of the command died") {
			t.Errorf("%s: exit code %d, want %d, all gone: %v", flag, code, want, b.gone())
		}
		if keys := s.keys(t, "dog"); len(keys) > 0 {
			t.Errorf("%s: left: %q", flag, keys)
		}
	}
}

// E09: a program that waits ends at once, and leaves no key; also where the store does not
// answer.
func TestRunEndsWhileWaiting(t *testing.T) {
	s := newRunServer(t)
	file := runConfig(t, s.Addr())
	term := lead(t, file)
	cut, err := blackhole.New(s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cut.Close() })
	cut.Cut()
	for name, tt := range map[string]struct{ file, says string }{
		"held": {file, "standing by"}, "silent": {runConfig(t, cut.Addr()), "campaigning"}, "down": {runConfig(t, free(t)), "campaigning"},
	} {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
			best := time.Hour
			for try := 0; try < 5 && best > 500*time.Millisecond; try++ { // the machine may be busy
				best = min(best, endWhileWaiting(t, tt.file, tt.says, sig))
			}
			if best > 500*time.Millisecond {
				t.Errorf("%s, %v: ended after %s at best", name, sig, best)
			}
			t.Logf("%s, %v: ended after %s", name, sig, best.Round(time.Millisecond))
		}
	}
	if err := term.Resign(t.Context()); err != nil {
		t.Fatal(err)
	}
	if keys := s.keys(t, "job"); len(keys) > 0 {
		t.Errorf("left: %q", keys)
	}
}

// endWhileWaiting is how long a program takes to end by a signal while it waits, though
// somebody has connected to its endpoints and says nothing.
func endWhileWaiting(t *testing.T, file, says string, sig syscall.Signal) time.Duration {
	t.Helper()
	p := launch(t, "run", "job", "--config", file, "--http", "127.0.0.1:0", "--", "true")
	p.saysSoon(t, says)
	addr := regexp.MustCompile(`url=http://([^ \n]*)`).FindStringSubmatch(p.logged())[1]
	silent, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	fetch(t, "http://"+addr+"/livez") // the connection before this one is accepted
	began := time.Now()
	p.signal(t, sig)
	code, took := p.code(t), time.Since(began)
	if code != exitRunSignal+int(sig) {
		t.Errorf("%v: exit code %d", sig, code)
	}
	return took
}

// E14: others see what runs where, and no arguments.
func TestRunShowsWhoLeads(t *testing.T) {
	s := newRunServer(t)
	file := runConfig(t, s.Addr())
	beating := filepath.Join(t.TempDir(), "beats")
	p := launch(t, "run", "job", "--config", file, "--id", "blue", "--", "sh", "-c", `exec "$0" beat "$1"`, os.Args[0], beating, "--password=hunter2")
	awaitBeats(t, beating, 1)
	cfg, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	client, err := cfg.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	e, err := client.Elector("job")
	if err != nil {
		t.Fatal(err)
	}
	l, err := e.Leader(t.Context())
	if err != nil || l.ID != "blue" || l.PID != p.Process.Pid || l.Metadata["command"] != "sh" || strings.Contains(fmt.Sprint(l), "hunter2") {
		t.Errorf("%+v, error %v", l, err)
	}
}

// E16, F01, F02: a standby answers everything from the start; only one leads.
func TestRunHTTP(t *testing.T) {
	s := newRunServer(t)
	file := runConfig(t, s.Addr())
	beating := filepath.Join(t.TempDir(), "beats")
	url := regexp.MustCompile(`url=(http://[^ \n]*)`)
	var urls []string
	var programs []*program
	for range 2 {
		p := launch(t, "run", "job", "--config", file, "--http", "127.0.0.1:0", "--", os.Args[0], "beat", beating)
		p.saysSoon(t, "url=http")
		urls = append(urls, url.FindStringSubmatch(p.logged())[1])
		programs = append(programs, p)
		awaitBeats(t, beating, 1)
	}
	programs[1].saysSoon(t, "standing by")
	for i, want := range []struct{ leader, metric string }{
		{"200", `incumbent_is_leader{election="job"} 1`}, {"503", `incumbent_is_leader{election="job"} 0`},
	} {
		get := func(path string) (string, string) { return fetch(t, urls[i]+path) }
		if code, text := get("/leader"); code != want.leader || !strings.Contains(text, `"command":"`+filepath.Base(os.Args[0])) {
			t.Errorf("/leader of %d: %s, %s", i, code, text)
		}
		for _, path := range []string{"/livez", "/readyz"} {
			if code, text := get(path); code != "200" {
				t.Errorf("%s of %d: %s, %s", path, i, code, text)
			}
		}
		if code, text := get("/metrics"); code != "200" || !strings.Contains(text, want.metric) {
			t.Errorf("/metrics of %d: %s lacks %s:\n%s", i, code, want.metric, text)
		}
	}
	for _, p := range programs {
		p.signal(t, syscall.SIGTERM)
		if code := p.code(t); code != exitRunSignal+int(syscall.SIGTERM) {
			t.Errorf("exit code %d", code)
		}
	}
}

func fetch(t *testing.T, url string) (code, text string) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(r.StatusCode), string(b)
}

// F09: where nobody reads the log, the lease is renewed all the same, and signals are
// heeded.
func TestRunWithFullLog(t *testing.T) {
	s := newRunServer(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	defer func() { _ = w.Close() }()
	fd := int(w.Fd()) // once: it makes the file blocking
	if err := unix.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	for block := make([]byte, 4096); ; {
		if _, err := unix.Write(fd, block); err != nil {
			break // full
		}
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		t.Fatal(err)
	}
	beating := filepath.Join(t.TempDir(), "beats")
	p := &program{ended: make(chan struct{})}
	p.Cmd = launchable("run", "full", "--config", runConfig(t, s.Addr()), "--", os.Args[0], "beat", beating)
	p.Stderr = w
	p.start(t)
	awaitBeats(t, beating, 1)
	eventually(t, "three leases long", func() bool {
		b := readBeats(beating)
		return b.last.Sub(b.first) > 3*time.Second
	})
	p.signal(t, syscall.SIGTERM)
	if code := p.code(t); code != exitRunSignal+int(syscall.SIGTERM) {
		t.Errorf("exit code %d", code)
	}
	if b := readBeats(beating); len(b.tokens) != 1 || !b.gone() {
		t.Errorf("tokens %v, all gone: %v", b.tokens, b.gone())
	}
}
