package dbproc

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
)

// RequirePostgres names the environment variable that turns a skip for lack of
// PostgreSQL into a failure when it is "1".
const RequirePostgres = "INCUMBENT_REQUIRE_POSTGRES"

// StartPostgres starts a PostgreSQL server with nothing in it, stops it when the
// test ends, and gives the connection string of its superuser for pgx, pq or
// psql. It takes a second or two; let the tests of a package share one.
func StartPostgres(tb testing.TB) (dsn string) {
	tb.Helper()
	postgres := find(tb, "postgres", RequirePostgres, "the package postgresql",
		"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin", "/opt/homebrew/opt/postgresql*/bin")
	s := newServer(tb, "PostgreSQL", "postgres", "nobody")
	data := filepath.Join(s.dir, "data")
	s.run(tb, filepath.Join(filepath.Dir(postgres), "initdb"), "--pgdata="+data, "--username=postgres", "--auth=trust",
		"--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions")
	dsn = "host=" + s.dir + " port=5432 user=postgres dbname=postgres sslmode=disable"
	ready := func(ctx context.Context) error {
		c, err := pgx.Connect(ctx, dsn)
		if err != nil {
			return err
		}
		return c.Close(ctx)
	}
	s.start(tb, os.Interrupt, ready, postgres, "-D", data, "-k", s.dir, "-p", "5432", "-c", "listen_addresses=",
		"-c", "max_connections=300", "-c", "shared_buffers=16MB", "-c", "fsync=off", "-c", "synchronous_commit=off",
		"-c", "full_page_writes=off", "-c", "autovacuum=off", "-c", "deadlock_timeout=200ms")
	return dsn
}
