package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	renewByHand  = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`
	deleteByHand = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`
)

// floorOperations are the floors, all on one server.
func floorOperations(ctx context.Context, c *redis.Client, raw *rawConn) ([]*operation, error) {
	renew, err := c.ScriptLoad(ctx, renewByHand).Result()
	if err != nil {
		return nil, err
	}
	remove, err := c.ScriptLoad(ctx, deleteByHand).Result()
	if err != nil {
		return nil, err
	}
	f := &floor{c: c, key: freshKey(), renewSHA: renew, deleteSHA: remove}
	ops := []*operation{
		{Op: Op{Name: FloorRaw}, do: raw.ping},
		{Op: Op{Name: FloorPing}, do: func(ctx context.Context) error { return c.Ping(ctx).Err() }},
		{Op: Op{Name: FloorRenew}, begin: f.set, do: f.renew, end: f.del},
		{Op: Op{Name: FloorCycle}, do: all(f.set, f.delete), remove: f.del},
	}
	for _, o := range ops {
		o.Masters, o.Floor = 1, FloorRenew
	}
	return ops, nil
}

// freshKey is one that is as long as an election's.
func freshKey() string { return fmt.Sprintf("%s:{bench-%016x}:lease", Prefix, freshID()) }

// floor is a lease without this library.
type floor struct {
	c                        *redis.Client
	key, renewSHA, deleteSHA string
}

const byHand = "mine"

func (f *floor) set(ctx context.Context) error {
	ok, err := f.c.SetNX(ctx, f.key, byHand, leaseTTL).Result()
	if err == nil && !ok {
		err = fmt.Errorf("key %s exists", f.key)
	}
	return err
}

func (f *floor) renew(ctx context.Context) error {
	return one(f.c.EvalSha(ctx, f.renewSHA, []string{f.key}, byHand, leaseTTL.Milliseconds()))
}

func (f *floor) delete(ctx context.Context) error {
	return one(f.c.EvalSha(ctx, f.deleteSHA, []string{f.key}, byHand))
}

func (f *floor) del(ctx context.Context) error { return f.c.Del(ctx, f.key).Err() }

// one is the error if a script did nothing.
func one(cmd *redis.Cmd) error {
	n, err := cmd.Int()
	if err == nil && n != 1 {
		err = fmt.Errorf("%s: the key was not ours", cmd.Name())
	}
	return err
}

// rawConn is a connection without a client library.
type rawConn struct {
	conn net.Conn
	in   *bufio.Reader
	buf  []byte
}

var (
	rawPing = []byte("*1\r\n$4\r\nPING\r\n")
	rawPong = "+PONG\r\n"
)

// rawTimeout is how long a bare connection may take to answer.
const rawTimeout = 5 * time.Second

// dialRaw opens a bare connection, as user and password where the endpoint has them.
func dialRaw(ctx context.Context, e endpoint, count *counter) (*rawConn, error) {
	conn, err := e.dial(ctx, count)
	if err != nil {
		return nil, err
	}
	r := &rawConn{conn: conn, in: bufio.NewReader(conn), buf: make([]byte, len(rawPong))}
	if e.opts.Password != "" {
		err = r.auth(e.opts.Username, e.opts.Password)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return r, nil
}

// auth logs in.
func (r *rawConn) auth(user, password string) error {
	if user == "" {
		user = "default"
	}
	if err := r.conn.SetDeadline(time.Now().Add(rawTimeout)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(r.conn, "*3\r\n$4\r\nAUTH\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(user), user, len(password), password); err != nil {
		return err
	}
	answer, err := r.in.ReadString('\n')
	if err == nil && answer[0] != '+' {
		err = fmt.Errorf("raw connection: AUTH: %.60q", answer)
	}
	return err
}

// ping sends one PING and waits for the answer.
func (r *rawConn) ping(context.Context) error {
	if err := r.conn.SetDeadline(time.Now().Add(rawTimeout)); err != nil {
		return err
	}
	if _, err := r.conn.Write(rawPing); err != nil {
		return err
	}
	if _, err := io.ReadFull(r.in, r.buf); err != nil {
		return err
	}
	if string(r.buf) != rawPong {
		return fmt.Errorf("raw connection: PING: %q", r.buf)
	}
	return nil
}

func (r *rawConn) close() error { return r.conn.Close() }
