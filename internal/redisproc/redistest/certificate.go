package redistest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"incumbent/internal/redisproc"
)

// certificateLife is how long before and after now a certificate is good.
const certificateLife = time.Hour

// Certificate makes one for 127.0.0.1 that is its own authority, and writes its files,
// which go when the test ends.
func Certificate(tb testing.TB) *redisproc.TLS {
	tb.Helper()
	noErr := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	noErr(err)
	now := time.Now()
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: now.Add(-certificateLife), NotAfter: now.Add(certificateLife),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	noErr(err)
	keyDER, err := x509.MarshalECPrivateKey(key)
	noErr(err)
	dir := tb.TempDir()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		noErr(os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
		return path
	}
	cert := write("cert.pem", "CERTIFICATE", der)
	return &redisproc.TLS{Cert: cert, Key: write("key.pem", "EC PRIVATE KEY", keyDER), CA: cert}
}
