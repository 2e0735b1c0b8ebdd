package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"os/user"
	"strings"
	"sync"
	"testing"
	"time"

	"incumbent/config"
	"incumbent/election"
)

// runs runs work that does nothing in election "job", by a file, until stop is
// called or the test ends.
func runs(t *testing.T, file, id string, change ...func(*config.Config)) (stop func()) {
	t.Helper()
	cfg, err := config.Load(file)
	must(t, err)
	cfg.ID, cfg.TTL, cfg.Logger = id, 2*time.Second, slog.New(slog.DiscardHandler)
	for _, f := range change {
		f(cfg)
	}
	client, err := cfg.Open(t.Context())
	must(t, err)
	e, err := client.Elector("job")
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- election.Run(ctx, e, func(ctx context.Context, _ *election.Term) error {
			<-ctx.Done()
			return nil
		})
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("%s: %v", id, err)
		}
		if err := client.Close(); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// leader waits until a certain candidate leads, whoever does if id is "", and gives what
// status says.
func leader(t *testing.T, file, id string) statusReport {
	t.Helper()
	for range 500 {
		code, out, _ := call(t.Context(), "status", "job", "--json", "--config", file)
		var r statusReport
		must(t, json.Unmarshal([]byte(out), &r))
		if code == exitOK && (id == "" || r.Leader.ID == id) {
			return r
		}
		time.Sleep(20 * time.Millisecond) // between two looks
	}
	t.Fatalf("%q does not lead", id)
	return statusReport{}
}

// standby waits until so many candidates listen for a release.
func standby(t *testing.T, file string, n int) {
	t.Helper()
	cfg, err := config.Load(file)
	must(t, err)
	client, err := cfg.Connect()
	must(t, err)
	defer func() { must(t, client.Close()) }()
	for range 500 {
		if got, known := client.Listening(t.Context(), "job"); !known || got >= n {
			return
		}
		time.Sleep(20 * time.Millisecond) // between two looks
	}
	t.Fatalf("%d candidates do not stand by", n)
}

// servers are files for one master and for three, ready for a first election.
func servers(t *testing.T) map[string]string {
	t.Helper()
	a, b, c := aof(t), aof(t), aof(t)
	files := map[string]string{"single": configFile(t, a.Addr()), "quorum": configFile(t, a.Addr(), b.Addr(), c.Addr())}
	return files
}

// TestResign: the standby leads, and the command says who and after how long.
func TestResign(t *testing.T) {
	for mode, file := range servers(t) {
		t.Run(mode, func(t *testing.T) {
			flags := " --config " + file + " --prefix " + mode
			file := prefixed(t, file, mode)
			judge(t, "init job"+flags, exitOK, []string{"need not wait"}, nil)
			judge(t, "resign job"+flags, exitNobody, nil, []string{"incumbent: resign: nobody leads: init was called"})
			runs(t, file, "ann")
			before := leader(t, file, "ann")
			runs(t, file, "bob")
			standby(t, file, 1)
			var r resignReport
			must(t, json.Unmarshal([]byte(judge(t, "resign job --json"+flags, exitOK, []string{"{"}, nil)), &r))
			if r.Election != "job" || r.Result != "handed-over" || r.Asked.ID != "ann" || r.Asked.Token != before.Leader.Token ||
				r.Leader.ID != "bob" || r.Leader.Token <= r.Asked.Token || r.TookMS <= 0 || r.Alone || r.Error != "" {
				t.Errorf("got %+v", r)
			}
			standby(t, file, 1) // ann, again
			judge(t, "resign job"+flags, exitOK, []string{"bob handed over to ann, token ", " ms\n"}, nil)
			standby(t, file, 1)
			judge(t, "resign job --wait 0s"+flags, exitOK, []string{"ann was asked to hand over, token "}, nil)
			leader(t, file, "bob")
		})
	}
}

// prefixed is a copy of a file with keys of its own.
func prefixed(t *testing.T, file, prefix string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	name := t.TempDir() + "/incumbent.yaml"
	must(t, os.WriteFile(name, append(text, "prefix: "+prefix+"\n"...), 0o600))
	return name
}

