package config

import (
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	stub "github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/internal/blackhole"
	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
	"incumbent/internal/vote"
)

// keeps are directives of a server that has nothing to remark about.
var keeps = redisproc.Options{Persistence: redisproc.AOF}

func startPlain(t *testing.T) *redisproc.Server {
	t.Helper()
	return redistest.StartT(t, redisproc.Options{})
}

// short lists findings as severity, server and code, without notes on guards that
// wait, which a server that has just started has.
func short(found []Finding) (out []string) {
	for _, f := range found {
		if f.Code != "guards-wait" {
			out = append(out, fmt.Sprintf("%s %s %s", f.Severity, f.Server, f.Code))
		}
	}
	return out
}

// preflight looks at what is configured.
func preflight(t *testing.T, c *Config, name string) []Finding {
	t.Helper()
	found, err := c.Preflight(t.Context(), name)
	noErr(t, err)
	for _, f := range found {
		switch {
		case f.Message == "" || strings.Contains(f.String(), "\n"):
			t.Errorf("message %q", f)
		case f.Severity != Info && f.Code != "configuration" && f.Remedy == "":
			t.Errorf("no remedy: %s", f)
		case (f.Severity == Fault) != (f.Err != nil):
			t.Errorf("%s has the error %v", f, f.Err)
		}
	}
	return found
}

// wantFound compares severities, servers and codes.
func wantFound(t *testing.T, found []Finding, want ...string) {
	t.Helper()
	if got := short(found); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q; in full:\n%s", got, want, full(found))
	}
}

func full(found []Finding) string {
	var b strings.Builder
	for _, f := range found {
		b.WriteString(f.String() + "\n")
	}
	return b.String()
}

// quiet is fast without what Warnings says of a test: all masters are on one host,
// and nothing is new.
func quiet(mode Mode, addresses ...string) *Config {
	c := fast(mode, addresses...)
	c.AssumeNew = false
	return c
}

// notWarnings leaves out what is about the file and not about servers.
func notWarnings(found []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f Finding) bool { return f.Code == "configuration" })
}

// A trio in good order: nothing is found but that they are on one host, which the
// file shows. Then one of them is dead, hangs, is another one twice.
func TestPreflightTrio(t *testing.T) {
	t.Parallel()
	a, b, c := redistest.StartT(t, keeps), redistest.StartT(t, keeps), redistest.StartT(t, keeps)
	trio := func() *Config { return quiet(ModeQuorum, a.Addr(), b.Addr(), c.Addr()) }
	found := preflight(t, trio(), "job")
	wantFound(t, notWarnings(found))
	if n := len(found) - len(notWarnings(found)); n < 2 {
		t.Errorf("%d remarks about masters on one host", n)
	}
	for _, f := range found {
		if f.Code == "guards-wait" && !strings.Contains(f.Message, "restart") {
			t.Errorf("found %s", f)
		}
	}
	noErr(t, open(t, trio()).Check(t.Context(), "job"))

	alias, err := blackhole.New(a.Addr())
	noErr(t, err)
	defer alias.Close()
	twice := preflight(t, quiet(ModeQuorum, a.Addr(), b.Addr(), alias.Addr()), "job")
	wantFound(t, notWarnings(twice), "error "+a.Addr()+" and "+alias.Addr()+" same-server")
	if f := twice[0]; !f.Permanent || !errors.Is(f.Err, election.ErrSameServer) {
		t.Errorf("found %s, permanent %t", f, f.Permanent)
	}

	noErr(t, b.Pause())
	began := time.Now()
	hung := preflight(t, trio(), "job")
	wantFound(t, notWarnings(hung), "error "+b.Addr()+" unreachable")
	if took := time.Since(began); took > 10*time.Second || hung[0].Permanent {
		t.Errorf("after %s: %s, permanent %t", took, hung[0], hung[0].Permanent)
	}
	noErr(t, b.Resume())
	noErr(t, c.Kill())
	dead := preflight(t, trio(), "job")
	wantFound(t, notWarnings(dead), "error "+c.Addr()+" unreachable")
	if err := open(t, trio()).Check(t.Context(), "job"); !errors.Is(err, election.ErrUnreachable) || strings.Contains(err.Error(), a.Addr()) {
		t.Errorf("Check gives %v", err)
	}
	// Nothing was written.
	for _, s := range []*redisproc.Server{a, b} {
		r := redis.NewClient(&redis.Options{Addr: s.Addr()})
		if n, err := r.DBSize(t.Context()).Result(); err != nil || n != 0 {
			t.Errorf("%d keys, %v", n, err)
		}
		noErr(t, r.Close())
	}
}

