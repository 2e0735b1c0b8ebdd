package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"incumbent/config"
	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

// aof is a server that keeps every lease.
func aof(t *testing.T, args ...string) *redisproc.Server {
	t.Helper()
	return redistest.StartT(t, redisproc.Options{Persistence: redisproc.AOF, Args: args})
}

// TestCheck of servers in good order and not: what it says, and how it ends.
func TestCheck(t *testing.T) {
	a, b, c := aof(t), aof(t), aof(t)
	trio := configFile(t, a.Addr(), b.Addr(), c.Addr())
	judge(t, "check job --config "+trio, exitOK,
		[]string{"warning  all servers: configuration: quorum.masters: ", "quorum, 3 servers: can serve; 0 errors, 2 warnings, "}, nil)
	judge(t, "check --config "+trio, exitOK, []string{"can serve"}, nil)
	judge(t, "check job --strict --config "+trio, exitFailed, []string{"not as it should be; 0 errors, 2 warnings"}, nil)
	judge(t, "check job --strict --config "+configFile(t, a.Addr()), exitOK, []string{"single, 1 server: can serve; 0 errors, 0 warnings"}, nil)
	if err := b.Pause(); err != nil {
		t.Fatal(err)
	}
	if err := c.Kill(); err != nil {
		t.Fatal(err)
	}
	judge(t, "check job --timeout 100ms --config "+trio, exitFailed, []string{
		"error    " + b.Addr() + ": unreachable: ", "error    " + c.Addr() + ": unreachable: ", "         remedy: see that the server runs", "2 errors"}, nil)
	if err := b.Resume(); err != nil {
		t.Fatal(err)
	}
	var r checkReport
	out := judge(t, "check job --json --config "+trio, exitFailed, []string{"{"}, nil)
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if f := r.Findings[0]; r.Election != "job" || r.Mode != "quorum" || len(r.Servers) != 3 || r.Result != "failed" || r.Errors != 1 || r.Warnings != 2 ||
		f.Severity != "error" || f.Server != c.Addr() || f.Code != "unreachable" || f.Message == "" || f.Remedy == "" || f.Permanent {
		t.Errorf("got %s", out)
	}
}

// TestD08_CheckWarnsOfEviction, and refuses with --strict.
func TestD08_CheckWarnsOfEviction(t *testing.T) {
	file := configFile(t, aof(t, "maxmemory-policy", "allkeys-lru", "maxmemory", "100mb").Addr())
	judge(t, "check job --config "+file, exitOK, []string{": eviction: maxmemory-policy is allkeys-lru", "remedy: set maxmemory-policy noeviction"}, nil)
	judge(t, "check job --strict --config "+file, exitFailed, []string{": eviction: "}, nil)
}

