package config

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

func TestParseAddress(t *testing.T) {
	for in, want := range map[string]string{
		"a": "a:6379", "A.Example.": "a.example:6379", "a:1": "a:1", "10.0.0.1": "10.0.0.1:6379",
		"[::1]": "[::1]:6379", "[0:0::1]:7": "[::1]:7", "[::ffff:1.2.3.4]:7": "1.2.3.4:7", "under_score-x.y:65535": "under_score-x.y:65535",
	} {
		if got, rule := parseAddress(in, redisPort); got != want || rule != "" {
			t.Errorf("%q gives %q (%s), want %q", in, got, rule, want)
		}
	}
	for _, in := range []string{"", ":", ":1", "a:", "a:b", "a:-1", "a:65536", "a b", "a\n", "[a]:1", "[::1", "[::1]x", "::1", "a:1:2", "a,b", "u@h", "/run/x.sock", "redis://a", "-a", "a-"} {
		if got, rule := parseAddress(in, redisPort); rule == "" {
			t.Errorf("%q is taken as %q", in, got)
		}
	}
}

// opened are the clients that a file leads to; nothing is sent.
func opened(t *testing.T, text string) []redis.UniversalClient {
	t.Helper()
	c, err := parseText(text)
	noErr(t, err)
	var out []redis.UniversalClient
	for _, s := range c.servers() {
		o, err := c.common(s)
		noErr(t, err)
		cl := s.open(o)
		t.Cleanup(func() { noErr(t, cl.Close()) })
		out = append(out, cl)
	}
	return out
}

// TestLeaseOptions: what a lease needs of a client, for each kind of it.
func TestLeaseOptions(t *testing.T) {
	const rest = "ttl: 2s\ntimeout: 300ms\ndial_timeout: 200ms\nusername: u\npassword: p\ntls: {server_name: s}\n"
	check := func(o *redis.Options) {
		t.Helper()
		switch {
		case !o.ContextTimeoutEnabled, o.MaxRetries > 0, o.DialerRetries != 1, !o.DisableIdentity, o.Dialer == nil:
			t.Errorf("%s: retries or deadlines: %+v", o.Addr, o)
		case o.DialTimeout != 200*time.Millisecond, o.ReadTimeout != 300*time.Millisecond, o.WriteTimeout != 300*time.Millisecond, o.PoolTimeout != 300*time.Millisecond:
			t.Errorf("%s: timeouts: %+v", o.Addr, o)
		case o.Username != "u", o.Password != "p", o.TLSConfig == nil, o.TLSConfig.InsecureSkipVerify, o.TLSConfig.MinVersion < 0x303, o.TLSConfig.ServerName != "s":
			t.Errorf("%s: access: %+v", o.Addr, o)
		case o.MaintNotificationsConfig.Mode != maintnotifications.ModeDisabled, o.PoolSize != poolSize:
			t.Errorf("%s: extras: %+v", o.Addr, o)
		}
	}
	check(opened(t, "mode: single\ndb: 2\nsingle: {address: A}\n"+rest)[0].(*redis.Client).Options())
	check(opened(t, "mode: single\nsingle: {sentinel: {master: m, addresses: [x]}}\n"+rest)[0].(*redis.Client).Options())
	for i, c := range opened(t, three+rest) {
		o := c.(*redis.Client).Options()
		check(o)
		if want := string(rune('a'+i)) + ":6379"; o.Addr != want {
			t.Errorf("master %d is %s, want %s", i, o.Addr, want)
		}
	}
	cl := opened(t, "mode: single\nsingle: {cluster: {addresses: [a, b:1]}}\n"+rest)[0].(*redis.ClusterClient)
	o := cl.Options()
	if !o.ContextTimeoutEnabled || o.DialerRetries != 1 || o.DialTimeout != 200*time.Millisecond || o.ReadTimeout != 300*time.Millisecond ||
		o.Password != "p" || o.TLSConfig == nil || o.MaxRedirects <= 0 || !slices.Equal(o.Addrs, []string{"a:6379", "b:1"}) {
		t.Errorf("cluster: %+v", o)
	}
}