// A replica has no vote in a quorum, which nothing cures; in single mode it may be
// promoted. Its primary is good for single.
func TestPreflightReplica(t *testing.T) {
	t.Parallel()
	a, b := redistest.StartT(t, keeps), redistest.StartT(t, keeps)
	host, port, _ := strings.Cut(a.Addr(), ":")
	r := redistest.StartT(t, redisproc.Options{Persistence: redisproc.AOF, Args: []string{"replicaof", host + " " + port}})
	found := notWarnings(preflight(t, quiet(ModeQuorum, a.Addr(), b.Addr(), r.Addr()), "job"))
	wantFound(t, found, "error "+r.Addr()+" read-only", "info "+a.Addr()+" replicas")
	if !found[0].Permanent {
		t.Errorf("waiting helps: %s", found[0])
	}
	alone := preflight(t, quiet(ModeSingle, r.Addr()), "job")
	wantFound(t, alone, "error "+r.Addr()+" read-only")
	if alone[0].Permanent {
		t.Errorf("waiting does not help: %s", alone[0])
	}
	with := quiet(ModeSingle, a.Addr())
	wantFound(t, preflight(t, with, "job"), "info "+a.Addr()+" replicas")
	with.ReplicaAcks = 1
	wantFound(t, preflight(t, with, "job"))
	with.ReplicaAcks = 2
	wantFound(t, preflight(t, with, "job"), "error "+a.Addr()+" not-replicated")
}

// What one real server shows, as it is and after a change of its settings.
func TestPreflightOneServer(t *testing.T) {
	t.Parallel()
	s := startPlain(t)
	admin := redis.NewClient(&redis.Options{Addr: s.Addr()})
	defer admin.Close()
	set := func(directives ...any) {
		t.Helper()
		for pair := range slices.Chunk(directives, 2) {
			noErr(t, admin.Do(t.Context(), "CONFIG", "SET", pair[0], pair[1]).Err())
		}
	}
	for _, tt := range []struct {
		name   string
		set    []any
		change func(*Config)
		want   []string
		says   string
	}{
		{"keeps nothing", nil, nil, []string{"info persistence"}, "nothing is kept"},
		{"keeps nothing, no restart guard", nil, func(c *Config) { c.GuardsOff = election.RestartGuard }, []string{"warning configuration", "warning persistence"}, "the restart guard is off"},
		{"snapshots", []any{"save", "3600 1"}, nil, []string{"info persistence"}, "only snapshots are kept (save 3600 1)"},
		{"append-only, each second", []any{"save", "", "appendonly", "yes", "appendfsync", "everysec"}, nil, []string{"info persistence"}, "appendfsync is everysec"},
		{"append-only, always", []any{"appendfsync", "always"}, nil, nil, ""},
		{"evicts all, without a limit", []any{"maxmemory-policy", "allkeys-lru"}, nil, []string{"warning eviction"}, "as soon as maxmemory is set"},
		{"evicts all", []any{"maxmemory", "1gb"}, nil, []string{"warning eviction"}, "maxmemory-policy is allkeys-lru: leases and records may be evicted when the 1073741824 bytes"},
		{"evicts what expires", []any{"maxmemory-policy", "volatile-ttl"}, nil, []string{"warning eviction"}, "volatile-ttl"},
		{"evicts what expires, without a limit", []any{"maxmemory", "0"}, nil, []string{"info eviction"}, "volatile-ttl"},
		{"full", []any{"maxmemory-policy", "noeviction", "maxmemory", "1000"}, nil, []string{"error out-of-memory"}, "maxmemory is 1000"},
		{"too few replicas", []any{"maxmemory", "0", "min-replicas-to-write", "2"}, nil, []string{"error no-replicas"}, "0 good replicas, min-replicas-to-write is 2"},
		{"good again", []any{"min-replicas-to-write", "0"}, nil, nil, ""},
	} {
		set(tt.set...)
		c := quiet(ModeSingle, s.Addr())
		if tt.change != nil {
			tt.change(c)
		}
		found := preflight(t, c, "job")
		var got []string
		for _, f := range found {
			if f.Code != "guards-wait" {
				got = append(got, fmt.Sprintf("%s %s", f.Severity, f.Code))
			}
		}
		if !slices.Equal(got, tt.want) || !strings.Contains(full(found), tt.says) {
			t.Errorf("%s: found %q, want %q with %q:\n%s", tt.name, got, tt.want, tt.says, full(found))
		}
	}
}

