package sqltest_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"incumbent/election"
	"incumbent/fence"
)

// patience bounds everything that could hang.
const patience = 15 * time.Second

// runSuite runs every test on one database, each with tables of its own.
func runSuite(t *testing.T, b *backend) {
	b.db = b.open(nil)
	defer b.db.Close()
	b.db.SetMaxIdleConns(20)
	for _, tt := range []struct {
		name string
		test func(*testing.T, *env)
	}{
		{"Gap", testGap},
		{"RaiseWaitsForOpen", testRaiseWaitsForOpen},
		{"OpenWithoutCheck", testOpenWithoutCheck},
		{"NewTermWithOldSnapshot", testNewTermWithOldSnapshot},
		{"OneTermSideBySide", testOneTermSideBySide},
		{"FirstUse", testFirstUse},
		{"FirstActs", testFirstActs},
		{"FirstUseRolledBack", testFirstUseRolledBack},
		{"Names", testNames},
		{"LargestToken", testLargestToken},
		{"Schema", testSchema},
		{"Order", testOrder},
		{"LostMidway", testLostMidway},
		{"LostAtCommit", testLostAtCommit},
		{"CommitReplyLost", testCommitReplyLost},
		{"Rows", testRows},
		{"RowsTraps", testRowsTraps},
		{"RowsBadNames", testRowsBadNames},
		{"RowsGap", testRowsGap},
		{"RowsRaise", testRowsRaise},
		{"RowsRaiseWaitsForOpen", testRowsRaiseWaitsForOpen},
		{"RowsOpenSnapshot", testRowsOpenSnapshot},
		{"RowsFirstUse", testRowsFirstUse},
		{"RowsOrder", testRowsOrder},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, newEnv(t, b)) })
	}
}

// env is what one test has.
type env struct {
	*backend
	ctx   context.Context
	table string // of the guards
	log   string // of what was done: id, token
	rows  string // of rows with tokens: bridge, sensor, level, note, token
	ids   atomic.Int64
}

var serials atomic.Int64

func newEnv(t *testing.T, b *backend) *env {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	n := serials.Add(1)
	e := &env{
		backend: b, ctx: ctx,
		table: fmt.Sprintf("fence_%d", n), log: fmt.Sprintf("log_%d", n), rows: fmt.Sprintf("rows_%d", n),
	}
	check(t, e.guard(t, "a").CreateSchema(ctx))
	e.exec(t, "CREATE TABLE "+e.log+" (id BIGINT NOT NULL PRIMARY KEY, token BIGINT NOT NULL)")
	e.exec(t, "CREATE TABLE "+e.rows+" (bridge BIGINT NOT NULL, sensor VARCHAR(20) NOT NULL, level BIGINT,"+
		" note VARCHAR(20) UNIQUE, token BIGINT, PRIMARY KEY (bridge, sensor))")
	return e
}

// guard makes a guard as another process has it: it remembers nothing.
func (e *env) guard(t *testing.T, name string) *fence.SQL {
	t.Helper()
	return e.guardOn(t, e.db, name)
}

func (e *env) guardOn(t *testing.T, db *sql.DB, name string) *fence.SQL {
	t.Helper()
	s, err := fence.NewSQL(db, e.dialect, name, fence.SQLOptions{Table: e.table})
	check(t, err)
	return s
}

func (e *env) newRows(t *testing.T) *fence.Rows {
	t.Helper()
	return e.rowsOn(t, e.db)
}

func (e *env) rowsOn(t *testing.T, db *sql.DB) *fence.Rows {
	t.Helper()
	r, err := fence.NewRows(db, e.dialect, e.rows, []string{"bridge", "sensor"}, "token")
	check(t, err)
	return r
}

// sql numbers the placeholders where the database wants that.
func (e *env) sql(query string) string {
	if e.dialect != fence.Postgres {
		return query
	}
	for n := 1; strings.Contains(query, "?"); n++ {
		query = strings.Replace(query, "?", fmt.Sprintf("$%d", n), 1)
	}
	return query
}

func (e *env) exec(t *testing.T, query string, args ...any) {
	t.Helper()
	_, err := e.db.ExecContext(e.ctx, e.sql(query), args...)
	check(t, err)
}

