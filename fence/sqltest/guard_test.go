package sqltest_test

import (
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"

	"incumbent/election"
	"incumbent/fence"
)

const old, young = election.Token(41), election.Token(42)

// Between the start of a term and its Raise stale acts pass, afterwards none.
func testGap(t *testing.T, e *env) {
	stale, leader := e.guard(t, "a"), e.guard(t, "a")
	check(t, stale.Raise(e.ctx, old))
	check(t, e.do(stale, old))
	// The young term begins here, and has not acted.
	check(t, e.do(stale, old))
	check(t, leader.Raise(e.ctx, young))
	wantFenced(t, e.do(stale, old), old, young)
	wantFenced(t, stale.Raise(e.ctx, old), old, young)
	e.wantDid(t, old, 2)
	check(t, leader.Raise(e.ctx, young))
	check(t, e.do(leader, young))
	// Without a Raise the first act closes the gap, if it is committed.
	failed := errors.New("failed")
	if err := leader.Do(e.ctx, young+1, nil, func(*sql.Tx) error { return failed }); !errors.Is(err, failed) {
		t.Fatal(err)
	}
	check(t, e.do(leader, young))
	check(t, e.do(leader, young+1))
	wantFenced(t, e.do(leader, young), young, young+1)
	e.wantDid(t, young, 2)
	e.wantDid(t, young+1, 1)
}

// A stale transaction that has checked is waited for; it lands before the Raise
// has returned, or not at all.
func testRaiseWaitsForOpen(t *testing.T, e *env) {
	for i, level := range e.levels {
		for _, commit := range []bool{true, false} {
			name := fmt.Sprint(level, commit)
			s := e.guard(t, name)
			check(t, s.Raise(e.ctx, old))
			tx := e.begin(t, level)
			check(t, s.Check(e.ctx, tx, old))
			check(t, e.act(tx, old))
			finish := tx.Commit
			if !commit {
				finish = tx.Rollback
			}
			check(t, e.wantWaits(t, func(db *sql.DB) error { return e.guardOn(t, db, name).Raise(e.ctx, young) }, finish))
			wantFenced(t, e.doAt(e.guard(t, name), old, level), old, young)
			check(t, e.doAt(e.guard(t, name), young, level))
		}
		e.wantDid(t, old, int64(i+1))
	}
}

// A stale transaction that began, and has read and written, before the Raise,
// but has not checked yet, is not waited for: its Check must fail.
func testOpenWithoutCheck(t *testing.T, e *env) {
	for _, level := range e.levels {
		for _, writes := range []bool{false, true} {
			if e.dialect == fence.SQLite && writes {
				continue // its one writer keeps all others out
			}
			name := fmt.Sprint(level, writes)
			check(t, e.guard(t, name).Raise(e.ctx, old))
			tx := e.begin(t, level)
			e.look(t, tx)
			if writes {
				check(t, e.act(tx, old))
			}
			if !e.across(t, func(db *sql.DB) error { return e.guardOn(t, db, name).Raise(e.ctx, young) }) {
				continue
			}
			err := e.guard(t, name).Check(e.ctx, tx, old)
			if e.tellsFenceAt(level) {
				wantFenced(t, err, old, young)
			} else {
				wantNotFenced(t, err)
			}
			var state interface{ SQLState() string }
			if errors.As(err, &state) && state.SQLState() != "40001" {
				t.Errorf("got %v, want a serialization failure", err)
			}
			_ = tx.Rollback()
			wantFenced(t, e.doAt(e.guard(t, name), old, level), old, young)
		}
	}
	e.wantDid(t, old, 0)
}

// across raises while a transaction is open that has only read. Where readers
// keep out writers it reports false, after it has seen that.
func (e *env) across(t *testing.T, raise func(*sql.DB) error) bool {
	t.Helper()
	if e.impatient == nil {
		check(t, raise(e.db))
		return true
	}
	db := e.impatient()
	defer db.Close()
	err := raise(db)
	if err != nil {
		wantNotFenced(t, err)
	}
	return err == nil
}

