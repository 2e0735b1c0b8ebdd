package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/spf13/pflag"

	"incumbent/config"
	"incumbent/election"
	"incumbent/internal/blackhole"
	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

// configFile is a file for a quorum of masters, or for the only one.
func configFile(t *testing.T, masters ...string) string {
	t.Helper()
	text := "mode: single\nsingle: {address: '" + masters[0] + "'}\n"
	if len(masters) > 1 {
		text = "mode: quorum\nquorum: {masters: ['" + strings.Join(masters, "','") + "']}\n"
	}
	name := filepath.Join(t.TempDir(), "incumbent.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// lead makes a leader by a file, and gives its term. Its campaign ends after the
// time that a guard would wait for.
func lead(t *testing.T, file string) *election.Term {
	t.Helper()
	cfg, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	cfg.ID, cfg.Logger = "the-leader", slog.New(slog.DiscardHandler)
	client, err := cfg.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	e, err := client.Elector("job")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	term, err := e.Campaign(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return term
}

// judge compares what the program did with what was wanted.
func judge(t *testing.T, args string, wantCode int, out, errOut []string) (stdout string) {
	t.Helper()
	code, stdout, stderr := call(t.Context(), strings.Fields(args)...)
	if code != wantCode {
		t.Errorf("%q: exit code %d, want %d; output %s, error %s", args, code, wantCode, stdout, stderr)
	}
	for _, w := range out {
		if !strings.Contains(stdout, w) {
			t.Errorf("%q: output lacks %q:\n%s", args, w, stdout)
		}
	}
	for _, w := range errOut {
		if !strings.Contains(stderr, w) {
			t.Errorf("%q: error lacks %q:\n%s", args, w, stderr)
		}
	}
	if out == nil && stdout != "" {
		t.Errorf("%q: output %s", args, stdout)
	}
	return stdout
}

// TestInit on servers that have just started, with the default lease: nobody waits.
func TestInit(t *testing.T) {
	var masters, ready []string
	for range 3 {
		addr := redistest.StartT(t, redisproc.Options{}).Addr()
		masters, ready = append(masters, addr), append(ready, addr+": ready, no guard waits\n")
	}
	for _, n := range []int{3, 1} {
		file := configFile(t, masters[:n]...)
		for range 2 { // the second time changes nothing
			judge(t, "init job --config "+file, exitOK, append(ready[:n:n], `The first campaign of "job" need not wait: start the candidates.`), nil)
		}
		term := lead(t, file)
		judge(t, "init job --config "+file, exitHeld, []string{masters[0] + `: not initialised: "the-leader" holds the lease for another `},
			[]string{`incumbent: init: "the-leader" holds the lease of "job" for another 15s (token `, "stop all candidates, wait for that time, and run it again"})
		if err := term.Resign(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestInitJSON(t *testing.T) {
	a, b, c := miniredis.RunT(t), miniredis.RunT(t), miniredis.RunT(t)
	file := configFile(t, a.Addr(), b.Addr(), c.Addr())
	result := func(code int) initReport {
		t.Helper()
		var r initReport
		if err := json.Unmarshal([]byte(judge(t, "init job --json --config "+file, code, []string{"{"}, nil)), &r); err != nil {
			t.Error(err)
		}
		return r
	}
	if r := result(exitOK); r.Election != "job" || r.Result != "ready" || len(r.Masters) != 3 || r.Masters[2] != (initMaster{Master: c.Addr(), Ready: true}) {
		t.Errorf("got %+v", r)
	}
	c.Close()
	if r := result(exitFailed); r.Result != "failed" || !r.Masters[0].Ready || r.Masters[2].Ready || !strings.Contains(r.Masters[2].Error, "unreachable") || r.Error == "" {
		t.Errorf("got %+v", r)
	}
	if err := c.Restart(); err != nil {
		t.Fatal(err)
	}
	lead(t, file)
	if r := result(exitHeld); r.Result != "held" || r.Holder != "the-leader" || r.LeftMS <= 0 || r.Masters[0].Ready {
		t.Errorf("got %+v", r)
	}
}

// TestInitWithAMasterDown says which are ready and which not, and can be repeated.
func TestInitWithAMasterDown(t *testing.T) {
	server := miniredis.RunT(t)
	a, b, c := miniredis.RunT(t).Addr(), server.Addr(), miniredis.RunT(t).Addr()
	file := configFile(t, a, b, c)
	server.Close()
	judge(t, "init job --config "+file, exitFailed,
		[]string{a + ": ready, no guard waits\n", b + ": not initialised: unreachable: ", c + ": ready, no guard waits\n"},
		[]string{"1 of 3 masters not initialised: " + b + "; run it again"})
	judge(t, "init job --config "+configFile(t, b), exitFailed, []string{b + ": not initialised: unreachable: "}, []string{"1 of 1 masters"})
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	judge(t, "init job --config "+file, exitOK, []string{b + ": ready, no guard waits\n"}, nil)
}

// TestInitOfReplica: a replica is no master, and the others are ready.
func TestInitOfReplica(t *testing.T) {
	primary := redistest.StartT(t, redisproc.Options{}).Addr()
	host, port, _ := strings.Cut(primary, ":")
	replica := redistest.StartT(t, redisproc.Options{Args: []string{"replicaof", host + " " + port}}).Addr()
	other := redistest.StartT(t, redisproc.Options{}).Addr()
	judge(t, "init job --config "+configFile(t, primary, other, replica), exitFailed,
		[]string{primary + ": ready", replica + ": not initialised: read-only replica: "}, []string{"1 of 3 masters not initialised: " + replica})
}

// TestInitMisconfigured changes nothing and says in the words of the file what is
// wrong.
func TestInitMisconfigured(t *testing.T) {
	plain, other := redistest.StartT(t, redisproc.Options{}).Addr(), miniredis.RunT(t)
	_, port, _ := strings.Cut(plain, ":")
	alias, err := blackhole.New(plain)
	if err != nil {
		t.Fatal(err)
	}
	defer alias.Close()
	good := configFile(t, other.Addr())
	for args, want := range map[string][]string{
		"init":                                {"ELECTION is missing"},
		"init job --config no-such-file.yaml": {"no-such-file.yaml", "give the path of a YAML file"},
		"init job":                            {"mode: is missing", "--config FILE names one"},
		"init job --config " + good + " --ttl 10":                                            {`ttl "10" (--ttl): needs a unit`},
		"init job --config " + good + " --tll 10s":                                           {"unknown flag --tll", `"--ttl"`},
		"init job --config " + good + " --guards-off clok":                                   {`guards_off "clok" (--guards-off): `, "did you mean clock?"},
		"init job --config " + good + " --ttl 3s --max-ttl 2s":                               {`ttl "3s" (--ttl): must be at most MaxTTL = 2s`},
		"init no{name --config " + good + " --prefix a{b":                                    {"prefix (--prefix): "},
		"init \x01 --config " + good:                                                         {"election name"},
		"init job --config " + configFile(t, plain, other.Addr(), "localhost:"+port):         {`"localhost:` + port + `"`, "is the same server as quorum.masters[0] (" + plain + ")"},
		"init job --config " + configFile(t, plain, other.Addr(), alias.Addr()):              {plain + " and " + alias.Addr(), "two masters are one server"},
		"init job --config " + good + " --mode=quorum --quorum-masters=a --quorum-masters=b": {`quorum.masters "2" (--quorum-masters): must be at least 3`},
	} {
		judge(t, args, exitUsage, nil, want)
	}
	if keys := other.Keys(); len(keys) > 0 {
		t.Errorf("something was written: %q", keys)
	}
}

// TestInitFromTheEnvironment takes the file and single settings from it.
func TestInitFromTheEnvironment(t *testing.T) {
	server := miniredis.RunT(t)
	t.Setenv("INCUMBENT_CONFIG", configFile(t, server.Addr()))
	t.Setenv("INCUMBENT_PREFIX", "mine")
	judge(t, "init job", exitOK, []string{server.Addr() + ": ready"}, nil)
	judge(t, "init job --guards-off clock --assume-new", exitOK, []string{": ready"}, []string{"incumbent: warning: guards_off: clock: ", "incumbent: warning: assume_new: "})
	if !server.Exists("mine:{job}:record") {
		t.Errorf("keys are %q", server.Keys())
	}
}

// hung accepts connections and never answers; accepted is closed at the first.
func hung(t *testing.T) (addr string, accepted chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // ends the goroutine below
	accepted = make(chan struct{})
	go func() {
		for first := true; ; first = false {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = c.Close() })
			if first {
				close(accepted)
			}
		}
	}()
	return l.Addr().String(), accepted
}

// TestInitInterrupted: Ctrl-C has its own code. The call under way is waited for,
// since a go-redis client heeds the deadline of a context and not its end.
func TestInitInterrupted(t *testing.T) {
	addr, accepted := hung(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-accepted
		cancel()
	}()
	code, stdout, stderr := call(ctx, "init", "job", "--config", configFile(t, addr))
	if code != exitInterrupted || stdout != "" || !strings.Contains(stderr, "incumbent: init: interrupted") {
		t.Errorf("exit code %d, output %q, error %q", code, stdout, stderr)
	}
}

// TestSettingsAreFlags: each setting but the passwords, as package config reads it.
func TestSettingsAreFlags(t *testing.T) {
	parse := func(args ...string) (*config.Config, error) {
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		s := newSettings(flags)
		if err := flags.Parse(args); err != nil {
			t.Fatal(err)
		}
		return s.load()
	}
	for _, s := range config.Settings() {
		if s.Flag == "" {
			continue
		}
		value := "="
		if s.Bool {
			value = "=false"
		}
		if _, err := parse("--" + s.Flag + value); !s.Bool && (err == nil || !strings.Contains(err.Error(), "(--"+s.Flag+"): ")) {
			t.Errorf("--%s does not reach the configuration: %v", s.Flag, err)
		}
	}
	c, err := parse("--mode=Quorum", "--quorum-masters=a,b", "--quorum-masters", "c", "--ttl=2s", "--ttl=3s", "--tls-enabled=false",
		"--assume-new", "--guards-off=clock", "--guards-off=restart", "--metadata=a=b,c=d", "--replica-acks=2")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.String(), "mode=quorum metadata=a=b,c=d ttl=3s max_ttl=3s"; !strings.HasPrefix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	if len(c.Quorum.Masters) != 3 || c.TLS.Enabled == nil || *c.TLS.Enabled || !c.AssumeNew || c.GuardsOff.String() != "restart,clock" || c.ReplicaAcks != 2 {
		t.Errorf("got %v", c)
	}
}

// TestInitReport has what a test cannot easily bring about with servers.
func TestInitReport(t *testing.T) {
	now := time.Now()
	state := election.State{Masters: []election.MasterState{
		{Name: "a:1", Reachable: true, Now: now},
		{Name: "b:1", Reachable: true, Now: now, Guards: election.RestartGuard, GuardUntil: now.Add(1500 * time.Millisecond)},
		{Name: "c:1", Reachable: true, Now: now, Holder: &election.Leader{Candidate: election.Candidate{ID: "x"}, Left: time.Second}},
	}}
	same := &election.MasterError{Master: "a:1 and b:1", Op: "check", Kind: election.ErrSameServer}
	for _, tt := range []struct {
		name        string
		masters     int
		err         error
		code        int
		out, errOut string
	}{
		{"a guard waits", 2, nil, exitOK, "a:1: ready, no guard waits\nb:1: ready, but guards wait: restart for another 2s\n" + `The first campaign of "job" waits for the guards above only.`, ""},
		{"one server", 2, same, exitFailed, "a:1: ready", "two masters are one server"},
		{"somebody was quicker at one master", 3, errors.Join(&election.HeldError{Holder: *state.Masters[2].Holder, Left: time.Second}), exitHeld,
			"a:1: ready, no guard waits\nb:1: ready, but guards wait: restart for another 2s\n" + `c:1: not initialised: "x" holds the lease for another 1s`, `"x" holds the lease of "job" for another 1s (token 0, `},
		{"a lease without expiry", 1, &election.HeldError{}, exitHeld, "a:1: not initialised: the lease is held\n", `somebody holds the lease of "job" for an unknown time; an election`},
	} {
		var stdout, stderr strings.Builder
		r := newInitReport("job", election.State{Masters: state.Masters[:tt.masters]}, tt.err)
		if err := r.print(&stdout, &stderr); err != nil {
			t.Error(err)
		}
		if r.code() != tt.code || !strings.HasPrefix(stdout.String(), tt.out) || !strings.Contains(stderr.String(), tt.errOut) {
			t.Errorf("%s: exit code %d, output %s, error %s", tt.name, r.code(), &stdout, &stderr)
		}
	}
}