func (e *env) number(t *testing.T, query string, args ...any) int64 {
	t.Helper()
	var n int64
	check(t, e.db.QueryRowContext(e.ctx, e.sql(query), args...).Scan(&n))
	return n
}

// did counts what was done under a token.
func (e *env) did(t *testing.T, token election.Token) int64 {
	t.Helper()
	return e.number(t, "SELECT count(*) FROM "+e.log+" WHERE token = ?", int64(token))
}

func (e *env) wantDid(t *testing.T, token election.Token, want int64) {
	t.Helper()
	if got := e.did(t, token); got != want {
		t.Errorf("%d acts of token %d are stored, want %d", got, token, want)
	}
}

// act notes in the log that something was done under a token.
func (e *env) act(tx fence.SQLTx, token election.Token) error {
	_, err := tx.ExecContext(e.ctx, e.sql("INSERT INTO "+e.log+" (id, token) VALUES (?, ?)"), e.ids.Add(1), int64(token))
	return err
}

// do acts in a transaction of its own.
func (e *env) do(s *fence.SQL, token election.Token) error { return e.doAt(s, token, sql.LevelDefault) }

func (e *env) doAt(s *fence.SQL, token election.Token, level sql.IsolationLevel) error {
	return s.Do(e.ctx, token, &sql.TxOptions{Isolation: level}, func(tx *sql.Tx) error { return e.act(tx, token) })
}

// begin begins a transaction, which is rolled back in the end.
func (e *env) begin(t *testing.T, level sql.IsolationLevel) *sql.Tx {
	t.Helper()
	tx, err := e.db.BeginTx(e.ctx, &sql.TxOptions{Isolation: level})
	check(t, err)
	t.Cleanup(func() { _ = tx.Rollback() })
	return tx
}

// look reads, so that a transaction which keeps to a snapshot has one.
func (e *env) look(t *testing.T, tx *sql.Tx) {
	t.Helper()
	var n int64
	check(t, tx.QueryRowContext(e.ctx, "SELECT count(*) FROM "+e.log).Scan(&n))
}

// eventually asks until the answer is yes.
func (e *env) eventually(t *testing.T, what string, ask func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ask() {
		select {
		case <-e.ctx.Done():
			t.Fatalf("not within %s: %s", patience, what)
		case <-tick.C:
		}
	}
}

// awaitWaiting returns when a statement waits for a lock.
func (e *env) awaitWaiting(t *testing.T) {
	t.Helper()
	e.eventually(t, "a statement waits for a lock", func() bool { return e.number(t, e.waiting) > 0 })
}

// wantWaits runs raise, which must wait until finish has begun, and returns its
// error. On a database that does not tell who waits, raise is tried with
// connections that do not wait, and must fail.
func (e *env) wantWaits(t *testing.T, raise func(*sql.DB) error, finish func() error) error {
	t.Helper()
	if e.waiting == "" {
		db := e.impatient()
		defer db.Close()
		wantNotFenced(t, raise(db))
	}
	var finishing atomic.Bool
	early := errors.New("the raise did not wait")
	done := make(chan error, 1)
	go func() {
		err := raise(e.db)
		if !finishing.Load() {
			err = errors.Join(early, err)
		}
		done <- err
	}()
	if e.waiting != "" {
		e.awaitWaiting(t)
	}
	finishing.Store(true)
	check(t, finish())
	err := <-done
	if errors.Is(err, early) {
		t.Error(err)
	}
	return err
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantFenced(t *testing.T, err error, token, known election.Token) {
	t.Helper()
	var f *election.FencedError
	if !errors.As(err, &f) {
		t.Fatalf("got %v, want a refusal of %d by %d", err, token, known)
	}
	if f.Token != token || f.Known != known {
		t.Errorf("got %+v, want a refusal of %d by %d", *f, token, known)
	}
}

// wantNotFenced wants an error that is no refusal.
func wantNotFenced(t *testing.T, err error) {
	t.Helper()
	if err == nil || errors.Is(err, election.ErrFenced) {
		t.Fatalf("got %v, want an error that is no fence", err)
	}
}
