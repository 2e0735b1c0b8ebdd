package remote_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/compare/lab/remote"
	"incumbent/election"
	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

const (
	userPassword  = "s3cret-of-the-user"
	adminPassword = "s3cret-of-the-admin"
)

// documented are the rules of the ACL user that docs/remote.md shows.
func documented(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/remote.md")
	noErr(t, err)
	_, rest, ok := strings.Cut(string(text), "redis-cli ACL SETUSER incumbent ")
	rules, _, end := strings.Cut(rest, "```")
	if !ok || !end {
		t.Fatal("docs/remote.md shows no ACL user")
	}
	rules = strings.NewReplacer(`\`, "", "'", "", "\n", " ", ">CHANGE-ME", ">"+userPassword).Replace(rules)
	return strings.Join(strings.Fields(rules), " ")
}

// secured starts a server with a certificate for 127.0.0.1 and localhost, and users.
func secured(t *testing.T) (addr string, files *redisproc.TLS, administrator *redis.Client, dial func() (net.Conn, error)) {
	t.Helper()
	files = redistest.Certificate(t)
	acl := filepath.Join(t.TempDir(), "users.acl")
	noErr(t, os.WriteFile(acl, fmt.Appendf(nil, "user default on >%s ~* &* +@all\nuser incumbent %s\n", adminPassword, documented(t)), 0o600))
	s := redistest.StartT(t, redisproc.Options{TLS: files, ACLFile: acl})
	conf := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the test's own server
	administrator = admin(t, s.Addr(), func(o *redis.Options) { o.Password, o.TLSConfig = adminPassword, conf })
	return s.Addr(), files, administrator, func() (net.Conn, error) { return tls.Dial("tcp", s.Addr(), conf) }
}

// TestMinimalUser plays with TLS and the ACL user that the documentation shows, and looks
// at every command that reaches the server, and at what others can see of candidates.
func TestMinimalUser(t *testing.T) {
	t.Parallel()
	addr, files, c, dial := secured(t)
	set := load(t, remote.Options{
		Path:    file(t, "mode: single\nsingle:\n  address: %s\nusername: incumbent\ntls:\n  ca_file: %s\nttl: 500ms\n", addr, files.CA),
		Environ: []string{"INCUMBENT_PASSWORD=" + userPassword},
	})
	monitored := watch(t, dial, "AUTH "+adminPassword+"\r\n")
	look, err := set.Look(t.Context(), "compare-look-0")
	noErr(t, err)
	noErr(t, look.Err)
	stop := spy(t)
	runs, p := play(t, set, "resign", "crash", "partition", "pause-write", "master-partition", "lost-reply")
	judged(t, runs)
	if seen := stop(); seen == 0 && runtime.GOOS == "linux" { // which has /proc
		t.Error("no candidate was looked at")
	}
	estimate := set.Estimate(nil, 2).Requests
	commands(t, monitored(), p.Figures().Keys, estimate)
	empty(t, c)
	log, err := c.ACLLog(t.Context(), 10).Result()
	noErr(t, err)
	for _, entry := range log {
		if entry.Object != "config|get" { // which a look tries, and does without
			t.Errorf("the server refused something: %+v", *entry)
		}
	}
	if f := p.Figures(); f.Floors != remote.FloorPTTL || f.Removed.Keys == 0 || len(f.Renewal) != 1 || f.Renewal[0].Requests != 1 {
		t.Errorf("figures are %+v", f)
	}
}

// TestWrongName: a certificate for another name is a mistake of the configuration, and
// no proxy in between makes it good.
func TestWrongName(t *testing.T) {
	t.Parallel()
	addr, files, _, _ := secured(t)
	_, port, err := net.SplitHostPort(addr)
	noErr(t, err)
	set := load(t, remote.Options{
		Path:    file(t, "mode: single\nsingle:\n  address: localhost:%s\nusername: incumbent\ntls:\n  ca_file: %s\nttl: 2s\n", port, files.CA),
		Environ: []string{"INCUMBENT_PASSWORD=" + userPassword},
	})
	look, err := set.Look(t.Context(), "compare-look-0")
	noErr(t, err)
	if !errors.Is(look.Err, election.ErrTLS) || look.Unreachable() || !strings.Contains(look.Err.Error(), "server name") {
		t.Errorf("got %v", look.Err)
	}
}

// allowed are all commands that may reach a server, and those that scripts issue.
var allowed = strings.Fields("evalsha eval get set del pttl pexpire hset hmget time info publish subscribe unsubscribe ping hello auth monitor config")

// reads are those of a look: it changes nothing, in the scripts neither.
var reads = strings.Fields("evalsha eval get hmget pttl subscribe")

// commands fails the test where a command or a key is not one of those that are
// documented, or where there were more in a second than announced.
func commands(t *testing.T, lines []string, keys string, most int) {
	t.Helper()
	prefix, _, _ := strings.Cut(keys, "*") // incumbent:{compare-<id>-
	var times []float64
	for _, line := range lines {
		at, script, words := command(line)
		if len(words) == 0 {
			t.Errorf("unreadable: %q", line)
			continue
		}
		if !slices.Contains(allowed, words[0]) || words[0] == "config" && words[1] != "get" {
			t.Errorf("a command that is not documented: %s", line)
		}
		for _, w := range words[1:] {
			looks := strings.Contains(w, "{preflight}") || strings.Contains(w, "compare-look-")
			if strings.Contains(w, "incumbent:") && !strings.HasPrefix(w, prefix) && !(looks && slices.Contains(reads, words[0])) {
				t.Errorf("a key that is not announced: %s", line)
			}
		}
		if !script {
			times = append(times, at)
		}
	}
	if len(times) < 50 {
		t.Errorf("only %d commands were seen", len(times))
	}
	peak := 0
	for i, j := 0, 0; j < len(times); j++ {
		for times[j]-times[i] > 1 {
			i++
		}
		peak = max(peak, j-i+1)
	}
	t.Logf("%d requests, at most %d within a second", len(times), peak)
	if peak > most {
		t.Errorf("%d requests within a second, where at most %d were announced", peak, most)
	}
}

// spy looks at the arguments and the environment of all processes that the lab starts,
// for passwords, one of which is in this process's own environment, until the returned
// function is called. That says how many were seen.
func spy(t *testing.T) (stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	seen := map[string]bool{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			for _, dir := range children() {
				environ, _ := os.ReadFile(filepath.Join(dir, "environ")) // it may be gone
				if !bytes.Contains(environ, []byte("INCUMBENT_LAB_")) {
					continue // a server of the test
				}
				args, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
				for _, secret := range []string{userPassword, "INCUMBENT_PASSWORD"} {
					if bytes.Contains(args, []byte(secret)) || bytes.Contains(environ, []byte(secret)) {
						t.Errorf("%s can be read in %s", secret, dir)
					}
				}
				seen[dir] = true
			}
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() int {
		cancel()
		<-done
		return len(seen)
	}
}

// children are the folders in /proc of this process's children.
func children() (dirs []string) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		_, rest, _ := bytes.Cut(stat, []byte(") "))
		var state string
		var parent int
		if err != nil {
			continue
		}
		if _, err := fmt.Sscan(string(rest), &state, &parent); err == nil && parent == os.Getpid() {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
