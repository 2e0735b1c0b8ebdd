package config

import (
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"incumbent/election"
)

const (
	one   = "mode: single\nsingle: {address: a}\n"
	three = "mode: quorum\nquorum: {masters: [a, b, c]}\n"

	noMode    = `mode: is missing: give "single" or "quorum"` + "\n"
	noSect    = "single: is missing, and so is quorum: give single.address (or sentinel, or cluster) for mode single, quorum.masters for mode quorum\n"
	guardRule = "must be of restart,failover,no-record,early-expiry,clock, or all, or none"
	known     = "known here: mode, id, metadata, ttl, max_ttl, renew, step_down, grace, max_term, timeout, dial_timeout, prefix, retention, guards_off, assume_new, replica_acks, db, username, password, password_file, tls, single, quorum\n"
)

// TestRefusedFiles has each rule with the whole error that it gives.
func TestRefusedFiles(t *testing.T) {
	for _, tt := range []struct{ name, yaml, want string }{
		// Timing that cannot work (E01).
		{"ttl zero", one + "ttl: 0s", `ttl "0s" (line 3): must be more than 0: leave it out for the default`},
		{"ttl negative", one + "ttl: -5s", `ttl "-5s" (line 3): must not be negative`},
		{"ttl tiny", one + "ttl: 49ms\nrenew: 1s", `ttl "49ms" (line 3): must be at least 50ms`},
		{"ttl fraction", one + "ttl: 100500us", `ttl "100.5ms" (line 3): must be a whole number of milliseconds`},
		{"renew zero", one + "renew: 0s", `renew "0s" (line 3): must be more than 0: leave it out for the default`},
		{"renew too long", one + "ttl: 3s\nrenew: 1001ms", `renew "1.001s" (line 4): must be at most TTL/3 = 1s, so that two tries can fail`},
		{"step_down too long", one + "ttl: 3s\nstep_down: 2s", `step_down "2s" (line 4): must be at most TTL/3 = 1s, so that a renewal fits before it`},
		{"max_ttl too short", one + "ttl: 3s\nmax_ttl: 2s", `ttl "3s" (line 3): must be at most MaxTTL = 2s: guards would end before a lease does`},
		{"max_ttl below the default", one + "max_ttl: 2s", `ttl "15s": must be at most MaxTTL = 2s: guards would end before a lease does`},
		{"max_ttl fraction", one + "max_ttl: 20000001us", `max_ttl "20.000001s" (line 3): must be a whole number of milliseconds`},
		{"max_ttl zero", one + "max_ttl: 0s", `max_ttl "0s" (line 3): must be more than 0: leave it out for the default`},
		{"max_term short", one + "ttl: 3s\nmax_term: 1s", `max_term "1s" (line 4): must be at least TTL = 3s`},
		{"timeout equal", one + "ttl: 3s\ntimeout: 1500ms", `timeout "1.5s" (line 4): must be less than ttl/2 = 1.5s, so that a second try fits`},
		{"timeout tiny", one + "timeout: 1us", `timeout "1µs" (line 3): must be at least 1ms`},
		{"dial_timeout", one + "ttl: 3s\ndial_timeout: 2s", `dial_timeout "2s" (line 4): must be less than ttl/2 = 1.5s, so that a second try fits`},
		{"all at once", one + "ttl: 3s\nrenew: 2s\ntimeout: 2s\ngrace: -1s", `grace "-1s" (line 6): must not be negative` + "\n" +
			`renew "2s" (line 4): must be at most TTL/3 = 1s, so that two tries can fail` + "\n" +
			`timeout "2s" (line 5): must be less than ttl/2 = 1.5s, so that a second try fits`},

		// Guards of the store.
		{"guard misspelt", one + "guards_off: clok", `guards_off "clok" (line 3): ` + guardRule + ": did you mean clock?"},
		{"guard of another style", one + "guards_off: restart, No_Record", `guards_off "restart,…" (line 3): "No_Record" ` + guardRule + ": did you mean no-record?"},
		{"guards in a list", one + "guards_off:\n- clock\n- fail-over\n- sundial", `guards_off[1] "fail-over" (line 5): ` + guardRule + ": did you mean failover?\n" +
			`guards_off[2] "sundial" (line 6): ` + guardRule},
		{"all guards and more", one + "guards_off: [clock, all]", `guards_off[1] "all" (line 3): must stand alone`},
		{"no guards and more", one + "guards_off: none,clock", `guards_off "none,clock" (line 3): "none" must stand alone`},
		{"empty guard", one + "guards_off: 'clock,'", `guards_off "clock," (line 3): "" ` + guardRule},
		{"empty list of guards", one + "guards_off: []", "guards_off (line 3): is empty: give a value, or remove the key"},
		{"mapping of guards", one + "guards_off: {clock: true}", "guards_off (line 3): must be one value"},
		{"list in a list of guards", one + "guards_off: [[clock]]", "guards_off[0] (line 3): must be one value"},
		{"assume_new", one + "assume_new: yes", `assume_new "yes" (line 3): must be true or false`},
		{"replica_acks", one + "replica_acks: -1", `replica_acks "-1" (line 3): must be a whole number, 0 or more`},

		// Durations without a unit (E03).
		{"number", one + "ttl: 10", `ttl "10" (line 3): needs a unit, such as 10s or 500ms`},
		{"text", one + `ttl: "10"`, `ttl "10" (line 3): needs a unit, such as 10s or 500ms`},
		{"float", one + "ttl: 1e9", `ttl "1e9" (line 3): needs a unit, such as 10s or 500ms`},
		{"nought", one + "max_term: 0", `max_term "0" (line 3): needs a unit, such as 10s or 500ms`},
		{"no duration", one + "ttl: 10 s", `ttl "10…" (line 3): is no duration: write 10s, 500ms or 1m30s`},
		{"days", one + "retention: 30d", `retention "30d" (line 3): is no duration: write 10s, 500ms or 1m30s`},
		{"list", one + "ttl: [10s]", `ttl (line 3): must be one value`},

		// Unknown and repeated keys, and files of a wrong shape (E04).
		{"misspelt", one + "tll: 10s", "unknown key tll (line 3): did you mean ttl?"},
		{"misspelt below", "mode: quorum\nquorum:\n  mastres: [a, b, c]\n", "unknown key quorum.mastres (line 3): did you mean quorum.masters?"},
		{"misspelt in a master", "mode: quorum\nquorum:\n  masters:\n  - a\n  - b\n  - addrss: c\n", "unknown key quorum.masters[2].addrss (line 6): did you mean address?"},
		{"capitals and dashes", one + "Step-Down: 1s", "unknown key Step-Down (line 3): did you mean step_down?"},
		{"wrong level", "mode: single\naddress: a\n", "unknown key address (line 2): did you mean single.address?"},
		{"wrong level of masters", "mode: quorum\nmasters: [a, b, c]\n", "unknown key masters (line 2): did you mean quorum.masters?"},
		{"nothing near", one + "colour: red", "unknown key colour (line 3): " + known},
		{"twice", one + "ttl: 10s\nttl: 11s", "ttl (line 4): is set twice: line 3 has it already"},
		{"section twice", one + "single: {address: b}", "single (line 3): is set twice: line 2 has it already"},
		{"empty file", "", noMode + noSect},
		{"only a mark", "\ufeff", noMode + noSect},
		{"only comments", "# ttl: 10s\n", noMode + noSect},
		{"no value", one + "ttl:\nid: ~", "ttl (line 3): has no value: give one, or remove the key\nid (line 4): has no value: give one, or remove the key"},
		{"empty value", one + `id: ""`, "id (line 3): is empty: leave it out for the default"},
		{"mode", "mode: on\nsingle: {address: a}", `mode "on" (line 1): must be "single", "quorum", or "both" during a move`},
		{"no mode", "single: {address: a}", noMode},
		{"no mapping", "- a\n", "(line 1): the file must be a mapping of keys to values"},
		{"no section", one + "tls: true", "tls (line 3): must be a mapping of keys to values"},
		{"two documents", one + "---\n" + one, "the file must hold one YAML document, not several"},
		{"syntax", "mode: [\n", "(line 1): is not valid YAML: sequence end token ']' not found"},
		{"tab", "mode: single\n\tttl: 3s", "(line 2): is not valid YAML: found character '\t' that cannot start any token"},
		{"anchor", one + "id: &a x", "id (line 3): must be one value; anchors, aliases, merges and tags are not supported"},
		{"merge", one + "<<: {id: x}", "(line 3): a key must be a plain word; anchors, aliases, merges and tags are not supported"},
		{"UTF-16", "\xff\xfem\x00", "the file must be UTF-8 text"},
		{"long file", strings.Repeat("#\n", maxFile), "the file has 131072 bytes: at most 65536"},
		{"long line", strings.Repeat("- ", maxLine), "the file has a line of more than 4096 bytes"},
		{"brackets", strings.Repeat("[\n", maxBrackets+1), "the file has more than 1000 opening brackets"},
		{"boolean", one + "tls: {enabled: yes}", `tls.enabled "yes" (line 3): must be true or false`},
		{"db", one + "db: -1", `db "-1" (line 3): must be a whole number, 0 or more`},
		{"metadata", one + "metadata: {a: [b]}", "metadata (line 3): must be a mapping of names to texts, each name once"},
		{"metadata twice", one + "metadata: {a: b, a: c}", "metadata (line 3): must be a mapping of names to texts, each name once"},
		{"metadata long", one + "metadata: {a: " + strings.Repeat("x", 4000) + ", b: " + "\n " + strings.Repeat("y", 100) + "}", `metadata "4102…" (line 3): must be at most 4096 bytes in all`},
		{"id", one + "id: " + strings.Repeat("x", 257), `id "257…" (line 3): must be at most 256 bytes`},
		{"prefix", one + "prefix: 'a{b'", "prefix (line 3): must not contain { or }, which belong to the hash tag"},
		{"retention", one + "retention: 1m", `retention "1m0s" (line 3): must be at least 1h0m0s`},

		// Too few masters, the same one twice, a wrong shape (E08).
		{"two masters", "mode: quorum\nquorum: {masters: [a, b]}", `quorum.masters "2" (line 2): must be at least 3, of which one may fail; for one server use mode single`},
		{"no masters", "mode: quorum\nquorum: {masters: []}", "quorum.masters (line 2): is empty: give a value, or remove the key"},
		{"other section", "mode: quorum\nsingle: {address: a}", "quorum.masters: is missing: mode quorum needs at least 3 masters"},
		{"no single", "mode: single\nquorum: {masters: [a, b, c]}", "single: is missing: mode single needs single.address, single.sentinel or single.cluster"},
		{"not a list", "mode: quorum\nquorum: {masters: 'a,b,c'}", "quorum.masters (line 2): must be a list: [a, b, c], or one - item a line"},
		{"twice by case and port", "mode: quorum\nquorum:\n  masters:\n  - Redis-A\n  - b\n  - redis-a.:6379\n", `quorum.masters[2] "redis-a.:6379" (line 6): is the same server as quorum.masters[0] (Redis-A): each may be given once`},
		{"twice by address", "mode: quorum\nquorum:\n  masters:\n  - '[::1]:1'\n  - b\n  - address: '[0:0::1]:1'\n", `quorum.masters[2] "[0:0::1]:1" (line 6): is the same server as quorum.masters[0] ([::1]:1): each may be given once`},
		{"twice by loopback", "mode: quorum\nquorum: {masters: [localhost, b, '127.0.0.1:6379']}\n", `quorum.masters[2] "127.0.0.1:6379" (line 2): is the same server as quorum.masters[0] (localhost): each may be given once`},
		{"comma", "mode: quorum\nquorum: {masters: [a, b, 'c:1,d:2']}", `quorum.masters[2] "c:1,d:2" (line 2): must be one address, without a comma: several are written as a list`},
		{"single with several", "mode: single\nsingle: {address: 'a:1,b:2'}", `single.address "a:1,b:2" (line 2): must be one address, without a comma: several are written as a list`},
		{"single with a list", "mode: single\nsingle: {address: [a, b]}", "single.address (line 2): must be one value"},
		{"master without address", "mode: quorum\nquorum: {masters: [a, b, {username: x}]}", "quorum.masters[2] (line 2): is missing: give host:port"},
		{"number as master", "mode: quorum\nquorum: {masters: [a, b, [c]]}", "quorum.masters[2] (line 2): must be an address, or a mapping with the key address"},
		{"both of one", "mode: single\nsingle: {address: a, sentinel: {master: m, addresses: [s]}}", "single (line 2): has address and sentinel: needs exactly one of address, sentinel and cluster"},
		{"none of them", "mode: single\nsingle: {username: u}", "single (line 2): has no address: needs exactly one of address, sentinel and cluster"},
		{"sentinel without name", "mode: single\nsingle: {sentinel: {addresses: [s]}}", "single.sentinel.master (line 2): is missing: give the name under which the Sentinels know the primary"},
		{"sentinel without addresses", "mode: single\nsingle: {sentinel: {master: m}}", "single.sentinel.addresses (line 2): is missing: give the addresses of the Sentinels"},
		{"cluster database", "mode: single\nsingle: {cluster: {addresses: [a, 'a:6379']}}\ndb: 3", `single.cluster.addresses[1] "a:6379" (line 2): is the same server as single.cluster.addresses[0] (a): each may be given once` + "\n" +
			`db "3" (line 3): must be 0 with single.cluster: a Cluster has no other database`},
		{"other section is checked", one + "quorum: {masters: [a]}", `quorum.masters "1" (line 3): must be at least 3, of which one may fail; for one server use mode single`},

		// Addresses.
		{"scheme", "mode: single\nsingle: {address: 'redis://a:1'}", `single.address "redis://a:1" (line 2): must be host:port: no scheme, user, password or path (see the keys tls, username and password_file)`},
		{"port", "mode: single\nsingle: {address: 'a:70000'}", `single.address "a:70000" (line 2): must be host:port: the port is a number from 1 to 65535`},
		{"port zero", "mode: single\nsingle: {address: 'a:0'}", `single.address "a:0" (line 2): must be host:port: the port is a number from 1 to 65535`},
		{"no host", "mode: single\nsingle: {address: ':1'}", `single.address ":1" (line 2): must be host:port: this is no name or address of a host`},
		{"no brackets", "mode: single\nsingle: {address: '::1:6379'}", `single.address "::1:6379" (line 2): must be host:port: an IPv6 address needs brackets, such as [::1]:6379`},

		// Access.
		{"password twice", one + "password: a\npassword_file: b", "password (line 3): excludes password_file: give one of them"},
		{"no such file", one + "password_file: hunter2", "password_file (line 3): the file cannot be read: no such file or directory"},
		{"no CA", one + "tls: {ca_file: no.pem}", "tls.ca_file (line 3): the file cannot be read: no such file or directory"},
		{"certificate without key", one + "tls: {cert_file: a}", "tls.cert_file (line 3): needs tls.key_file with it"},
		{"key without certificate", one + "tls: {key_file: a}", "tls.key_file (line 3): needs tls.cert_file with it"},
		{"insecure with CA", three + "single: {address: a, tls: {insecure: true, ca_file: x}}", `single.tls.insecure "true" (line 3): must be false with tls.ca_file: nothing would be verified with it`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parseText(tt.yaml)
			if err == nil {
				t.Fatalf("accepted, want %s", tt.want)
			}
			if want := strings.TrimSuffix(tt.want, "\n"); err.Error() != want {
				t.Errorf("got\n%v\nwant\n%s", err, want)
			}
		})
	}
}