// tellsFenceAt reports whether a transaction at this level, which began before a
// Raise, is told that it is fenced, and not that its snapshot is too old.
func (e *env) tellsFenceAt(level sql.IsolationLevel) bool {
	switch e.dialect {
	case fence.Postgres:
		return level <= sql.LevelReadCommitted
	case fence.MySQL:
		return !e.oldSnapshotFails || level <= sql.LevelReadCommitted
	default:
		return false
	}
}

// The new leader's own transaction, begun before the Raise of its token, is not
// refused by a fence.
func testNewTermWithOldSnapshot(t *testing.T, e *env) {
	for _, level := range e.levels {
		for _, first := range []bool{false, true} {
			name := fmt.Sprint(level, first)
			if !first {
				check(t, e.guard(t, name).Raise(e.ctx, old))
			}
			tx := e.begin(t, level)
			e.look(t, tx)
			if !e.across(t, func(db *sql.DB) error { return e.guardOn(t, db, name).Raise(e.ctx, young) }) {
				continue
			}
			if err := e.guard(t, name).Check(e.ctx, tx, young); err != nil {
				wantNotFenced(t, err)
				_ = tx.Rollback()
			}
			_ = tx.Rollback()
			check(t, e.doAt(e.guard(t, name), young, level))
		}
	}
}

// Hundreds of transactions of one term are open at once, which they could not
// be if they waited for each other.
func testOneTermSideBySide(t *testing.T, e *env) {
	n := 200
	if e.dialect == fence.SQLite {
		n = 40 // one after the other, but without an error
	}
	s := e.guard(t, "a")
	check(t, s.Raise(e.ctx, old))
	db := e.open(nil)
	defer db.Close()
	s = e.guardOn(t, db, "a")
	check(t, s.Raise(e.ctx, old))
	var open sync.WaitGroup
	open.Add(n)
	all := make(chan struct{})
	go func() { open.Wait(); close(all) }()
	run := func() error {
		return s.Do(e.ctx, old, nil, func(tx *sql.Tx) error {
			open.Done()
			if e.dialect != fence.SQLite {
				select {
				case <-all:
				case <-e.ctx.Done():
					return fmt.Errorf("not all were open at once: %w", e.ctx.Err())
				}
			}
			return e.act(tx, old)
		})
	}
	for err := range together(n, run) {
		check(t, err)
	}
	e.wantDid(t, old, int64(n))
	check(t, e.guard(t, "a").Raise(e.ctx, young))
}

// together calls f n times at once and gives the errors as they come.
func together(n int, f func() error) <-chan error {
	errs := make(chan error, n)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { errs <- f() })
	}
	go func() { wg.Wait(); close(errs) }()
	return errs
}

// Many processes create the table and the row, and raise, at the same time.
func testFirstUse(t *testing.T, e *env) {
	const n = 24
	e.table += "_b"
	for err := range together(n, func() error { return e.guard(t, "a").CreateSchema(e.ctx) }) {
		check(t, err)
	}
	next := make(chan election.Token, n)
	for i := range n {
		next <- election.Token(100 + i/2) // two candidates with each token
	}
	const highest = election.Token(100 + (n-1)/2)
	for err := range together(n, func() error {
		mine := <-next
		err := e.guard(t, "a").Raise(e.ctx, mine)
		if mine < highest && errors.Is(err, election.ErrFenced) {
			return nil
		}
		return err
	}) {
		check(t, err)
	}
	known, err := e.guard(t, "a").Known(e.ctx)
	check(t, err)
	if known != highest {
		t.Errorf("%d is known, want %d", known, highest)
	}
}

// Many act without a Raise, all in one process or each in its own.
func testFirstActs(t *testing.T, e *env) {
	const n = 24
	shared := e.guard(t, "a")
	for err := range together(n, func() error { return e.do(shared, old) }) {
		check(t, err)
	}
	for err := range together(n, func() error { return e.do(e.guard(t, "b"), young) }) {
		check(t, err)
	}
	e.wantDid(t, old, n)
	e.wantDid(t, young, n)
}