// TestResignAlone: where nobody else waits the same candidate leads again, which is said.
func TestResignAlone(t *testing.T) {
	file := configFile(t, aof(t).Addr())
	judge(t, "init job --config "+file, exitOK, []string{"need not wait"}, nil)
	runs(t, file, "ann")
	leader(t, file, "ann")
	code, out, errOut := call(t.Context(), "resign", "job", "--config", file)
	if code != exitFailed || out != "" || !strings.HasPrefix(errOut, "incumbent: resign: ann resigned and leads again, token ") ||
		!strings.HasSuffix(errOut, " ms: nobody else was listening for a release\n") {
		t.Errorf("exit code %d, output %q, error %q", code, out, errOut)
	}
	judge(t, "resign job --to zzz --reserve 100ms --config "+file, exitFailed, nil, []string{": zzz did not come in time, and nobody else was listening for a release\n"})
	before := leader(t, file, "ann").Leader.Token
	judge(t, "resign job --to ann --config "+file, exitOK, []string{"ann leads already, token ", ": nobody was asked\n"}, nil)
	if now := leader(t, file, "ann").Leader.Token; now != before {
		t.Errorf("token %d was asked, though ann led, which --to names; now %d", before, now)
	}
	judge(t, "resign job --wait 0s --config "+file, exitOK, []string{"ann was asked"},
		[]string{"incumbent: resign: warning: nobody was listening for a release: there may be no standby\n"})
}

// TestResignTo: the one that is named leads next, though another waits; if it does not come,
// another one does when the reserve is over.
func TestResignTo(t *testing.T) {
	for mode, file := range servers(t) {
		t.Run(mode, func(t *testing.T) {
			flags := " --config " + file + " --prefix " + mode
			file := prefixed(t, file, mode)
			judge(t, "init job"+flags, exitOK, []string{"need not wait"}, nil)
			runs(t, file, "ann")
			leader(t, file, "ann")
			runs(t, file, "bob")
			standby(t, file, 1)
			runs(t, file, "cid")
			standby(t, file, 2)
			judge(t, "resign job --to cid"+flags, exitOK, []string{"ann handed over to cid, token "}, nil)
			standby(t, file, 2)
			began := time.Now()
			judge(t, "resign job --to dan --reserve 500ms"+flags, exitFailed, nil, []string{"cid handed over, but to ", ": dan did not come in time"})
			if took := time.Since(began); took < 500*time.Millisecond {
				t.Errorf("it was reserved for 500 ms, and over after %s", took)
			}
		})
	}
}

// TestResignOfWorkThatDoesNotStop: it is not waited for longer than was said.
func TestResignNotInTime(t *testing.T) {
	file := configFile(t, aof(t).Addr())
	judge(t, "init job --config "+file, exitOK, []string{"need not wait"}, nil)
	term := lead(t, file) // by Campaign: the lease is renewed for a TTL after the request
	code, out, errOut := call(t.Context(), "resign", "job", "--wait", "300ms", "--by", "deploy 4711", "--config", file)
	if code != exitFailed || out != "" || !strings.Contains(errOut, "the-leader was asked, and no other term leads in time: the-leader leads, with token ") {
		t.Errorf("exit code %d, output %q, error %q", code, out, errOut)
	}
	<-term.Context().Done() // within a renewal
	if err := term.Loss(); !strings.Contains(err.Error(), `asked to hand over by "deploy 4711"`) {
		t.Errorf("the term ended with %v", err)
	}
	must(t, term.Resign(t.Context()))
	code, _, errOut = call(t.Context(), "resign", "job", "--config", file)
	if code != exitNobody || !strings.Contains(errOut, "nobody leads: the-leader, with token ") || !strings.Contains(errOut, "gave the lease back") {
		t.Errorf("exit code %d, error %q", code, errOut)
	}
}