// TestUnitIsNeededEverywhere is case E03: the same words from each source.
func TestUnitIsNeededEverywhere(t *testing.T) {
	for _, value := range []string{"10", "1e9", "0", "-5"} {
		for where, s := range map[string]Sources{
			"line 3":        {YAML: []byte(one + "ttl: " + value)},
			"INCUMBENT_TTL": {YAML: []byte(one), Environ: []string{"INCUMBENT_TTL=" + value}},
			"--ttl":         {YAML: []byte(one), Flags: Flags{"ttl": value}},
		} {
			if s.Environ == nil {
				s.Environ = []string{}
			}
			_, err := LoadFrom(s)
			want := `ttl "` + value + `" (` + where + "): needs a unit, such as 10s or 500ms"
			if err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		}
	}
}

// TestAcceptedFiles is the other half of case E04, and what is easily refused
// by mistake.
func TestAcceptedFiles(t *testing.T) {
	for name, text := range map[string]string{
		"BOM and CRLF":   "\ufeffmode: single\r\nsingle:\r\n  address: a\r\nttl: 10s\r\n",
		"capitals":       "mode: Quorum\nquorum: {masters: [a:1, b:2, c:3]}",
		"block list":     "mode: QUORUM\nquorum:\n  masters:\n  - a:1\n  - b:2\n  - address: c:3\n",
		"nested braces":  "{mode: quorum, quorum: {masters: [a:1, 'b:2', {address: c:3}]}}",
		"directive":      "%YAML 1.2\n---\n" + one,
		"both sections":  three + "single: {address: a}",
		"sentinel":       "mode: single\nsingle: {sentinel: {master: m, addresses: [a:1, b:2]}}",
		"cluster":        "mode: single\nsingle: {cluster: {addresses: [a:1, b]}}",
		"other's files":  one + "quorum: {masters: [a, b, {address: c, password_file: no-such-file}]}",
		"numbers as is":  one + "id: 007\npassword: 0x1F",
		"one guard":      one + "guards_off: Clock",
		"guards":         one + "guards_off: restart, clock",
		"list of guards": one + "guards_off: [restart, no-record]",
		"no guards off":  one + "guards_off: [none]",
		"equal max_ttl":  one + "ttl: 3s\nmax_ttl: 3s",
		"zero max_term":  one + "max_term: 0s",
		"smallest ttl":   one + "ttl: 50ms",
		"renew at limit": one + "ttl: 3s\nrenew: 1s\nstep_down: 1s\ntimeout: 1499ms",
	} {
		if c, err := parseText(text); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if err := c.Validate(); err != nil {
			t.Errorf("%s: loaded, but: %v", name, err)
		}
	}
}

