package config

import (
	"crypto/x509"
	"errors"
	"strings"
	"testing"
	"time"

	"incumbent/election"
	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

// D21: each fault of TLS has an error of its own, which is no contention, comes within
// the time of a connection, and stands in a finding with its remedy.
func TestD21_EachFaultOfTLSIsTold(t *testing.T) {
	t.Parallel()
	ca, other := newAuthority(t), newAuthority(t)
	good := secure(t, ca, nil)
	named := secure(t, ca, func(c *x509.Certificate) { c.IPAddresses = nil })
	selfSigned := secure(t, nil, func(c *x509.Certificate) { c.IsCA, c.BasicConstraintsValid = true, true })
	expired := outOfDate(t, ca, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Hour) })
	early := outOfDate(t, ca, func(c *x509.Certificate) { c.NotBefore = time.Now().Add(30 * time.Minute) })
	needs := secure(t, ca, nil, "tls-auth-clients", "yes")
	plain := redistest.StartT(t, redisproc.Options{}).Addr()
	locked := redistest.StartT(t, redisproc.Options{Password: hunter}).Addr()
	seen := map[string]string{}
	for _, tt := range []struct {
		name, address string
		tls           TLS
		says          string
	}{
		{"self-signed", selfSigned, TLS{Enabled: new(true)}, "unknown authority"},
		{"another authority", good, TLS{CAFile: other.file}, "unknown authority"},
		{"wrong server name", good, TLS{CAFile: ca.file, ServerName: "other.internal"}, "not other.internal"},
		{"not for this address", named, TLS{CAFile: ca.file}, "set the server name"},
		{"expired", expired, TLS{CAFile: ca.file}, "is after"},
		{"not yet valid", early, TLS{CAFile: ca.file}, "is before"},
		{"no client certificate", needs, TLS{CAFile: ca.file}, "give this client's certificate"},
		{"plain port with TLS on", plain, TLS{CAFile: ca.file}, "set tls.enabled: false"},
		{"plain port with a password and TLS on", locked, TLS{CAFile: ca.file}, "set tls.enabled: false"},
		{"TLS port with TLS off", good, TLS{}, "set tls.enabled: true"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := fast(ModeSingle, tt.address)
			// Enough for a busy machine; a port without TLS is found after DialTimeout only.
			c.TLS, c.AssumeNew, c.TTL, c.Timeout, c.DialTimeout = tt.tls, false, 30*time.Second, 5*time.Second, 2*time.Second
			began := time.Now()
			found := preflight(t, c, "job")
			if took := time.Since(began); took > 5*c.DialTimeout {
				t.Errorf("told after %s", took)
			}
			if len(found) != 1 || found[0].Code != "tls" || found[0].Server != tt.address || !strings.Contains(found[0].String(), tt.says) {
				t.Fatalf("found %s, want %q", full(found), tt.says)
			}
			var held *election.HeldError
			if err := found[0].Err; !errors.Is(err, election.ErrTLS) || errors.As(err, &held) || election.Permanent(err) {
				t.Errorf("got %v", err)
			}
			text := strings.ReplaceAll(found[0].Message, tt.address, "")
			if before := seen[text]; before != "" && !strings.Contains(text, "unknown authority") && !strings.HasPrefix(tt.name, "plain port") {
				t.Errorf("reads as %s: %s", before, text)
			}
			seen[text] = tt.name
		})
	}
}

// D21: by default a certificate is verified, a bid is refused within its time, and
// nothing is said of anybody holding the lease; each master has an authority and a
// server name of its own.
func TestD21_ElectorSaysTLS(t *testing.T) {
	t.Parallel()
	one, two := newAuthority(t), newAuthority(t)
	named := func(name string) func(*x509.Certificate) {
		return func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{name} }
	}
	c := fast(ModeQuorum, secure(t, one, named("a.internal")), secure(t, two, named("b.internal")), secure(t, one, named("c.internal")))
	c.TLS.Enabled, c.TTL, c.Timeout = new(true), 30*time.Second, 5*time.Second
	out := &logs{}
	c.Logger = logTo(out)
	st, err := open(t, c).Store("job")
	noErr(t, err)
	_, err = st.Acquire(t.Context(), election.Bid{Value: "v", TTL: 30 * time.Second})
	var held *election.HeldError
	if !errors.Is(err, election.ErrTLS) || errors.As(err, &held) || errors.Is(err, election.ErrContended) {
		t.Errorf("got %v", err)
	}
	if n := strings.Count(out.String(), "servers cannot serve elections yet"); n != 1 {
		t.Errorf("said %d times: %s", n, out)
	}
	for i, m := range []TLS{{CAFile: one.file, ServerName: "a.internal"}, {CAFile: two.file, ServerName: "b.internal"}, {CAFile: one.file, ServerName: "c.internal"}} {
		c.Quorum.Masters[i].TLS = m
	}
	lead(t, open(t, c), "job")
	c.Quorum.Masters[2].TLS.ServerName = "a.internal"
	found := notWarnings(preflight(t, c, "job"))
	if len(found) == 0 || found[0].Code != "tls" || found[0].Server != c.Quorum.Masters[2].Address || found[0].Severity != Fault {
		t.Errorf("found %s", full(found))
	}
}
