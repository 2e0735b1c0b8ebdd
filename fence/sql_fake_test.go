package fence_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// fakeSQL is a database that answers from a list and notes what it was told.
// What real databases make of it is tested in the module sqltest.
type fakeSQL struct {
	replies []reply // one a statement, in turn; without any left: one row touched, no row found
	log     []string
	begin   error // of BEGIN
	commit  error // of COMMIT
}

// reply is what a statement gives.
type reply struct {
	rows int64        // touched, by what is executed
	row  driver.Value // found, by a query; nil for none
	err  error
}

func (f *fakeSQL) open(t *testing.T) *sql.DB {
	t.Helper()
	db := sql.OpenDB(f)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { check(t, db.Close()) })
	return db
}

// told fails the test unless exactly these statements came since the last call.
func (f *fakeSQL) told(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(f.log, want) {
		t.Errorf("the database was told\n%s\nwant\n%s", strings.Join(f.log, "\n"), strings.Join(want, "\n"))
	}
	f.log = nil
}

func (f *fakeSQL) next(query string, args []driver.NamedValue) reply {
	line := query
	if len(args) > 0 {
		values := make([]any, len(args))
		for i, a := range args {
			values[i] = a.Value
		}
		line += fmt.Sprintf(" %v", values)
	}
	f.log = append(f.log, line)
	if len(f.replies) == 0 {
		return reply{rows: 1}
	}
	a := f.replies[0]
	f.replies = f.replies[1:]
	return a
}

func (f *fakeSQL) Connect(context.Context) (driver.Conn, error) { return fakeConn{f}, nil }
func (f *fakeSQL) Driver() driver.Driver                        { return nil }

type fakeConn struct{ f *fakeSQL }

func (c fakeConn) Prepare(string) (driver.Stmt, error) { panic("nothing is prepared") }
func (c fakeConn) Close() error                        { return nil }
func (c fakeConn) Begin() (driver.Tx, error)           { panic("BeginTx is there") }

func (c fakeConn) BeginTx(_ context.Context, o driver.TxOptions) (driver.Tx, error) {
	line := "BEGIN"
	if o.Isolation != 0 {
		line += " " + sql.IsolationLevel(o.Isolation).String()
	}
	c.f.log = append(c.f.log, line)
	return c, c.f.begin
}

func (c fakeConn) Commit() error {
	c.f.log = append(c.f.log, "COMMIT")
	return c.f.commit
}

func (c fakeConn) Rollback() error {
	c.f.log = append(c.f.log, "ROLLBACK")
	return nil
}

func (c fakeConn) ExecContext(_ context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	a := c.f.next(query, args)
	return driver.RowsAffected(a.rows), a.err
}

func (c fakeConn) QueryContext(_ context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	a := c.f.next(query, args)
	return &fakeRows{a.row}, a.err
}

type fakeRows struct{ row driver.Value }

func (r *fakeRows) Columns() []string { return []string{"token"} }
func (r *fakeRows) Close() error      { return nil }

func (r *fakeRows) Next(dest []driver.Value) error {
	if r.row == nil {
		return io.EOF
	}
	dest[0], r.row = r.row, nil
	return nil
}

// sqlStateError is an error as drivers of PostgreSQL give it.
type sqlStateError string

func (e sqlStateError) Error() string    { return "server says " + string(e) }
func (e sqlStateError) SQLState() string { return string(e) }