func TestValues(t *testing.T) {
	c := mustLoad(t, Sources{YAML: []byte(`
mode: quorum
id: 007
metadata: {zone: eu-1, n: 1}
quorum:
  masters:
    - a:1
    - b
    - {address: c:3, username: u, password: 0x1F, tls: {enabled: false, server_name: s}}
single: {sentinel: {master: m, addresses: [x], username: su, password: sp}}
username: v
password: |
  line
tls: {insecure: true}
ttl: 1m30s
max_ttl: 2m
guards_off: [clock, restart]
assume_new: true
replica_acks: 2
renew: 1s
step_down: 2s
grace: 0s
max_term: 1h
timeout: 500ms
dial_timeout: 100ms
prefix: p
retention: 48h
`)})
	c.from = nil
	want := &Config{
		Mode: ModeQuorum, ID: "007", Metadata: map[string]string{"zone": "eu-1", "n": "1"},
		Quorum: Quorum{Masters: []Master{{Address: "a:1"}, {Address: "b"}, {Address: "c:3", Access: Access{
			Username: "u", Password: "0x1F", TLS: TLS{Enabled: new(false), ServerName: "s"},
		}}}},
		Single: Single{Sentinel: Sentinel{Master: "m", Addresses: []string{"x"}, Username: "su", Password: "sp"}},
		Access: Access{Username: "v", Password: "line", TLS: TLS{Insecure: new(true)}},
		TTL:    90 * time.Second, MaxTTL: 2 * time.Minute, GuardsOff: election.RestartGuard | election.ClockGuard, AssumeNew: true, ReplicaAcks: 2, Renew: time.Second, StepDown: 2 * time.Second, Grace: -1, MaxTerm: time.Hour,
		Timeout: 500 * time.Millisecond, DialTimeout: 100 * time.Millisecond, Prefix: "p", Retention: 48 * time.Hour,
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got\n%v\nwant\n%v", c, want)
	}
}

