package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"incumbent/compare/lab/remote"
	"incumbent/compare/measure"
	"incumbent/compare/report"
	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

// endpointFile writes a configuration of one primary.
func endpointFile(t *testing.T, addr, more string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "incumbent.yaml")
	text := fmt.Sprintf("mode: single\nsingle:\n  address: %s\n%s", addr, more)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// keysAt lists all keys of a server.
func keysAt(t *testing.T, addr string) []string {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: addr, Protocol: 2, DisableIdentity: true})
	defer func() { _ = c.Close() }()
	keys, err := c.Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// TestRemote: a comparison at endpoints of somebody, from the announcement to the
// report, and what was not asked for is not played.
func TestRemote(t *testing.T) {
	s := redistest.StartT(t, redisproc.Options{})
	path, dir := endpointFile(t, s.Addr(), "ttl: 500ms\n"), t.TempDir()
	code, stdout, stderr := call(t.Context(), "compare", "--lab", "remote", "--config", path, "--yes", "--runs", "1", "--faults", "resign,crash", "--out", dir)
	if code != exitOK {
		t.Fatalf("exit code %d, error %q, output:\n%s", code, stderr, stdout)
	}
	for _, want := range []string{
		"Endpoints:", s.Addr(), "master", "RTT", "2 runs in single, TTL 500ms", "incumbent:{compare-", "at most 2 keys a master", "requests a second",
		"--cleanup ", "Never:", "keys removed; none of this comparison is left",
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("the announcement lacks %q:\n%s", want, stderr)
		}
	}
	for _, want := range []string{"remote lab, TTL 500ms", "--lab remote --config ", "Round trips (PING, ms):", "A renewal (ms;", "Floors: PTTL"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the output lacks %q:\n%s", want, stdout)
		}
	}
	if keys := keysAt(t, s.Addr()); len(keys) > 0 {
		t.Errorf("keys are left: %v", keys)
	}
	var summary struct {
		Lab    string
		Cells  []measure.Cell
		Remote *remote.Figures
	}
	text, err := os.ReadFile(filepath.Join(dir, report.SummaryFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &summary); err != nil || summary.Lab != "remote" || len(summary.Cells) != 2 || summary.Remote == nil || len(summary.Remote.RTT) != 1 {
		t.Errorf("summary: %v: %s", err, text)
	}
	page, err := os.ReadFile(filepath.Join(dir, report.HTMLFile))
	if err != nil || !strings.Contains(string(page), `id="remote"`) || !strings.Contains(string(page), s.Addr()) {
		t.Errorf("the page says nothing of the endpoint: %v", err)
	}
}

// TestRemoteDryRun: a dry run says all that a run would say, and writes nothing; nor
// does one that nobody has agreed to.
func TestRemoteDryRun(t *testing.T) {
	s := redistest.StartT(t, redisproc.Options{})
	path := endpointFile(t, s.Addr(), "")
	code, stdout, stderr := call(t.Context(), "compare", "--lab", "remote", "--config", path, "--dry-run", "--faults", "all")
	if code != exitOK || !strings.Contains(stdout, "nothing was written") || !strings.Contains(stdout, "TTL 15s") {
		t.Errorf("exit code %d, error %q, output:\n%s", code, stderr, stdout)
	}
	if n := strings.Count(stderr, "\n"); n != 1 || !strings.Contains(stderr, "left out, ") || !strings.Contains(stderr, "flushall") {
		t.Errorf("standard error is %q", stderr)
	}
	code, _, stderr = call(t.Context(), "compare", "--lab", "remote", "--config", path)
	if code != exitUsage || !strings.Contains(stderr, "--yes") {
		t.Errorf("nobody was asked: exit code %d, error %q", code, stderr)
	}
	c := redis.NewClient(&redis.Options{Addr: s.Addr(), Protocol: 2, DisableIdentity: true})
	defer func() { _ = c.Close() }()
	stats, err := c.Info(t.Context(), "commandstats").Result()
	if err != nil || !strings.Contains(stats, "cmdstat_ping") {
		t.Fatalf("%v: %s", err, stats)
	}
	for _, write := range []string{"set", "hset", "del", "pexpire", "publish"} {
		if regexp.MustCompile("cmdstat_" + write + ":calls=[1-9]").MatchString(stats) {
			t.Errorf("%s was called:\n%s", write, stats)
		}
	}
	if keys := keysAt(t, s.Addr()); len(keys) > 0 {
		t.Errorf("keys are left: %v", keys)
	}
}

