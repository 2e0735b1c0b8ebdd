package redisproc_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

// selfSigned writes a certificate for 127.0.0.1 that is its own CA.
func selfSigned(t *testing.T) (*redisproc.TLS, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	noErr(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	noErr(t, err)
	keyDER, err := x509.MarshalECPrivateKey(key)
	noErr(t, err)
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	dir := t.TempDir()
	files := &redisproc.TLS{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem"), CA: filepath.Join(dir, "ca.pem")}
	noErr(t, os.WriteFile(files.Cert, cert, 0o600))
	noErr(t, os.WriteFile(files.CA, cert, 0o600))
	noErr(t, os.WriteFile(files.Key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}), 0o600))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	return files, pool
}

func TestTLS(t *testing.T) {
	t.Parallel()
	files, pool := selfSigned(t)
	for _, cluster := range []bool{false, true} {
		s := redistest.StartT(t, redisproc.Options{TLS: files, Cluster: cluster})
		secure := func(o *redis.Options) { o.TLSConfig = &tls.Config{RootCAs: pool} }
		noErr(t, client(t, s, secure).Set(ctx(t), "k", "v", 0).Err())
		if err := client(t, s).Ping(ctx(t)).Err(); err == nil {
			t.Error("the port answers without TLS")
		}
	}
}