// An act that was to create the row rolls back while others wait for it. None
// of them may be told that it is fenced, and in the end they all get through.
func testFirstUseRolledBack(t *testing.T, e *env) {
	if e.waiting == "" {
		t.Skip("on SQLite there is one writer at a time, so that nobody else has begun")
	}
	const n = 8
	s := e.guard(t, "a")
	tx := e.begin(t, sql.LevelDefault)
	check(t, s.Check(e.ctx, tx, old))
	errs := together(n, func() error {
		for {
			err := e.do(s, old)
			if err == nil || errors.Is(err, election.ErrFenced) || e.ctx.Err() != nil {
				return err
			}
		}
	})
	e.awaitWaiting(t)
	check(t, tx.Rollback())
	for err := range errs {
		check(t, err)
	}
	e.wantDid(t, old, n)
}

// Names that a lenient collation takes for one are different elections.
func testNames(t *testing.T, e *env) {
	names := []string{"a", "A", "a ", "á", "a\u0301", "ａ", "ß", "ss", "A'\"`\\%_\n", "日本", "a\u200b", " a"}
	for i, name := range names {
		check(t, e.guard(t, name).Raise(e.ctx, election.Token(100-i)))
	}
	for i, name := range names {
		known, err := e.guard(t, name).Known(e.ctx)
		check(t, err)
		if want := election.Token(100 - i); known != want {
			t.Errorf("election %q: %d is known, want %d", name, known, want)
		}
	}
	if n := e.number(t, "SELECT count(*) FROM "+e.table); n != int64(len(names)) {
		t.Errorf("%d rows, want %d", n, len(names))
	}
}

func testLargestToken(t *testing.T, e *env) {
	s := e.guard(t, "a")
	check(t, s.Raise(e.ctx, election.MaxToken-1))
	check(t, e.do(s, election.MaxToken-1))
	check(t, s.Raise(e.ctx, election.MaxToken))
	wantFenced(t, e.do(s, election.MaxToken-1), election.MaxToken-1, election.MaxToken)
	check(t, e.do(s, election.MaxToken))
	known, err := s.Known(e.ctx)
	check(t, err)
	if known != election.MaxToken {
		t.Errorf("%d is known", known)
	}
}

// A missing table is named together with what creates it.
func testSchema(t *testing.T, e *env) {
	e.table += "_b"
	s := e.guard(t, "a")
	_, known := s.Known(e.ctx)
	for what, err := range map[string]error{"Raise": s.Raise(e.ctx, old), "Do": e.do(s, old), "Known": known} {
		wantNotFenced(t, err)
		if !errors.Is(err, fence.ErrNoTable) {
			t.Errorf("%s: %v, want ErrNoTable", what, err)
		}
	}
	check(t, s.CreateSchema(e.ctx))
	check(t, s.CreateSchema(e.ctx))
	known2, err := s.Known(e.ctx)
	check(t, err)
	if known2 != 0 {
		t.Errorf("new: %d is known", known2)
	}
	check(t, e.do(s, old))
	if e.dialect == fence.Postgres {
		testRights(t, e)
	}
}

// testRights: what the documentation names suffices, and creating the table
// where it is already there needs no right to.
func testRights(t *testing.T, e *env) {
	role := e.table + "_role"
	e.exec(t, "CREATE ROLE "+role)
	e.exec(t, "REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	e.exec(t, "GRANT SELECT, INSERT, UPDATE ON "+e.table+" TO "+role)
	db := e.open(nil)
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err := db.ExecContext(e.ctx, "SET ROLE "+role)
	check(t, err)
	s := e.guardOn(t, db, "a")
	check(t, s.CreateSchema(e.ctx))
	check(t, s.Raise(e.ctx, young))
	check(t, s.Do(e.ctx, young, nil, func(*sql.Tx) error { return nil }))
	e.table += "_c"
	wantNotFenced(t, e.guardOn(t, db, "a").CreateSchema(e.ctx))
}
