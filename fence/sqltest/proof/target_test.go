package proof_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver named pgx
	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/fence"
)

// The resources, as they are called in tables.
const (
	postgresName = "PostgreSQL"
	redisName    = "Redis"
	httpName     = "HTTP"
)

// The two registers that every resource has. Each keeps the token that was
// written last, and a log of all that ever were.
const (
	openPath    = "open"    // takes whatever comes
	guardedPath = "guarded" // compares tokens
)

// target is a resource, seen by a candidate.
type target interface {
	election.Guard
	name() string
	open(context.Context, election.Token) error
	guarded(context.Context, election.Token) error
}

func openTargets(cfg childConfig) ([]target, error) {
	var all []target
	if cfg.Postgres != "" {
		t, err := openDatabase(cfg.Postgres, cfg.Election)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	if cfg.Redis != "" {
		t, err := openKeys(cfg.Redis, cfg.Election)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	if cfg.HTTP != "" {
		all = append(all, openSite(cfg.HTTP, cfg.Election))
	}
	return all, nil
}

// writeText is one act on the database: a register and its log together.
const writeText = `WITH r AS (UPDATE register SET token = $3 WHERE path = $1 AND election = $2)
	INSERT INTO log (path, election, token) VALUES ($1, $2, $3)`

// database is PostgreSQL.
type database struct {
	*fence.SQL
	db       *sql.DB
	election string
}

func openDatabase(dsn, electionName string) (*database, error) {
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		return nil, err
	}
	g, err := fence.NewSQL(db, fence.Postgres, electionName, fence.SQLOptions{})
	return &database{g, db, electionName}, err
}

func (*database) name() string { return postgresName }

func (d *database) open(ctx context.Context, t election.Token) error {
	_, err := d.db.ExecContext(ctx, writeText, openPath, d.election, int64(t))
	return err
}

func (d *database) guarded(ctx context.Context, t election.Token) error {
	return d.inside(ctx, t, func() error { return nil })
}

// inside calls f between the guard's check and the write, in one transaction.
func (d *database) inside(ctx context.Context, t election.Token, f func() error) error {
	return d.Do(ctx, t, nil, func(tx *sql.Tx) error {
		if err := f(); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, writeText, guardedPath, d.election, int64(t))
		return err
	})
}

// keys is Redis.
type keys struct {
	*fence.Redis
	client   *redis.Client
	election string
}

// writeSource is one act on Redis, in Lua, with or without a guard around it.
const writeSource = `redis.call('SET', KEYS[1], ARGV[1])
	return redis.call('RPUSH', KEYS[2], ARGV[1])`

var (
	openScript    = redis.NewScript(writeSource)
	guardedScript = fence.NewScript(writeSource)
)

// registerKeys are the keys of a register and of its log.
func registerKeys(electionName, path string) []string {
	prefix := fmt.Sprintf("{%s}:%s:", electionName, path)
	return []string{prefix + "register", prefix + "log"}
}

func openKeys(addr, electionName string) (*keys, error) {
	client := redis.NewClient(&redis.Options{
		Addr: addr, Protocol: 2, DisableIdentity: true, ContextTimeoutEnabled: true, MaxRetries: -1, ReadTimeout: patience,
	})
	g, err := fence.NewRedis(client, "{"+electionName+"}:fence")
	return &keys{g, client, electionName}, err
}

func (*keys) name() string { return redisName }

func (k *keys) open(ctx context.Context, t election.Token) error {
	return openScript.Run(ctx, k.client, registerKeys(k.election, openPath), uint64(t)).Err()
}

func (k *keys) guarded(ctx context.Context, t election.Token) error {
	_, err := k.Do(ctx, t, guardedScript, registerKeys(k.election, guardedPath), uint64(t))
	return err
}

// site is the HTTP service.
type site struct {
	*fence.HTTPGuard
	url  string
	base *http.Transport
}

func openSite(url, electionName string) *site {
	base := &http.Transport{}
	return &site{
		&fence.HTTPGuard{URL: url + "/raise/" + electionName, Election: electionName, Client: &http.Client{Transport: base}},
		url, base,
	}
}

func (*site) name() string { return httpName }

func (s *site) open(ctx context.Context, t election.Token) error { return s.put(ctx, openPath, t) }

func (s *site) guarded(ctx context.Context, t election.Token) error {
	return s.put(ctx, guardedPath, t)
}

// put writes with the token. It does not ask the term, as fence.NewTransport
// would: the request counts as sent already.
func (s *site) put(ctx context.Context, path string, t election.Token) error {
	c := http.Client{Transport: &fence.Transport{Base: s.base, Election: s.Election, Token: t}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, s.url+"/"+path+"/"+s.Election, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusNoContent {
		return fmt.Errorf("%s: %s", resp.Status, text)
	}
	return nil
}