// TestResignRefused: what is wrong with the command line or the servers.
func TestResignRefused(t *testing.T) {
	file := configFile(t, "127.0.0.1:1")
	for args, want := range map[string]string{
		"resign": "ELECTION is missing",
		"resign job --reserve 3s --config " + file:       "--reserve: needs --to",
		"resign job --to x --reserve -1s --config x":     "--reserve: -1s: must be whole milliseconds",
		"resign job --to x --reserve 1us --config x":     "--reserve: 1µs: must be whole milliseconds",
		"resign job --wait -1s --config " + file:         "--wait: -1s: must not be negative",
		"resign job --wait soon --config " + file:        "soon",
		"resign a\x01b --config " + file:                 "election name",
		"resign job":                                     "mode: is missing",
		"status":                                         "ELECTION is missing",
		"status job --watch=1ms --config " + file:        "--watch: 1ms: must be at least 100ms",
		"status job --watch 2s --config " + file:         "unexpected argument \"2s\": did you mean --watch=2s?",
		"status a\x01b --config " + file:                 "election name",
		"observe":                                        "ELECTION is missing",
		"observe job extra --config " + file:             "extra",
		"observe a\x01b --config " + file:                "election name",
		"observe job --config no-such-file.yaml":         "no-such-file.yaml",
		"status job --json=maybe --config " + file:       "maybe",
		"resign job --quorum-masters a --config " + file: "quorum.masters",
	} {
		judge(t, args, exitUsage, nil, []string{want})
	}
	judge(t, "resign job --config "+file, exitFailed, nil, []string{"incumbent: resign: cannot tell: master 127.0.0.1:1: inspect: unreachable"})
}

// TestOperateInterrupted: a look that hangs has the code of a signal; following ends well.
func TestOperateInterrupted(t *testing.T) {
	for args, want := range map[string]int{"status job": exitInterrupted, "resign job": exitInterrupted, "observe job": exitOK} {
		addr, accepted := hung(t)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-accepted
			cancel()
		}()
		code, stdout, stderr := call(ctx, strings.Fields(args+" --config "+configFile(t, addr))...)
		if command, _, _ := strings.Cut(args, " "); code != want || stdout != "" || want != exitOK && stderr != "incumbent: "+command+": interrupted\n" || want == exitOK && stderr != "" {
			t.Errorf("%s: exit code %d, output %q, error %q", args, code, stdout, stderr)
		}
	}
}

// E14: two applications that use the same name by mistake elect against each other. Who
// looks sees whose lease it is, where that runs, and what it says of itself.
func TestE14_StatusTellsApplicationsApart(t *testing.T) {
	file := configFile(t, aof(t).Addr())
	judge(t, "init job --config "+file, exitOK, []string{"need not wait"}, nil)
	app := func(name string) func(*config.Config) {
		return func(c *config.Config) { c.Metadata = map[string]string{"app": name} }
	}
	stop := runs(t, file, "billing-1", app("billing"))
	leader(t, file, "billing-1")
	runs(t, file, "reports-1", app("reports"))
	standby(t, file, 1)
	host, err := os.Hostname()
	must(t, err)
	out := judge(t, "status job --config "+file, exitOK, []string{"billing-1 leads, with token ", "  host " + host + ", process ", "app=billing"}, nil)
	if strings.Contains(out, "reports") {
		t.Errorf("a standby holds nothing:\n%s", out)
	}
	stop()
	r := leader(t, file, "reports-1")
	if r.Leader.Host != host || r.Leader.PID != os.Getpid() || r.Leader.Metadata["app"] != "reports" || r.Leader.Instance == "" || r.Masters[0].Holder.Metadata["app"] != "reports" {
		t.Errorf("got %+v", r.Leader)
	}
}