// A user with the rights of docs/protocol.md is enough, and what is missing is named
// without a write: in front of the scripts, within them, and for the wake-ups.
func TestPreflightRights(t *testing.T) {
	t.Parallel()
	s := redistest.StartT(t, keeps)
	admin := redis.NewClient(&redis.Options{Addr: s.Addr()})
	defer admin.Close()
	// A lease and its record, which must not be touched.
	noErr(t, admin.Set(t.Context(), "incumbent:{job}:lease", "v", time.Hour).Err())
	noErr(t, admin.HSet(t.Context(), "incumbent:{job}:record", "last", "7", "token", "7").Err())
	const need = "on >" + hunter + " resetchannels ~incumbent:{*}:lease ~incumbent:{*}:record &incumbent:{*}:released +evalsha +eval +get +set +del +pttl +pexpire +hset +hmget +time +info +publish +subscribe +ping "
	for i, tt := range []struct {
		without, with string
		want          []string
		says          string
	}{
		{"", "+config|get", nil, ""},
		{"", "", []string{"info unknown"}, "CONFIG GET is refused"},
		{"+info ", "+config|get", []string{"info unknown", "info unknown"}, "INFO is refused"},
		{"+set ", "+config|get", []string{"error permission"}, "the user may not run SET on the keys"},
		{"+set +del +pttl +pexpire +hset +hmget +time ", "+config|get", []string{"error permission"}, "can't run this command"},
		{"+del ", "+config|get", []string{"error permission"}, "may not run DEL"},
		{"+pexpire +hset ", "+config|get", []string{"error permission"}, "may not run PEXPIRE, HSET on"},
		{"~incumbent:{*}:lease ", "~incumbent:{other}:lease +config|get", []string{"error permission"}, "permission"},
		{"+publish ", "+config|get", []string{"warning no-wake-ups"}, "may not publish"},
		{"+subscribe ", "+config|get", []string{"warning no-wake-ups"}, "may not subscribe"},
		{"&incumbent:{*}:released ", "+config|get", []string{"warning no-wake-ups", "warning no-wake-ups"}, "may not publish"},
		{"+evalsha ", "+config|get", []string{"error scripts-disabled"}, "EVAL and EVALSHA"},
	} {
		user := fmt.Sprint("user", i)
		args := []any{"ACL", "SETUSER", user}
		for word := range strings.FieldsSeq(strings.Replace(need, tt.without, "", 1) + tt.with) {
			args = append(args, word)
		}
		noErr(t, admin.Do(t.Context(), args...).Err())
		c := quiet(ModeSingle, s.Addr())
		c.Username, c.Password = user, hunter
		found := preflight(t, c, "job")
		var got []string
		for _, f := range found {
			if f.Code != "guards-wait" {
				got = append(got, fmt.Sprintf("%s %s", f.Severity, f.Code))
			}
		}
		if !slices.Equal(got, tt.want) || !strings.Contains(full(found), tt.says) || strings.Contains(full(found), hunter) {
			t.Errorf("without %q: found %q, want %q with %q:\n%s", tt.without, got, tt.want, tt.says, full(found))
		}
	}
	wrong := quiet(ModeSingle, s.Addr())
	wrong.Username, wrong.Password = "user0", "wrong"+hunter
	found := preflight(t, wrong, "job")
	wantFound(t, found, "error "+s.Addr()+" auth")
	if strings.Contains(full(found), hunter) {
		t.Errorf("the password shows: %s", full(found))
	}
	withAcks := quiet(ModeSingle, s.Addr())
	withAcks.Username, withAcks.Password, withAcks.ReplicaAcks = "user0", hunter, 1
	if found := preflight(t, withAcks, "job"); !strings.Contains(full(found), "not-replicated") {
		t.Errorf("found %s", full(found))
	}
	lease, left := admin.Get(t.Context(), "incumbent:{job}:lease").Val(), admin.PTTL(t.Context(), "incumbent:{job}:lease").Val()
	record, kept := admin.HGetAll(t.Context(), "incumbent:{job}:record").Val(), admin.PTTL(t.Context(), "incumbent:{job}:record").Val()
	if lease != "v" || left < 30*time.Minute || len(record) != 2 || record["last"] != "7" || kept != -1 {
		t.Errorf("lease %q for %s, record %v for %s", lease, left, record, kept)
	}
}