// TestD12_NoScripts: what is not cured by waiting has the exit code of a wrong
// configuration, in one clear line, and nothing is acquired.
func TestD12_NoScripts(t *testing.T) {
	renamed := aof(t, "rename-command", `EVAL ""`)
	acl := filepath.Join(t.TempDir(), "users.acl")
	if err := os.WriteFile(acl, []byte("user default on nopass ~* &* +@all -eval -evalsha -script\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	denied := redistest.StartT(t, redisproc.Options{ACLFile: acl})
	for _, s := range []*redisproc.Server{renamed, denied} {
		file := configFile(t, s.Addr())
		out := judge(t, "check job --config "+file, exitUsage, []string{"error    " + s.Addr() + ": scripts-disabled: ", "do not fit each other: waiting does not help; 1 error"}, nil)
		if strings.Count(out, "error ") != 1 {
			t.Errorf("got %s", out)
		}
		code, stdout, stderr := call(t.Context(), "init", "job", "--config", file)
		if code != exitUsage || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "incumbent: init: configuration: master "+s.Addr()) {
			t.Errorf("init: exit code %d, output %q, error %q", code, stdout, stderr)
		}
	}
}

// TestCheckRefused: what somebody must mend has the exit code of a wrong configuration, as
// with compare --lab remote; what may pass has another.
func TestCheckRefused(t *testing.T) {
	primary := redistest.StartT(t, redisproc.Options{})
	host, port, _ := strings.Cut(primary.Addr(), ":")
	acl := filepath.Join(t.TempDir(), "users.acl")
	if err := os.WriteFile(acl, []byte("user default on nopass ~other* &* +@all\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for code, test := range map[string]struct {
		server *redisproc.Server
		flags  string
	}{
		"auth":       {redistest.StartT(t, redisproc.Options{Password: "secret"}), ""},
		"permission": {redistest.StartT(t, redisproc.Options{ACLFile: acl}), ""},
		"read-only":  {redistest.StartT(t, redisproc.Options{Args: []string{"replicaof", host + " " + port}}), ""},
		"tls":        {primary, " --tls-enabled"},
	} {
		judge(t, "check job --config "+configFile(t, test.server.Addr())+test.flags, exitUsage,
			[]string{"error    " + test.server.Addr() + ": " + code + ": ", "waiting does not help"}, nil)
	}
	judge(t, "check job --config "+configFile(t, "127.0.0.1:1"), exitFailed, []string{": unreachable: ", "not as it should be"}, nil)
}

// TestCheckSaysOnce what is the same at several servers, and counts it at each.
func TestCheckSaysOnce(t *testing.T) {
	same := config.Finding{Severity: config.Warning, Code: "eviction", Message: "keys may go", Remedy: "keep them"}
	at := func(server string, change func(*config.Finding)) config.Finding {
		f := same
		f.Server = server
		if change != nil {
			change(&f)
		}
		return f
	}
	r := newCheckReport("job", &config.Config{Mode: "quorum"}, []config.Finding{
		{Severity: config.Fault, Code: "x", Message: "of all", Permanent: true},
		{Severity: config.Fault, Code: "x", Message: "of all", Permanent: true},
		at("a:1", nil),
		at("b:1", func(f *config.Finding) { f.Severity = config.Info }),
		at("c:1", nil),
		at("d:1", func(f *config.Finding) { f.Remedy = "" }),
		at("e:1", func(f *config.Finding) { f.Message = "another" }),
		at("f:1", nil),
	}, false)
	var out strings.Builder
	if err := r.print(&out); err != nil {
		t.Fatal(err)
	}
	want := `error    all servers: x: of all
error    all servers: x: of all
warning  a:1, c:1, f:1: eviction: keys may go
         remedy: keep them
info     b:1: eviction: keys may go
         remedy: keep them
warning  d:1: eviction: keys may go
warning  e:1: eviction: another
         remedy: keep them
quorum, 0 servers: servers and configuration do not fit each other: waiting does not help; 2 errors, 3 warnings, 1 note
`
	if out.String() != want || r.Findings[2].Server != "a:1" {
		t.Errorf("got\n%s\nwant\n%s\nfindings are %v", &out, want, r.Findings)
	}
}

// TestCheckBoth: during a move, the servers of both stores are asked.
func TestCheckBoth(t *testing.T) {
	var addrs []any
	for range 4 {
		addrs = append(addrs, miniredis.RunT(t).Addr())
	}
	file := filepath.Join(t.TempDir(), "incumbent.yaml")
	text := fmt.Sprintf("mode: both\nsingle: {address: '%s'}\nquorum: {masters: ['%s', '%s', '%s']}\n", addrs...)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out := judge(t, "check job --config "+file, exitOK, []string{"both, 4 servers: can serve; 0 errors, "}, nil)
	for _, addr := range addrs {
		if !strings.Contains(out, addr.(string)) {
			t.Errorf("says nothing of %s:\n%s", addr, out)
		}
	}
}

// TestCheckMisconfigured is about the file, not about servers.
func TestCheckMisconfigured(t *testing.T) {
	file := configFile(t, "127.0.0.1:1")
	for args, want := range map[string][]string{
		"check":                                         {"mode: is missing", "--config FILE names one"},
		"check --config no-such-file.yaml":              {"no-such-file.yaml"},
		"check job other --config " + file:              {"other"},
		"check --ttl 10 --config " + file:               {`ttl "10" (--ttl): needs a unit`},
		"check a\x01b --config " + file:                 {"election name"},
		"check job --config " + configFile(t, "a", "b"): {"quorum.masters", "at least 3"},
	} {
		judge(t, args, exitUsage, nil, want)
	}
}

// TestCheckInterrupted has the code of a signal.
func TestCheckInterrupted(t *testing.T) {
	addr, accepted := hung(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-accepted
		cancel()
	}()
	code, stdout, stderr := call(ctx, "check", "job", "--config", configFile(t, addr))
	if code != exitInterrupted || stdout != "" || stderr != "incumbent: check: interrupted\n" {
		t.Errorf("exit code %d, output %q, error %q", code, stdout, stderr)
	}
}

// TestD02_ConfigPrint shows the timeouts that hold, the defaults that follow others
// filled in, and where each value comes from; no password.
func TestD02_ConfigPrint(t *testing.T) {
	name := filepath.Join(t.TempDir(), "incumbent.yaml")
	text := "mode: quorum\nttl: 8s\nquorum:\n  masters:\n  - a\n  - b\n  - address: c\n    password: hunter2\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("INCUMBENT_RENEW", "2s")
	t.Setenv("INCUMBENT_PASSWORD", "hunter3")
	out := judge(t, "config print --step-down 500ms --config "+name, exitOK, []string{"mode"}, nil)
	lines := map[string]bool{}
	for line := range strings.Lines(out) {
		lines[strings.Join(strings.Fields(line), " ")] = true
	}
	for _, want := range []string{
		"ttl 8s line 2 of " + name, "renew 2s INCUMBENT_RENEW", "step_down 500ms --step-down", "timeout 1s default", "dial_timeout 750ms default",
		"password *** INCUMBENT_PASSWORD", "quorum.masters[2].password *** line 8 of " + name,
	} {
		if !lines[want] {
			t.Errorf("lacks %q:\n%s", want, out)
		}
	}
	js := judge(t, "config print --timeout 400ms --json --config "+name, exitOK, []string{`{"key":"timeout","value":"400ms","source":"--timeout"}`, `{"key":"dial_timeout","value":"300ms","source":"default"}`}, nil)
	if strings.Contains(out+js, "hunter") {
		t.Errorf("a password shows:\n%s%s", out, js)
	}
	var p printed
	if err := json.Unmarshal([]byte(js), &p); err != nil || len(p.Settings) < 15 {
		t.Errorf("%v: %s", err, js)
	}
	judge(t, "config print --config "+configFile(t, "a:1", "a:2", "a:3"), exitOK, []string{"quorum.masters[0].address"}, []string{"warning: quorum.masters: a:1 and a:2 are on one host"})
	judge(t, "config print --ttl 10 --config "+name, exitUsage, nil, []string{`incumbent: config print: configuration: ttl "10" (--ttl): needs a unit`})
	judge(t, "config print", exitUsage, nil, []string{"mode: is missing", "incumbent config print --help"})
	judge(t, "config", exitUsage, nil, []string{"a command is missing: print", "incumbent config --help"})
	judge(t, "config print --colour", exitUsage, nil, []string{"--colour", "incumbent config print --help"})
}

// TestCheckHelp: both commands are documented as the others are.
func TestCheckHelp(t *testing.T) {
	for args, want := range map[string][]string{
		"--help":              {"check", "config print"},
		"check --help":        {"[ELECTION]", "Examples:", "Exit code:", "--strict", "--json", "--config=FILE", "--quorum-masters"},
		"config print --help": {"Examples:", "Exit code:", "--json", "--config=FILE", "--timeout"},
	} {
		out := judge(t, args, exitOK, want, nil)
		for line := range strings.Lines(out) {
			if len(line) > 101 {
				t.Errorf("%q: line of %d characters: %s", args, len(line), line)
			}
		}
	}
}

// TestCheckOfAnOldServer that cannot be asked for rights is no fault.
func TestCheckOfAnOldServer(t *testing.T) {
	judge(t, "check job --config "+configFile(t, miniredis.RunT(t).Addr()), exitOK, []string{"info     ", ": unknown: a server before 7.0, or of a hidden version"}, nil)
}
