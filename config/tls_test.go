package config

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"incumbent/election"
	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
}

var serials int64

// newCert makes a certificate, signed by ca or by itself, and its two files.
func newCert(t *testing.T, ca *authority, change func(*x509.Certificate)) (certFile, keyFile string, a *authority) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	noErr(t, err)
	serials++
	c := &x509.Certificate{
		SerialNumber: big.NewInt(serials), Subject: pkix.Name{CommonName: fmt.Sprint("certificate ", serials)}, NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"redis.internal"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if change != nil {
		change(c)
	}
	a = &authority{cert: c, key: key}
	if ca == nil {
		ca = a
	}
	der, err := x509.CreateCertificate(rand.Reader, c, ca.cert, &key.PublicKey, ca.key)
	noErr(t, err)
	keyDER, err := x509.MarshalECPrivateKey(key)
	noErr(t, err)
	certFile = writeFile(t, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	keyFile = writeFile(t, string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})))
	a.cert, err = x509.ParseCertificate(der)
	noErr(t, err)
	return certFile, keyFile, a
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	file, _, a := newCert(t, nil, func(c *x509.Certificate) {
		c.IsCA, c.BasicConstraintsValid, c.KeyUsage, c.IPAddresses, c.DNSNames = true, true, x509.KeyUsageCertSign, nil, nil
	})
	a.file = file
	return a
}

// secure starts a server with a certificate.
func secure(t *testing.T, ca *authority, change func(*x509.Certificate), args ...string) string {
	t.Helper()
	cert, key, _ := newCert(t, ca, change)
	trusted := cert
	if ca != nil {
		trusted = ca.file
	}
	return redistest.StartT(t, redisproc.Options{TLS: &redisproc.TLS{Cert: cert, Key: key, CA: trusted}, Args: args}).Addr()
}

// outOfDate starts a server whose certificate is not good now. A real one would
// not get ready, since it is asked by a client with the same certificate.
func outOfDate(t *testing.T, ca *authority, change func(*x509.Certificate)) string {
	t.Helper()
	cert, key, _ := newCert(t, ca, change)
	pair, err := tls.LoadX509KeyPair(cert, key)
	noErr(t, err)
	s, err := miniredis.RunTLS(&tls.Config{Certificates: []tls.Certificate{pair}})
	noErr(t, err)
	t.Cleanup(s.Close)
	return s.Addr()
}

// TestTLS is case D21: each fault has an error of its own, which is not
// contention, and comes within the timeout.
func TestTLS(t *testing.T) {
	ca := newAuthority(t)
	good := secure(t, ca, nil)
	named := secure(t, ca, func(c *x509.Certificate) { c.IPAddresses = nil })
	expired := outOfDate(t, ca, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Hour) })
	selfSigned := secure(t, nil, func(c *x509.Certificate) { c.IsCA, c.BasicConstraintsValid = true, true })
	plain := redistest.StartT(t, redisproc.Options{}).Addr()
	seen := map[string]string{}
	for _, tt := range []struct {
		name, address string
		tls           TLS
		kind          error
		says          string
	}{
		{"good", good, TLS{CAFile: ca.file}, nil, ""},
		{"server name", named, TLS{CAFile: ca.file, ServerName: "redis.internal"}, nil, ""},
		{"insecure", selfSigned, TLS{Insecure: new(true)}, nil, ""},
		{"no authority of ours", good, TLS{Enabled: new(true)}, election.ErrTLS, "give the CA file"},
		{"self-signed", selfSigned, TLS{CAFile: ca.file}, election.ErrTLS, "unknown authority"},
		{"wrong server name", good, TLS{CAFile: ca.file, ServerName: "other.internal"}, election.ErrTLS, "not other.internal"},
		{"name not of the host", named, TLS{CAFile: ca.file}, election.ErrTLS, "set the server name"},
		{"expired", expired, TLS{CAFile: ca.file}, election.ErrTLS, "expired"},
		{"plain port", plain, TLS{CAFile: ca.file}, election.ErrTLS, "the port does not speak TLS"},
		{"TLS port without TLS", good, TLS{}, election.ErrTLS, "the port speaks TLS"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := fast(ModeSingle, tt.address)
			c.TLS = tt.tls
			cl := open(t, c)
			err := cl.Check(t.Context(), "job")
			if tt.kind == nil {
				noErr(t, err)
				lead(t, cl, "job")
				return
			}
			var held *election.HeldError
			var m *election.MasterError
			if !errors.Is(err, tt.kind) || errors.As(err, &held) || !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("got %v, want %v with %q", err, tt.kind, tt.says)
			}
			if !errors.As(err, &m) || m.Master != tt.address {
				t.Errorf("no master in %v", err)
			}
			text := strings.ReplaceAll(err.Error(), tt.address, "")
			if other := seen[text]; other != "" && tt.name != "self-signed" { // which is an unknown authority too
				t.Errorf("reads as %s: %s", other, text)
			}
			seen[text] = tt.name
		})
	}
}

// TestTLSPerMaster: each master of a quorum may have its own authority.
func TestTLSPerMaster(t *testing.T) {
	common, own := newAuthority(t), newAuthority(t)
	c := fast(ModeQuorum, secure(t, common, nil), secure(t, common, nil), secure(t, own, nil))
	c.TLS.CAFile = common.file
	err := open(t, c).Check(t.Context(), "job")
	var m *election.MasterError
	if !errors.As(err, &m) || m.Master != c.Quorum.Masters[2].Address || !errors.Is(err, election.ErrTLS) {
		t.Errorf("with the wrong authority: %v", err)
	}
	c.Quorum.Masters[2].TLS.CAFile = own.file
	cl := open(t, c)
	noErr(t, cl.Check(t.Context(), "job"))
	lead(t, cl, "job")
}

func TestClientCertificate(t *testing.T) {
	ca := newAuthority(t)
	address := secure(t, ca, nil, "tls-auth-clients", "yes")
	cert, key, _ := newCert(t, ca, nil)
	c := fast(ModeSingle, address)
	c.TLS = TLS{CAFile: ca.file}
	if err := open(t, c).Check(t.Context(), "job"); err == nil {
		t.Error("without a certificate the server lets us in")
	}
	c.TLS.CertFile, c.TLS.KeyFile = cert, key
	lead(t, open(t, c), "job")
	c.TLS.KeyFile = cert
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "tls.cert_file: cannot be used with its key_file") {
		t.Errorf("a wrong key gives %v", err)
	}
	c.TLS = TLS{CAFile: key}
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "tls.ca_file: the file holds no PEM certificate") {
		t.Errorf("a wrong authority gives %v", err)
	}
}

// TestHungHandshake: a port that accepts and says nothing holds nobody up.
func TestHungHandshake(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noErr(t, err)
	defer l.Close()
	c := fast(ModeSingle, l.Addr().String())
	c.TLS.Enabled = new(true)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cl, err := c.Open(ctx)
	noErr(t, err)
	if err := cl.Check(ctx, "job"); !errors.Is(err, election.ErrUnreachable) || ctx.Err() != nil || !strings.Contains(err.Error(), "TLS handshake") {
		t.Errorf("got %v (context: %v)", err, ctx.Err())
	}
	noErr(t, cl.Close())
}