// TestRemoteMistakes: each is told in one line with what to do, and the password in
// none.
func TestRemoteMistakes(t *testing.T) {
	const password = "hush-hush"
	s := redistest.StartT(t, redisproc.Options{})
	locked := redistest.StartT(t, redisproc.Options{Password: "other"})
	acl := filepath.Join(t.TempDir(), "users.acl")
	if err := os.WriteFile(acl, []byte("user default on nopass ~* &* +@all\nuser incumbent on >"+password+" ~other:* &other:* +@all\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	denied := redistest.StartT(t, redisproc.Options{ACLFile: acl})
	down := redistest.StartT(t, redisproc.Options{})
	if err := down.Kill(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("INCUMBENT_PASSWORD", password)
	for _, tt := range []struct {
		name, path, args string
		code             int
		want             []string
	}{
		{"no file", "/none.yaml", "", exitUsage, []string{"/none.yaml"}},
		{"unreachable", endpointFile(t, down.Addr(), ""), "", exitFailed, []string{down.Addr(), "refused"}},
		{"wrong password", endpointFile(t, locked.Addr(), ""), "", exitUsage, []string{locked.Addr(), "check user name and password"}},
		{"no TLS there", endpointFile(t, s.Addr(), "tls:\n  enabled: true\n"), "", exitUsage, []string{s.Addr(), "TLS"}},
		{"no permission", endpointFile(t, denied.Addr(), "username: incumbent\n"), "", exitUsage, []string{denied.Addr(), "grant"}},
		{"typing mistake", endpointFile(t, s.Addr(), "tlt: 1s\n"), "", exitUsage, []string{"ttl"}},
		{"a fault of servers", endpointFile(t, s.Addr(), ""), "--faults crash,flushall", exitUsage, []string{"--faults: flushall", "harm your servers", "--lab local"}},
		{"a fault of hosts", endpointFile(t, s.Addr(), ""), "--faults suspend", exitUsage, []string{"--faults: suspend"}},
		{"another mode", endpointFile(t, s.Addr(), ""), "--modes quorum3", exitUsage, []string{"--modes", "no section"}},
		{"a link", endpointFile(t, s.Addr(), ""), "--loss 0.1", exitUsage, []string{"simulations"}},
		{"workers", endpointFile(t, s.Addr(), ""), "--workers 2", exitUsage, []string{"--workers: 2"}},
		{"cleanup of what", endpointFile(t, s.Addr(), ""), "--cleanup x", exitUsage, []string{"--cleanup"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := append([]string{"compare", "--lab", "remote", "--config", tt.path, "--yes"}, strings.Fields(tt.args)...)
			if tt.name == "unreachable" || tt.name == "wrong password" || tt.name == "no TLS there" {
				t.Setenv("INCUMBENT_TTL", "2s") // so that it does not wait long
			}
			code, stdout, stderr := call(t.Context(), args...)
			if code != tt.code || strings.Contains(stdout+stderr, password) {
				t.Errorf("exit code %d, output %q, error %q", code, stdout, stderr)
			}
			for _, w := range tt.want {
				if !strings.Contains(stderr, w) {
					t.Errorf("error lacks %q: %s", w, stderr)
				}
			}
		})
	}
	for _, server := range []*redisproc.Server{s, denied} {
		if keys := keysAt(t, server.Addr()); len(keys) > 0 {
			t.Errorf("keys are left: %v", keys)
		}
	}
}

// TestRemoteCleanup removes what a comparison may have left, and nothing else.
func TestRemoteCleanup(t *testing.T) {
	s := redistest.StartT(t, redisproc.Options{})
	path := endpointFile(t, s.Addr(), "")
	code, stdout, _ := call(t.Context(), "compare", "--lab", "remote", "--config", path, "--dry-run")
	id := regexp.MustCompile(`--cleanup (([0-9a-f]+)-\d+)`).FindStringSubmatch(stdout)
	if code != exitOK || id == nil {
		t.Fatalf("exit code %d, output:\n%s", code, stdout)
	}
	c := redis.NewClient(&redis.Options{Addr: s.Addr(), Protocol: 2, DisableIdentity: true})
	defer func() { _ = c.Close() }()
	for _, key := range []string{"incumbent:{compare-" + id[2] + "-3}:lease", "incumbent:{compare-" + id[2] + "-3}:record", "incumbent:{job}:lease"} {
		if err := c.Set(t.Context(), key, "x", 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"compare", "--lab", "remote", "--config", path, "--cleanup", id[1]}
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	code, _, stderr := call(interrupted, args...)
	if code != exitInterrupted || !strings.Contains(stderr, "keys may be left at "+s.Addr()) {
		t.Errorf("interrupted: exit code %d, error %q", code, stderr)
	}
	code, stdout, stderr = call(t.Context(), args...)
	if code != exitOK || stdout != "2 keys removed\n" || stderr != "" {
		t.Errorf("exit code %d, output %q, error %q", code, stdout, stderr)
	}
	if keys := keysAt(t, s.Addr()); len(keys) != 1 || keys[0] != "incumbent:{job}:lease" {
		t.Errorf("keys are %v", keys)
	}
}

// TestRemoteFlagsElsewhere: flags of this lab are refused by others, but a variable that
// other commands use is not.
func TestRemoteFlagsElsewhere(t *testing.T) {
	t.Setenv("INCUMBENT_CONFIG", "/none.yaml")
	for _, flag := range []string{"--config x", "--key-prefix x", "--dry-run", "--yes", "--cleanup x"} {
		code, _, stderr := call(t.Context(), tiny(strings.Fields(flag)...)...)
		if code != exitUsage || !strings.Contains(stderr, strings.Fields(flag)[0]+": ") || !strings.Contains(stderr, "is for --lab remote") || strings.Contains(stderr, "true") {
			t.Errorf("%s: exit code %d, error %q", flag, code, stderr)
		}
	}
	if code, _, stderr := call(t.Context(), tiny()...); code != exitOK {
		t.Errorf("exit code %d, error %q", code, stderr)
	}
}
