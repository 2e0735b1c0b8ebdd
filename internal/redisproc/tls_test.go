package redisproc_test

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"testing"

	"github.com/redis/go-redis/v9"

	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

func TestTLS(t *testing.T) {
	t.Parallel()
	files := redistest.Certificate(t)
	authority, err := os.ReadFile(files.CA)
	noErr(t, err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	for _, cluster := range []bool{false, true} {
		s := redistest.StartT(t, redisproc.Options{TLS: files, Cluster: cluster})
		secure := func(o *redis.Options) { o.TLSConfig = &tls.Config{RootCAs: pool} }
		noErr(t, client(t, s, secure).Set(ctx(t), "k", "v", 0).Err())
		if err := client(t, s).Ping(ctx(t)).Err(); err == nil {
			t.Error("the port answers without TLS")
		}
	}
}
