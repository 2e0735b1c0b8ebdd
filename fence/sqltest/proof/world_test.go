package proof_test

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/fence/sqltest/dbproc"
	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

// world is what elections of a test run on: masters that keep leases, and the
// resources that leaders write to.
type world struct {
	masters []string
	dsn     string
	db      *sql.DB
	redis   *redis.Client
	service *service
	url     string
}

const masters = 3

// newWorld starts all servers, and stops them when the test ends.
func newWorld(t *testing.T) *world {
	t.Helper()
	redistest.Require(t)
	w := &world{dsn: dbproc.StartPostgres(t), service: newService()}
	for range masters {
		w.masters = append(w.masters, redistest.StartT(t, redisproc.Options{}).Addr())
	}
	w.redis = redis.NewClient(&redis.Options{
		Addr: redistest.StartT(t, redisproc.Options{}).Addr(), Protocol: 2, DisableIdentity: true,
	})
	t.Cleanup(func() { check(t, w.redis.Close()) })
	var err error
	w.db, err = sql.Open("pgx", w.dsn)
	check(t, err)
	t.Cleanup(func() { check(t, w.db.Close()) })
	w.url = serve(t, w.service)
	w.createTables(t)
	return w
}

func (w *world) createTables(t *testing.T) {
	t.Helper()
	for _, text := range []string{
		"CREATE TABLE register (path TEXT, election TEXT, token BIGINT, PRIMARY KEY (path, election))",
		"CREATE TABLE log (seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, path TEXT, election TEXT, token BIGINT)",
	} {
		_, err := w.db.ExecContext(interrupted, text)
		check(t, err)
	}
	d, err := openDatabase(w.dsn, "any")
	check(t, err)
	defer d.db.Close()
	check(t, d.CreateSchema(interrupted))
}

// serve runs an HTTP server until the test ends.
func serve(t *testing.T, h http.Handler) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	s := &http.Server{Handler: h}
	done := make(chan error)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		check(t, s.Close())
		<-done // it says that it was closed
	})
	return "http://" + l.Addr().String()
}

// contest starts an election of two candidates, and ends it with the test.
func (w *world) contest(t *testing.T, cfg childConfig) *contest {
	t.Helper()
	cfg.Masters, cfg.Chatty = w.masters, *chatty
	if cfg.Mode == "single" { // spread over the servers
		i := len(w.service.names()) % masters
		cfg.Masters = w.masters[i : i+1]
	}
	if cfg.Postgres == "" {
		cfg.Postgres = w.dsn
	}
	if !cfg.Inside {
		cfg.Redis, cfg.HTTP = w.redis.Options().Addr, w.url
	}
	check(t, w.service.add(cfg.Election))
	for _, path := range []string{openPath, guardedPath} {
		_, err := w.db.ExecContext(interrupted, "INSERT INTO register VALUES ($1, $2, 0)", path, cfg.Election)
		check(t, err)
	}
	x, err := newContest(interrupted, cfg)
	check(t, err)
	t.Cleanup(func() {
		if err := x.close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// history is what a register holds, and all that was ever written to it, in the
// order in which the resource says that it was.
func (w *world) history(ctx context.Context, resource, path, electionName string) (now election.Token, log []election.Token, err error) {
	switch resource {
	case postgresName:
		return w.tableHistory(ctx, path, electionName)
	case redisName:
		return w.listHistory(ctx, registerKeys(electionName, path))
	default:
		now, log = w.service.history(path, electionName)
		return now, log, nil
	}
}

func (w *world) tableHistory(ctx context.Context, path, electionName string) (now election.Token, log []election.Token, err error) {
	row := w.db.QueryRowContext(ctx, "SELECT token FROM register WHERE path = $1 AND election = $2", path, electionName)
	if err := row.Scan(&now); err != nil {
		return 0, nil, err
	}
	rows, err := w.db.QueryContext(ctx, "SELECT token FROM log WHERE path = $1 AND election = $2 ORDER BY seq", path, electionName)
	if err != nil {
		return 0, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var t election.Token
		if err := rows.Scan(&t); err != nil {
			return 0, nil, err
		}
		log = append(log, t)
	}
	return now, log, rows.Err()
}

func (w *world) listHistory(ctx context.Context, keys []string) (now election.Token, log []election.Token, err error) {
	if err := w.redis.Get(ctx, keys[0]).Scan((*uint64)(&now)); err != nil {
		return 0, nil, err
	}
	var all []uint64
	err = w.redis.LRange(ctx, keys[1], 0, -1).ScanSlice(&all)
	for _, t := range all {
		log = append(log, election.Token(t))
	}
	return now, log, err
}

// versions names what took part.
func (w *world) versions(ctx context.Context) string {
	var postgres string
	if err := w.db.QueryRowContext(ctx, "SHOW server_version").Scan(&postgres); err != nil {
		postgres = err.Error()
	}
	var server string
	info, err := w.redis.Info(ctx, "server").Result()
	if err != nil {
		server = err.Error()
	}
	for l := range strings.Lines(info) {
		if v, ok := strings.CutPrefix(l, "redis_version:"); ok {
			server = strings.TrimSpace(v)
		}
	}
	return fmt.Sprintf("PostgreSQL %s, Redis %s, %s %s/%s, %d CPUs",
		postgres, server, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
}