func TestSentinelOptions(t *testing.T) {
	c, err := parseText("mode: single\npassword: p\ndb: 3\nsingle: {username: v, sentinel: {master: m, addresses: [x, 'Y:1'], username: su, password: sp}}")
	noErr(t, err)
	co, err := c.common(c.servers()[0])
	noErr(t, err)
	o := co.failover(c.Single.Sentinel)
	if o.MasterName != "m" || !slices.Equal(o.SentinelAddrs, []string{"x:26379", "y:1"}) || o.SentinelUsername != "su" || o.SentinelPassword != "sp" ||
		o.Username != "v" || o.Password != "p" || o.DB != 3 || !o.ContextTimeoutEnabled || o.MaxRetries != -1 || o.DialerRetries != 1 || o.ReplicaOnly || o.TLSConfig != nil {
		t.Errorf("got %+v", o)
	}
}

// TestAccessIsInherited field by field.
func TestAccessIsInherited(t *testing.T) {
	c := Default()
	c.Mode, c.Access = ModeQuorum, Access{Username: "u", Password: "p", TLS: TLS{CAFile: "ca", ServerName: "s"}}
	c.Quorum.Masters = []Master{
		{Address: "a"}, {Address: "b", Access: Access{Username: "v", TLS: TLS{ServerName: "x"}}},
		{Address: "c", Access: Access{PasswordFile: "f", TLS: TLS{Enabled: new(false)}}},
	}
	s := c.servers()
	if a := s[0].access; a.Username != "u" || a.Password != "p" || a.TLS.ServerName != "s" || !a.TLS.on() {
		t.Errorf("a: %+v", a)
	}
	if a := s[1].access; a.Username != "v" || a.Password != "p" || a.TLS.ServerName != "x" || a.TLS.CAFile != "ca" || !a.TLS.on() {
		t.Errorf("b: %+v", a)
	}
	if a := s[2].access; a.Username != "u" || a.Password != "" || a.PasswordFile != "f" || a.TLS.on() {
		t.Errorf("c: %+v", a)
	}
}

func TestTimeoutDefaults(t *testing.T) {
	for ttl, want := range map[time.Duration]time.Duration{0: time.Second, 15 * time.Second: time.Second, time.Second: 250 * time.Millisecond} {
		c := Config{TTL: ttl}.withDefaults()
		if c.Timeout != want || c.DialTimeout != want*3/4 {
			t.Errorf("ttl %s: timeouts %s and %s, want %s", ttl, c.Timeout, c.DialTimeout, want)
		}
	}
}

func TestWarnings(t *testing.T) {
	c, err := parseText("mode: quorum\ntls: {insecure: true}\nquorum: {masters: [a:1, b:1, 'c:1', A:2]}")
	noErr(t, err)
	got := strings.Join(c.Warnings(), "\n")
	for _, want := range []string{
		"quorum.masters: an even number (4) tolerates no more faults than 3",
		"quorum.masters: a:1 and A:2 are on one host, and fail together",
		"a:1: tls.insecure: the certificate is not verified", "b:1: tls.insecure",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no warning %q in\n%s", want, got)
		}
	}
	c, err = parseText(one + "guards_off: [clock, restart]\nassume_new: true")
	noErr(t, err)
	if got := c.Warnings(); len(got) != 2 || !strings.HasPrefix(got[0], "guards_off: restart,clock: ") || !strings.HasPrefix(got[1], "assume_new: ") {
		t.Errorf("got %q", got)
	}
	c, err = parseText(three)
	noErr(t, err)
	if got := c.Warnings(); len(got) != 0 {
		t.Errorf("warned of nothing: %q", got)
	}
}

// TestPasswordFileIsReadAgain for each new connection.
func TestPasswordFileIsReadAgain(t *testing.T) {
	file := writeFile(t, "old\n")
	c, err := parseText(one + "username: u\npassword_file: " + file)
	noErr(t, err)
	o, err := c.common(c.servers()[0])
	noErr(t, err)
	ask := func() string {
		u, p, err := o.userAndPassword(context.Background())
		return u + " " + p + " " + errorText(err)
	}
	if got := ask(); got != "u old " {
		t.Errorf("got %q", got)
	}
	overwrite(t, file, "new")
	if got := ask(); got != "u new " {
		t.Errorf("got %q", got)
	}
	overwrite(t, file, "")
	if got := ask(); got != "u  password_file: the file is empty" {
		t.Errorf("got %q", got)
	}
}