// A certificate for another name, and a Sentinel in place of a server.
func TestPreflightWrongPlace(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	named := secure(t, ca, func(c *x509.Certificate) { c.IPAddresses = nil })
	c := quiet(ModeSingle, named)
	c.TLS.CAFile = ca.file
	found := preflight(t, c, "job")
	wantFound(t, found, "error "+named+" tls")
	if !strings.Contains(found[0].Remedy, "server name") {
		t.Errorf("found %s", found[0])
	}
	primary := startPlain(t)
	watcher := redistest.StartT(t, redisproc.Options{Sentinel: &redisproc.Sentinel{
		Name: "mymaster", Primary: primary.Addr(), Quorum: 1, DownAfter: time.Minute, FailoverTimeout: time.Minute,
	}})
	found = preflight(t, quiet(ModeSingle, watcher.Addr()), "job")
	wantFound(t, found, "error "+watcher.Addr()+" wrong-client")
	if !found[0].Permanent || !strings.Contains(found[0].Remedy, "single.sentinel.addresses") {
		t.Errorf("found %s", found[0])
	}
}

// Servers that answer in other ways than a present one: too old, without most of
// INFO, and with a failing disk.
func TestPreflightStubs(t *testing.T) {
	t.Parallel()
	for info, want := range map[string][]string{
		"redis_version:2.6.0\r\nrole:master\r\n": {"error too-old"},
		"role:master\r\n":                        {"error scripts-disabled"},
	} {
		srv, err := stub.NewServer("127.0.0.1:0")
		noErr(t, err)
		noErr(t, srv.Register("INFO", func(c *stub.Peer, _ string, _ []string) { c.WriteBulk(info) }))
		var got []string
		for _, f := range preflight(t, quiet(ModeSingle, srv.Addr().String()), "job") {
			got = append(got, fmt.Sprintf("%s %s", f.Severity, f.Code))
			if !f.Permanent {
				t.Errorf("waiting helps: %s", f)
			}
		}
		srv.Close()
		if !slices.Equal(got, want) {
			t.Errorf("%q: found %q, want %q", info, got, want)
		}
	}
}

// TestWaitFails: only what the server calls a missing right is one.
func TestWaitFails(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		answer, code, remedy string
	}{
		{"NOPERM this user has no permissions to run the 'wait' command", "permission", "grant the ACL user WAIT"},
		{"LOADING Redis is loading the dataset in memory", "loading", "wait until"},
		{"READONLY You can't write against a read only replica.", "read-only", "Sentinel"},
		{"ERR unknown command 'WAIT'", "rejected", "replica_acks to be 0"},
		{"", "unreachable", "see that the server runs"}, // no answer in time
	} {
		srv, err := stub.NewServer("127.0.0.1:0")
		noErr(t, err)
		hang := make(chan struct{})
		noErr(t, srv.Register("WAIT", func(c *stub.Peer, _ string, _ []string) {
			if tt.answer == "" {
				<-hang
				return
			}
			c.WriteError(tt.answer)
		}))
		c := fast(ModeSingle, srv.Addr().String())
		c.ReplicaAcks = 1
		cl := &Client{cfg: c.withDefaults()} // none is opened at such a server
		r := redis.NewClient(&redis.Options{Addr: srv.Addr().String(), MaxRetries: -1, ContextTimeoutEnabled: true})
		keys, err := vote.NewKeys(cl.cfg.Prefix, "job")
		noErr(t, err)
		found := cl.rightsOf(t.Context(), r, "server", keys, "")
		close(hang)
		noErr(t, r.Close())
		srv.Close()
		got := found[len(found)-1]
		if got.Code != tt.code || !strings.Contains(got.Remedy, tt.remedy) || !strings.Contains(got.Message, "WAIT, which replica_acks needs") {
			t.Errorf("%q: found %s", tt.answer, got)
		}
	}
}