func TestPrecedence(t *testing.T) {
	file := []byte(one + "ttl: 10s\nrenew: 1s\nstep_down: 1s\nid: file\n")
	c := mustLoad(t, Sources{
		YAML:    file,
		Environ: []string{"INCUMBENT_TTL=20s", "INCUMBENT_RENEW=2s", "PATH=x", "INCUMBENT_SINGLE_ADDRESS=b:1"},
		Flags:   Flags{"ttl": "30s"},
	})
	if c.TTL != 30*time.Second || c.Renew != 2*time.Second || c.StepDown != time.Second || c.ID != "file" || c.Single.Address != "b:1" {
		t.Errorf("got %v", c)
	}
	c = mustLoad(t, Sources{Environ: []string{
		"INCUMBENT_MODE=Quorum", "INCUMBENT_QUORUM_MASTERS=a:1, b:2,c:3", "INCUMBENT_METADATA=k=v,l=w=x", "INCUMBENT_TLS_ENABLED=TRUE",
		"INCUMBENT_PASSWORD=pw", "INCUMBENT_GUARDS_OFF=clock, Failover", "INCUMBENT_ASSUME_NEW=True", "INCUMBENT_SINGLE_CLUSTER_ADDRESSES=x,y",
	}})
	if len(c.Quorum.Masters) != 3 || c.Quorum.Masters[1].Address != "b:2" || c.Metadata["l"] != "w=x" || !c.TLS.on() ||
		c.Password != "pw" || c.GuardsOff.String() != "failover,clock" || !c.AssumeNew || !slices.Equal(c.Single.Cluster.Addresses, []string{"x", "y"}) {
		t.Errorf("from variables alone: %v", c)
	}
}

