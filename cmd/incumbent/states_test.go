package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"incumbent/config"
	"incumbent/internal/blackhole"
	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

// state is how servers and configuration stand, and what is to be said of it.
type state struct {
	name string
	// make starts servers, has somebody lead where that can be, and returns the flags.
	make func(t *testing.T) string

	status, check         int // exit codes
	result, cause         string
	says, finds           []string // in what status and check write; %[1]s is a server
	warnings, neverAnswer []string
}

// led is a trio of which somebody leads, and its configuration.
func led(t *testing.T, args ...string) (servers []*redisproc.Server, file string) {
	t.Helper()
	var addrs []string
	for range 3 {
		s := redistest.StartT(t, redisproc.Options{Persistence: redisproc.AOF, Args: args})
		servers, addrs = append(servers, s), append(addrs, s.Addr())
	}
	file = configFile(t, addrs...)
	judge(t, "init job --config "+file, exitOK, []string{"need not wait"}, nil)
	lead(t, file)
	return servers, file
}

const quick = " --timeout 400ms --dial-timeout 300ms"

// states are what an operator meets.
var states = []state{
	{
		name: "healthy trio", status: exitOK, check: exitOK, result: leads, cause: "leads",
		make: func(t *testing.T) string { _, file := led(t); return "--config " + file },
		says: []string{"the-leader leads, with token ", ", at 3 of 3 masters", "MASTER", "master  "}, finds: []string{"can serve; 0 errors"},
	},
	{
		name: "one dead", status: exitOK, check: exitFailed, result: leads, cause: "leads",
		make: func(t *testing.T) string {
			s, file := led(t)
			must(t, s[2].Kill())
			return "--config " + file + quick
		},
		says:  []string{"the-leader leads", "at 2 of 3 masters", "(unreachable)", "\nunreachable: master ", "connection refused", "warning: bare-majority: "},
		finds: []string{": unreachable: ", "not as it should be; 1 error"}, warnings: []string{"bare-majority"},
	},
	{
		name: "one hung", status: exitOK, check: exitFailed, result: leads, cause: "leads",
		make: func(t *testing.T) string {
			s, file := led(t)
			must(t, s[1].Pause())
			t.Cleanup(func() { _ = s[1].Resume() }) // so that it can be stopped
			return "--config " + file + quick
		},
		says:  []string{"at 2 of 3 masters", "(unreachable)", "no answer within 400ms", "warning: bare-majority: "},
		finds: []string{": unreachable: no answer"}, warnings: []string{"bare-majority"},
	},
	{
		name: "one replica", status: exitOK, check: exitUsage, result: leads, cause: "leads",
		make: func(t *testing.T) string {
			s, file := led(t, "repl-diskless-sync-delay", "0")
			replica := follower(t, s[0])
			text, err := os.ReadFile(file)
			must(t, err)
			must(t, os.WriteFile(file, []byte(strings.Replace(string(text), s[2].Addr(), replica, 1)), 0o600))
			return "--config " + file
		},
		says:  []string{"at 2 of 3 masters", "replica  ", "warning: read-only: ", " is a replica, which cannot vote", "warning: bare-majority: "},
		finds: []string{": read-only: ", "waiting does not help"}, warnings: []string{"bare-majority", "read-only"},
	},
	{
		name: "one twice", status: exitUsage, check: exitUsage, result: misfit, cause: "same-server",
		make: func(t *testing.T) string {
			a, b := aof(t).Addr(), aof(t).Addr()
			alias, err := blackhole.New(b)
			must(t, err)
			t.Cleanup(func() { must(t, alias.Close()) })
			return "--config " + configFile(t, a, b, alias.Addr())
		},
		says:  []string{"nobody can lead by these settings: 127.0.0.1:", " are one server, which has one vote"},
		finds: []string{": same-server: ", "waiting does not help"},
	},
	{
		name: "allkeys-lru", status: exitOK, check: exitOK, result: leads, cause: "leads",
		make: func(t *testing.T) string {
			_, file := led(t, "maxmemory-policy", "allkeys-lru", "maxmemory", "100mb")
			return "--config " + file
		},
		says: []string{"at 3 of 3 masters"}, finds: []string{"warning  ", ": eviction: maxmemory-policy is allkeys-lru", "can serve; 0 errors"},
	},
	{
		name: "missing permissions", status: exitUsage, check: exitUsage, result: misfit, cause: "permission",
		make: func(t *testing.T) string {
			acl := filepath.Join(t.TempDir(), "users.acl")
			must(t, os.WriteFile(acl, []byte("user default on nopass ~other* &* +@all\n"), 0o600))
			return "--config " + configFile(t, redistest.StartT(t, redisproc.Options{ACLFile: acl}).Addr())
		},
		says:  []string{"nobody can lead by these settings: master ", "no permission", "docs/protocol.md", "(permission)"},
		finds: []string{": permission: ", "waiting does not help"},
	},
	{
		name: "wrong password", status: exitUsage, check: exitUsage, result: misfit, cause: "auth",
		make: func(t *testing.T) string {
			t.Setenv("INCUMBENT_PASSWORD", "hunter2")
			return "--config " + configFile(t, redistest.StartT(t, redisproc.Options{Password: "hunter1"}).Addr())
		},
		says:  []string{"nobody can lead by these settings: master ", "authentication failed", "check user name and password", "(auth)"},
		finds: []string{": auth: ", "waiting does not help"}, neverAnswer: []string{"hunter"},
	},
	{
		name: "TLS with a wrong name", status: exitUsage, check: exitUsage, result: misfit, cause: "tls",
		make: func(t *testing.T) string {
			files := redistest.Certificate(t)
			t.Setenv("INCUMBENT_TLS_CA_FILE", files.CA)
			return "--tls-server-name redis.other --config " + configFile(t, redistest.StartT(t, redisproc.Options{TLS: files}).Addr())
		},
		says:  []string{"nobody can lead by these settings: master ", "TLS failure", "redis.other", "set the server name that the certificate carries", "(tls)"},
		finds: []string{": tls: ", "redis.other", "waiting does not help"},
	},
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// follower starts a replica of a server, and waits until it has what that has.
func follower(t *testing.T, of *redisproc.Server) string {
	t.Helper()
	host, port, _ := strings.Cut(of.Addr(), ":")
	s := redistest.StartT(t, redisproc.Options{Args: []string{"replicaof", host + " " + port}})
	c := &config.Config{Mode: config.ModeSingle, Single: config.Single{Address: s.Addr()}}
	client, err := c.Connect()
	must(t, err)
	defer func() { must(t, client.Close()) }()
	for range 1000 {
		st, err := client.Inspect(t.Context(), "job")
		must(t, err)
		if m := st.Masters[0]; m.Role == "slave" && m.Holder != nil {
			return s.Addr()
		}
		time.Sleep(20 * time.Millisecond) // until the first synchronization is done
	}
	t.Fatal("the replica has not got the lease")
	return ""
}

// TestStatusAndCheckOfEachState on real servers: what they say, how they end, in bounded
// time, and that no password shows.
func TestStatusAndCheckOfEachState(t *testing.T) {
	for _, s := range states {
		t.Run(s.name, func(t *testing.T) {
			flags := s.make(t)
			began := time.Now()
			text := judge(t, "status job "+flags, s.status, s.says, nil)
			js := judge(t, "status job --json "+flags, s.status, []string{"{"}, nil)
			text += js + judge(t, "check job "+flags, s.check, s.finds, nil)
			text += judge(t, "check job --json "+flags, s.check, []string{"{"}, nil)
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("four looks took %s", took)
			}
			for _, never := range s.neverAnswer {
				if strings.Contains(text, never) {
					t.Errorf("it says %q:\n%s", never, text)
				}
			}
			var r statusReport
			if err := json.Unmarshal([]byte(js), &r); err != nil {
				t.Fatal(err)
			}
			var codes []string
			for _, w := range r.Warnings {
				codes = append(codes, w.Code)
			}
			if r.Election != "job" || r.Result != s.result || r.Cause != s.cause || fmt.Sprint(codes) != fmt.Sprint(s.warnings) {
				t.Errorf("result %s, cause %s, warnings %s; want %s, %s, %s", r.Result, r.Cause, codes, s.result, s.cause, s.warnings)
			}
			if (r.Leader != nil) != (s.result == leads) || r.Leader != nil && (r.Leader.ID != "the-leader" || r.Leader.PID != os.Getpid()) {
				t.Errorf("leader %+v", r.Leader)
			}
		})
	}
}
