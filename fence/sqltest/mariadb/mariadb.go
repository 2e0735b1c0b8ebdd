// Package mariadb connects database/sql to a MariaDB server for tests. It adds
// to github.com/ziutek/mymysql/godrv what that does not have: levels of
// isolation, contexts that end a statement, no second try of a statement that
// may have been executed, and the two choices that drivers leave to users and
// that matter to package fence (see Options).
package mariadb

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/ziutek/mymysql/godrv"
)

// Options of a connection. The zero value is what most drivers do by default.
type Options struct {
	// FoundRows makes the server count rows that were found, not only those that
	// were changed (CLIENT_FOUND_ROWS).
	FoundRows bool
	// Text sends statements with the values in them, instead of preparing them.
	Text bool
	// Init are statements for each new connection.
	Init []string
	// Wrap replaces the network connection; nil leaves it as it is.
	Wrap func(net.Conn) net.Conn
}

// Open gives a database of the server at a socket. Nothing is sent before use.
func Open(socket, database string, o Options) *sql.DB {
	return sql.OpenDB(connector{socket, database, o})
}

type connector struct {
	socket, database string
	o                Options
}

func (c connector) Driver() driver.Driver { return &godrv.Driver{} }

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	var nc net.Conn
	d := &godrv.Driver{}
	d.SetDialer(func(string, string, string, string, string, time.Duration) (net.Conn, error) {
		var err error
		if nc, err = (&net.Dialer{}).DialContext(ctx, "unix", c.socket); err != nil {
			return nil, err
		}
		if c.o.Wrap != nil {
			nc = c.o.Wrap(nc)
		}
		return &greeting{Conn: nc, foundRows: c.o.FoundRows}, nil
	})
	inner, err := d.Open("unix:" + c.socket + "*" + c.database + "/root/")
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	out := &conn{inner: inner, net: nc, text: c.o.Text}
	for _, statement := range append([]string{"SET NAMES utf8mb4"}, c.o.Init...) {
		if _, err := out.exec(statement, nil); err != nil {
			_ = inner.Close()
			return nil, err
		}
	}
	return out, nil
}

// greeting sets a flag in the first packet that the client sends.
type greeting struct {
	net.Conn
	foundRows, sent bool
}

func (g *greeting) Write(b []byte) (int, error) {
	if g.foundRows && !g.sent {
		b = bytes.Clone(b)
		b[4] |= 2 // after the header of four bytes come the flags, lowest byte first
	}
	g.sent = true
	return g.Conn.Write(b)
}

// errLost is a connection that was lost while a statement was under way.
// driver.ErrBadConn would let database/sql try it again elsewhere.
var errLost = errors.New("connection lost")

type conn struct {
	inner driver.Conn
	net   net.Conn
	text  bool
	lost  bool
}

// during runs f, which ctx can end by way of the network connection.
func (c *conn) during(ctx context.Context, f func() error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	stop := context.AfterFunc(ctx, func() { _ = c.net.SetDeadline(time.Unix(1, 0)) })
	err := f()
	if !stop() && err != nil {
		c.lost = true
		return ctx.Err()
	}
	if errors.Is(err, driver.ErrBadConn) {
		c.lost = true
		return errLost
	}
	return err
}

func (c *conn) exec(query string, args []driver.Value) (driver.Result, error) {
	//lint:ignore SA1019 the inner driver is older than ExecerContext
	return c.inner.(driver.Execer).Exec(query, args)
}

// ExecContext implements driver.ExecerContext.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (res driver.Result, err error) {
	if !c.text && len(args) > 0 {
		return nil, driver.ErrSkip
	}
	err = c.during(ctx, func() error {
		res, err = c.exec(query, values(args))
		return err
	})
	return res, err
}

// QueryContext implements driver.QueryerContext.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (rows driver.Rows, err error) {
	if !c.text && len(args) > 0 {
		return nil, driver.ErrSkip
	}
	err = c.during(ctx, func() error {
		//lint:ignore SA1019 the inner driver is older than QueryerContext
		rows, err = c.inner.(driver.Queryer).Query(query, values(args))
		return err
	})
	return rows, err
}

// Prepare implements driver.Conn.
func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// PrepareContext implements driver.ConnPrepareContext.
func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s := &stmt{c: c}
	err := c.during(ctx, func() (err error) {
		s.Stmt, err = c.inner.Prepare(query)
		return err
	})
	return s, err
}

// Begin implements driver.Conn.
func (c *conn) Begin() (driver.Tx, error) { return c.BeginTx(context.Background(), driver.TxOptions{}) }

// BeginTx implements driver.ConnBeginTx.
func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (out driver.Tx, err error) {
	level := strings.ToUpper(sql.IsolationLevel(o.Isolation).String())
	err = c.during(ctx, func() error {
		if o.Isolation != 0 {
			if _, err := c.exec("SET TRANSACTION ISOLATION LEVEL "+level, nil); err != nil {
				return err
			}
		}
		//lint:ignore SA1019 the inner driver is older than ConnBeginTx
		inner, err := c.inner.Begin()
		out = tx{c, inner}
		return err
	})
	return out, err
}

// IsValid implements driver.Validator.
func (c *conn) IsValid() bool { return !c.lost }

// Close implements driver.Conn.
func (c *conn) Close() error {
	_ = c.inner.Close() // it fails when the connection was lost
	return nil
}

type tx struct {
	c     *conn
	inner driver.Tx
}

func (t tx) Commit() error   { return t.c.during(context.Background(), t.inner.Commit) }
func (t tx) Rollback() error { return t.c.during(context.Background(), t.inner.Rollback) }

type stmt struct {
	driver.Stmt
	c *conn
}

// ExecContext implements driver.StmtExecContext.
func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (res driver.Result, err error) {
	err = s.c.during(ctx, func() error {
		res, err = s.Exec(values(args))
		return err
	})
	return res, err
}

// QueryContext implements driver.StmtQueryContext.
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (rows driver.Rows, err error) {
	err = s.c.during(ctx, func() error {
		rows, err = s.Query(values(args))
		return err
	})
	return rows, err
}

func values(args []driver.NamedValue) []driver.Value {
	out := make([]driver.Value, len(args))
	for i, a := range args {
		out[i] = a.Value
	}
	return out
}