// TestFacts judges what real servers are not easily brought to say.
func TestFacts(t *testing.T) {
	cl := &Client{cfg: quiet(ModeSingle, "a").withDefaults()}
	good := map[string]string{"redis_version": "7.0.15", "aof_enabled": "1"}
	always := map[string]string{"appendfsync": "always"}
	refused := errors.New("NOPERM")
	for name, tt := range map[string]struct {
		info, config map[string]string
		configErr    error
		want         string
	}{
		"good":                            {good, always, nil, ""},
		"version is hidden":               {map[string]string{"aof_enabled": "1"}, always, nil, "info unknown"},
		"AOF cannot be written":           {map[string]string{"redis_version": "7.0.15", "aof_enabled": "1", "aof_last_write_status": "err"}, always, nil, "error persistence-failing"},
		"snapshots fail":                  {map[string]string{"redis_version": "7.0.15", "rdb_last_bgsave_status": "err"}, map[string]string{"save": "60 1", "stop-writes-on-bgsave-error": "yes"}, nil, "error persistence-failing"},
		"snapshots fail, and may":         {map[string]string{"redis_version": "7.0.15", "aof_enabled": "1", "rdb_last_bgsave_status": "err"}, map[string]string{"save": "60 1", "stop-writes-on-bgsave-error": "no", "appendfsync": "always"}, nil, ""},
		"snapshots fail, settings hidden": {map[string]string{"redis_version": "7.0.15", "rdb_last_bgsave_status": "err"}, nil, refused, "info unknown, warning persistence-failing"},
		"replicas needed, hidden how many": {map[string]string{"redis_version": "7.0.15", "aof_enabled": "1", "min_slaves_good_slaves": "0"},
			nil, refused, "info unknown, error no-replicas"},
		"replicas needed and there": {map[string]string{"redis_version": "7.0.15", "aof_enabled": "1", "min_slaves_good_slaves": "1"},
			map[string]string{"appendfsync": "always", "min-replicas-to-write": "1"}, nil, "info min-replicas"},
		"evicts some, settings hidden": {map[string]string{"redis_version": "7.0.15", "aof_enabled": "1", "maxmemory": "100", "maxmemory_policy": "volatile-lru"},
			nil, refused, "info unknown, warning eviction"},
	} {
		var got []string
		for _, f := range (facts{name: "a:1", info: tt.info, config: tt.config, configErr: tt.configErr}).findings(cl) {
			got = append(got, fmt.Sprintf("%s %s", f.Severity, f.Code))
			if f.Server != "a:1" {
				t.Errorf("%s: server %q", name, f.Server)
			}
		}
		if strings.Join(got, ", ") != tt.want {
			t.Errorf("%s: found %q, want %q", name, got, tt.want)
		}
	}
}

// Clocks that differ by more than answers took to come are told of.
func TestClockDifference(t *testing.T) {
	at := func(name string, least, most time.Duration) facts {
		return facts{name: name, clock: offset{true, least, most}}
	}
	for name, tt := range map[string]struct {
		seen []facts
		want string
	}{
		"alike":         {[]facts{at("a", 0, time.Second), at("b", -time.Second, 2*time.Second)}, ""},
		"a slow answer": {[]facts{at("a", 0, time.Millisecond), at("b", 0, 9*time.Second)}, ""},
		"one unread":    {[]facts{at("a", 0, 1), {name: "b"}, at("c", 1, 2)}, ""},
		"ahead":         {[]facts{at("a", 0, time.Second), at("b", 3*time.Second, 4*time.Second), at("c", 0, 0)}, "b and c: clock-difference: their clocks differ by at least 3s"},
		"behind":        {[]facts{at("a", 0, time.Second), at("b", -4*time.Second, -3*time.Second)}, "a and b: clock-difference: their clocks differ by at least 3s"},
	} {
		got := clockFindings(tt.seen)
		if (tt.want == "") != (len(got) == 0) || tt.want != "" && !strings.HasPrefix(got[0].String(), "warning: "+tt.want) {
			t.Errorf("%s: found %v, want %q", name, got, tt.want)
		}
	}
}

// The code of every kind of refusal stands fast.
func TestCodes(t *testing.T) {
	cl := &Client{cfg: quiet(ModeSingle, "a").withDefaults()}
	seen := map[string]bool{}
	for _, k := range kinds {
		f := cl.fault(&election.MasterError{Master: "a:1", Op: "check", Kind: k.kind, Err: errors.New("why")})
		if f.Code != k.code || seen[k.code] || f.Message != "why" || f.Server != "a:1" || f.Permanent != election.Permanent(k.kind) {
			t.Errorf("%v: %+v", k.kind, f)
		}
		seen[k.code] = true
	}
	if f := cl.fault(errors.New("a\nb")); f.Code != "rejected" || f.Message != "a; b" {
		t.Errorf("%+v", f)
	}
	if f := cl.fault(&election.MasterError{Kind: election.ErrLoading}); f.Message != "store loading" {
		t.Errorf("%+v", f)
	}
	if _, err := vote.NewKeys("", probe); err != nil {
		t.Error(err)
	}
}

// A name that is none, and a configuration that is none, are errors.
func TestPreflightRefuses(t *testing.T) {
	if _, err := quiet(ModeSingle, "127.0.0.1:1").Preflight(t.Context(), "no name"); err == nil || !strings.Contains(err.Error(), "election name") {
		t.Errorf("got %v", err)
	}
	if _, err := fast(ModeQuorum, "a", "b").Preflight(t.Context(), "job"); err == nil || !strings.Contains(err.Error(), "quorum.masters") {
		t.Errorf("got %v", err)
	}
}