// pipe is standard output that is read line by line while the program runs.
func pipe(t *testing.T, args ...string) (next func() string, end func() int) {
	t.Helper()
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	code := make(chan int, 1)
	var stderr bytes.Buffer
	go func() {
		code <- run(ctx, args, strings.NewReader(""), w, &stderr)
		_ = w.Close()
	}()
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(r); s.Scan(); {
			lines <- s.Text()
		}
	}()
	next = func() string {
		t.Helper()
		select {
		case line := <-lines:
			return line
		case <-time.After(time.Minute):
			t.Fatal("no line within a minute")
			return ""
		}
	}
	end = sync.OnceValue(func() int {
		cancel()
		for range lines { // what is left
		}
		if stderr.Len() > 0 {
			t.Errorf("standard error: %s", &stderr)
		}
		return <-code
	})
	t.Cleanup(func() { end() })
	return next, end
}

// TestObserve follows an election from before its first term to after its last.
func TestObserve(t *testing.T) {
	for mode, file := range servers(t) {
		t.Run(mode, func(t *testing.T) {
			file := prefixed(t, file, mode)
			judge(t, "init job --config "+file, exitOK, []string{"need not wait"}, nil)
			next, end := pipe(t, "observe", "job", "--json", "--ttl", "2s", "--config", file)
			line := func(event, id string) (c change) {
				t.Helper()
				text := next()
				if err := json.Unmarshal([]byte(text), &c); err != nil {
					t.Fatalf("%v: %s", err, text)
				}
				if c.Event != event || c.Election != "job" || c.Time.IsZero() || (c.Leader != nil) != (id != "") || id != "" && c.Leader.ID != id {
					t.Fatalf("got %s, want %s %s", text, event, id)
				}
				return c
			}
			line(nobody, "")
			stop := runs(t, file, "ann")
			first := line(leads, "ann")
			if first.Leader.Token == 0 || first.Leader.PID != os.Getpid() || first.SeenForMS < 0 {
				t.Errorf("got %+v", first)
			}
			words, endWords := pipe(t, "observe", "job", "--ttl", "2s", "--config", file)
			if text := words(); !strings.Contains(text, "  ann leads, with token ") || !strings.Contains(text, "process ") || strings.Contains(text, "before") {
				t.Errorf("got %q", text)
			}
			stop()
			if c := line(nobody, ""); c.SeenForMS <= 0 {
				t.Errorf("got %+v", c)
			}
			if text := words(); !strings.Contains(text, "  nobody leads; before, ann led for ") {
				t.Errorf("got %q", text)
			}
			runs(t, file, "bob")
			if c := line(leads, "bob"); c.Leader.Token <= first.Leader.Token {
				t.Errorf("got %+v", c)
			}
			if code := end(); code != exitOK {
				t.Errorf("exit code %d", code)
			}
			if code := endWords(); code != exitOK {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// TestStatusWatch looks again and again, and has the code of the last look.
func TestStatusWatch(t *testing.T) {
	file := configFile(t, aof(t).Addr())
	judge(t, "status job --config "+file, exitNobody, []string{"nobody leads: guards wait for another 1", "s at ", ": restart (the server has just started"}, nil)
	judge(t, "init job --config "+file, exitOK, []string{"need not wait"}, nil)
	next, end := pipe(t, "status", "job", "--json", "--watch=100ms", "--config", file)
	var r statusReport
	for range 3 {
		must(t, json.Unmarshal([]byte(next()), &r))
		if r.Cause != "never-elected" {
			t.Errorf("got %+v", r)
		}
	}
	if code := end(); code != exitNobody {
		t.Errorf("exit code %d", code)
	}
	next, end = pipe(t, "status", "job", "--watch=100ms", "--config", file)
	for range 5 { // the time, the answer, nothing, the table's head and its line
		next()
	}
	next() // between two looks
	if _, err := time.Parse(time.DateTime, next()); err != nil {
		t.Error(err)
	}
	if text := next(); !strings.HasPrefix(text, "nobody leads: init was called") {
		t.Errorf("got %q", text)
	}
	if code := end(); code != exitNobody {
		t.Errorf("exit code %d", code)
	}
}

// Who asks is a user at a host, where they are known.
func TestWhoami(t *testing.T) {
	u, err := user.Current()
	if err == nil && !strings.HasPrefix(whoami(), u.Username+"@") {
		t.Errorf("got %q", whoami())
	}
}