// TestListIsReplacedWhole: what the file said about the old entries is gone.
func TestListIsReplacedWhole(t *testing.T) {
	file := "mode: quorum\nquorum:\n  masters:\n  - {address: a, username: u}\n  - b\n  - c\n"
	c := mustLoad(t, Sources{YAML: []byte(file), Environ: []string{"INCUMBENT_QUORUM_MASTERS=x,y,z"}})
	if want := []Master{{Address: "x"}, {Address: "y"}, {Address: "z"}}; !reflect.DeepEqual(c.Quorum.Masters, want) {
		t.Errorf("got %v", c.Quorum.Masters)
	}
	_, err := LoadFrom(Sources{YAML: []byte(file), Environ: []string{"INCUMBENT_QUORUM_MASTERS=x,y,x"}})
	want := `quorum.masters[2] "x" (INCUMBENT_QUORUM_MASTERS): is the same server as quorum.masters[0] (x): each may be given once`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestPasswordReplacesFile and the other way round, across sources only.
func TestPasswordReplacesFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pw")
	noErr(t, os.WriteFile(file, []byte("x"), 0o600))
	c := mustLoad(t, Sources{YAML: []byte(one + "password_file: " + file), Environ: []string{"INCUMBENT_PASSWORD=new"}})
	if c.Password != "new" || c.PasswordFile != "" {
		t.Errorf("password %q, file %q", string(c.Password), c.PasswordFile)
	}
	c = mustLoad(t, Sources{YAML: []byte(one + "password: old"), Flags: Flags{"password-file": file}})
	if c.Password != "" || c.PasswordFile != file {
		t.Errorf("password %q, file %q", string(c.Password), c.PasswordFile)
	}
	_, err := LoadFrom(Sources{YAML: []byte(one), Environ: []string{"INCUMBENT_PASSWORD=a", "INCUMBENT_PASSWORD_FILE=" + file}})
	if want := "password (INCUMBENT_PASSWORD): excludes password_file: give one of them"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestUnknownVariables(t *testing.T) {
	load := func(ignore []string, environ ...string) error {
		_, err := LoadFrom(Sources{YAML: []byte(one), Environ: environ, Ignore: ignore})
		return err
	}
	for in, want := range map[string]string{
		"INCUMBENT_TLL=10s":         "unknown variable INCUMBENT_TLL: did you mean INCUMBENT_TTL?",
		"INCUMBENT_TLS_CAFILE=x":    "unknown variable INCUMBENT_TLS_CAFILE: did you mean INCUMBENT_TLS_CA_FILE?",
		"INCUMBENT_WHATEVER_ELSE=x": "unknown variable INCUMBENT_WHATEVER_ELSE: no setting has this name",
		"INCUMBENT_TTL=":            "ttl (INCUMBENT_TTL): is empty: unset the variable for the default",
		"INCUMBENT_METADATA=a":      "metadata (INCUMBENT_METADATA): must be name=value,name=value with each name once",
		"INCUMBENT_MODE=on":         `mode "on" (INCUMBENT_MODE): must be "single", "quorum", or "both" during a move`,
	} {
		if err := load(nil, in); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", in, err, want)
		}
	}
	for _, in := range []string{
		"INCUMBENT_REQUIRE_REDIS=1", "INCUMBENT_PORT=tcp://1:2", "INCUMBENT_SERVICE_HOST=x", "INCUMBENT_SERVICE_PORT_HTTP=1",
		"INCUMBENT_PORT_6379_TCP_ADDR=x", "INCUMBENT_API_SERVICE_HOST=x", "INCUMBENTS=1", "incumbent_tll=1", "INCUMBENT_MINE=1",
	} {
		if err := load([]string{"INCUMBENT_MINE"}, in); err != nil {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func TestFlags(t *testing.T) {
	set := flag.NewFlagSet("x", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	given := RegisterFlags(set)
	noErr(t, set.Parse([]string{
		"--mode=quorum", "--quorum-masters", "a", "-quorum-masters=b,c", "--tls-enabled", "--ttl", "3s", "--ttl=4s", "--metadata=a=b",
		"--guards-off=clock", "--guards-off", "restart", "--assume-new", "--replica-acks=1", "rest",
	}))
	c := mustLoad(t, Sources{Flags: given})
	if c.GuardsOff != election.ClockGuard|election.RestartGuard || !c.AssumeNew || c.ReplicaAcks != 1 {
		t.Errorf("guards: %v", c)
	}
	if len(c.Quorum.Masters) != 3 || !c.TLS.on() || c.TTL != 4*time.Second || c.Metadata["a"] != "b" || set.Arg(0) != "rest" {
		t.Errorf("got %v", c)
	}
	if set.Lookup("password") != nil || set.Lookup("password-file") == nil {
		t.Error("a password must have no flag, its file one")
	}
	_, err := LoadFrom(Sources{YAML: []byte(one), Environ: []string{}, Flags: Flags{"tll": "1s"}})
	if want := "unknown flag --tll: did you mean --ttl?"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestSettingsHaveDistinctNames(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Settings() {
		for _, name := range []string{s.Key, s.Env, "--" + s.Flag} {
			if seen[name] && name != "--" {
				t.Errorf("%s stands twice", name)
			}
			seen[name] = true
		}
		if s.Usage == "" || s.Secret != (s.Flag == "") || kubernetes.MatchString(s.Env) {
			t.Errorf("%+v", s)
		}
	}
}

// TestPathOfFiles: names in a file are relative to it, others are not.
func TestPathOfFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.yaml")
	noErr(t, os.WriteFile(filepath.Join(dir, "pw"), []byte("secret\r\n"), 0o600))
	noErr(t, os.WriteFile(path, []byte(one+"password_file: pw\nttll: 3s"), 0o600))
	_, err := LoadFrom(Sources{Path: path, Environ: []string{}})
	if want := "unknown key ttll (line 4 of " + path + "): did you mean ttl?"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	noErr(t, os.WriteFile(path, []byte(one+"password_file: pw"), 0o600))
	c := mustLoad(t, Sources{Path: path})
	if p, err := readPassword(c.PasswordFile); err != nil || p != "secret" {
		t.Errorf("password %q, %v", p, err)
	}
	_, err = LoadFrom(Sources{YAML: []byte(one), Environ: []string{"INCUMBENT_PASSWORD_FILE=pw"}})
	if want := "password_file (INCUMBENT_PASSWORD_FILE): the file cannot be read: no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = Load(filepath.Join(dir, "none.yaml"))
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("a missing file gives %v", err)
	}
}

func TestPasswordFiles(t *testing.T) {
	for content, want := range map[string]string{
		"": "the file is empty", "\n": "the file is empty", "a\nb\n": "the file must hold one line, the password",
		"a": "", "a b\n": "", " a\r\n": "",
	} {
		file := filepath.Join(t.TempDir(), "pw")
		noErr(t, os.WriteFile(file, []byte(content), 0o600))
		_, err := parseText(one + "password_file: " + file)
		if want != "" {
			want = "password_file (line 3): " + want
		}
		if got := errorText(err); got != want {
			t.Errorf("%q gives %q, want %q", content, got, want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestFieldErrorCanBeFound(t *testing.T) {
	_, err := parseText(one + "ttl: 10")
	var f *FieldError
	if !errors.As(err, &f) || *f != (FieldError{"ttl", "10", "line 3", "needs a unit, such as 10s or 500ms"}) {
		t.Errorf("got %#v", f)
	}
}

// TestConfigMadeInCode has no places to name.
func TestConfigMadeInCode(t *testing.T) {
	c := Default()
	c.Mode, c.Quorum.Masters = "Quorum", []Master{{Address: "a"}, {Address: "b,c"}, {Address: "d"}}
	c.TTL, c.Timeout, c.DB, c.GuardsOff, c.ReplicaAcks = -time.Second, -1, -1, 1<<7, -1
	want := strings.Join([]string{
		`mode "Quorum": must be "single", "quorum", or "both" during a move`,
		`db "-1": must be 0 or more`,
		`quorum.masters[1] "b,c": must be one address, without a comma: several are written as a list`,
		`ttl "-1s": must be at least 50ms`,
		`guards_off "128": has bits that are no guard's`,
		`replica_acks "-1": must not be negative`,
	}, "\n")
	if got := errorText(c.Validate()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	c = &Config{Mode: ModeSingle, Single: Single{Address: "a"}}
	noErr(t, c.Validate())
}

func TestExampleFile(t *testing.T) {
	text, err := os.ReadFile("../docs/incumbent.example.yaml")
	noErr(t, err)
	for _, mode := range []string{"single", "quorum", "both"} {
		c := mustLoad(t, Sources{YAML: []byte(strings.Replace(string(text), "mode: single\n", "mode: "+mode+"\n", 1))})
		if string(c.Mode) != mode {
			t.Errorf("mode is %s, want %s", c.Mode, mode)
		}
		// Whatever is written out is the default, so that it can be left out.
		d := Default()
		d.TTL, d.Metadata, d.ID, d.Mode, d.Single, d.Quorum, d.Access = 0, c.Metadata, c.ID, c.Mode, c.Single, c.Quorum, c.Access
		if got, want := c.String(), d.String(); got != want {
			t.Errorf("got\n%s\nwant the defaults\n%s", got, want)
		}
	}
	for _, s := range Settings() {
		last := s.Key[strings.LastIndexByte(s.Key, '.')+1:]
		if !strings.Contains(string(text), last+":") {
			t.Errorf("the example does not show %s", s.Key)
		}
	}
	if n := strings.Count(string(text), "mode: "); n != 3 { // the setting, and one comment a section
		t.Errorf("mode stands %d times", n)
	}
}
