package sqltest_test

import (
	"database/sql"
	"errors"
	"testing"

	"incumbent/election"
	"incumbent/fence"
)

var key = fence.Columns{"bridge": 17, "sensor": "s1"}

func level(n any) fence.Columns { return fence.Columns{"level": n} }

// write runs one guarded write of rows in a transaction of its own.
func (e *env) write(f func(tx fence.SQLTx) error) error {
	return e.inTx(sql.LevelDefault, func(tx *sql.Tx) error { return f(tx) })
}

// wantRow wants a row with this level and token.
func (e *env) wantRow(t *testing.T, key fence.Columns, level int64, token election.Token) {
	t.Helper()
	var gotLevel, gotToken sql.NullInt64
	query := e.sql("SELECT level, token FROM " + e.rows + " WHERE bridge = ? AND sensor = ?")
	check(t, e.db.QueryRowContext(e.ctx, query, key["bridge"], key["sensor"]).Scan(&gotLevel, &gotToken))
	if gotLevel.Int64 != level || gotToken.Int64 != int64(token) {
		t.Errorf("row %v has level %d and token %d, want %d and %d", key, gotLevel.Int64, gotToken.Int64, level, token)
	}
}

// writer writes one row, each time in a transaction of its own.
type writer struct {
	e   *env
	r   *fence.Rows
	key fence.Columns
}

func (w writer) update(token election.Token, set fence.Columns) error {
	return w.e.write(func(tx fence.SQLTx) error { return w.r.Update(w.e.ctx, tx, token, w.key, set) })
}

func (w writer) upsert(token election.Token, set fence.Columns) error {
	return w.e.write(func(tx fence.SQLTx) error { return w.r.Upsert(w.e.ctx, tx, token, w.key, set) })
}

func (w writer) remove(token election.Token) error {
	return w.e.write(func(tx fence.SQLTx) error { return w.r.Delete(w.e.ctx, tx, token, w.key) })
}

// Every write passes with a token that is equal or higher, whatever it changes,
// and is fenced with a lower one.
func testRows(t *testing.T, e *env) {
	w := writer{e, e.newRows(t), key}
	check(t, w.upsert(old, level(1)))
	e.wantRow(t, key, 1, old)
	for range 2 { // the second time nothing changes
		check(t, w.upsert(old, level(2)))
		check(t, w.upsert(old, nil))
		e.wantRow(t, key, 2, old)
		check(t, w.update(old, level(3)))
		check(t, w.update(old, level(3)))
		check(t, w.update(old, nil))
		e.wantRow(t, key, 3, old)
		check(t, w.update(old, level(2)))
	}
	check(t, w.update(young, level(4)))
	e.wantRow(t, key, 4, young)
	check(t, w.upsert(young+1, level(5)))
	e.wantRow(t, key, 5, young+1)
	for name, err := range map[string]error{
		"update":           w.update(young, level(6)),
		"update, same":     w.update(young, level(5)),
		"update, nothing":  w.update(young, nil),
		"upsert":           w.upsert(young, level(6)),
		"upsert, same":     w.upsert(young, level(5)),
		"upsert, nothing":  w.upsert(young, nil),
		"delete":           w.remove(young),
		"raise":            w.r.Raise(e.ctx, young, key),
		"raise all":        w.r.Raise(e.ctx, young, fence.Columns{}),
		"raise the bridge": w.r.Raise(e.ctx, young, fence.Columns{"bridge": 17}),
	} {
		t.Run(name, func(t *testing.T) { wantFenced(t, err, young, young+1) })
	}
	e.wantRow(t, key, 5, young+1)
	check(t, w.remove(young+1))
	if n := e.number(t, "SELECT count(*) FROM "+e.rows); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	check(t, w.upsert(election.MaxToken, level(nil)))
	wantFenced(t, w.update(election.MaxToken-1, level(6)), election.MaxToken-1, election.MaxToken)
}

// What is not a fence must not look like one.
func testRowsTraps(t *testing.T, e *env) {
	r := e.newRows(t)
	missing := writer{e, r, fence.Columns{"bridge": 99, "sensor": "s1"}}
	for name, err := range map[string]error{"update": missing.update(old, level(1)), "delete": missing.remove(old)} {
		if wantNotFenced(t, err); !errors.Is(err, sql.ErrNoRows) {
			t.Errorf("%s of a missing row: %v, want sql.ErrNoRows", name, err)
		}
	}
	check(t, r.Raise(e.ctx, old, missing.key))

	// A row from before there was a token.
	e.exec(t, "INSERT INTO "+e.rows+" (bridge, sensor, level, note) VALUES (17, 's1', 1, 'x')")
	check(t, writer{e, r, key}.update(old, level(1)))
	e.wantRow(t, key, 1, old)

	// Another unique index is met: an error, and the other row stays as it is.
	other := writer{e, r, fence.Columns{"bridge": 18, "sensor": "s1"}}
	wantNotFenced(t, other.upsert(young, fence.Columns{"note": "x", "level": 7}))
	e.wantRow(t, key, 1, old)
	if n := e.number(t, "SELECT count(*) FROM "+e.rows); n != 1 {
		t.Errorf("%d rows, want 1", n)
	}
}

// A key that is not unique, and columns that are not there, are errors, and not
// a missing row.
func testRowsBadNames(t *testing.T, e *env) {
	e.exec(t, "INSERT INTO "+e.rows+" (bridge, sensor) VALUES (17, 's1'), (17, 's2')")
	for _, tt := range []struct{ key, token string }{{"bridge", "token"}, {"bridge", "tokn"}, {"bridg", "token"}} {
		r, err := fence.NewRows(e.db, e.dialect, e.rows, []string{tt.key}, tt.token)
		check(t, err)
		w := writer{e, r, fence.Columns{tt.key: 17}}
		for name, err := range map[string]error{"update": w.update(young, level(9)), "delete": w.remove(young)} {
			if wantNotFenced(t, err); errors.Is(err, sql.ErrNoRows) {
				t.Errorf("%s with key %s and token %s: %v", name, tt.key, tt.token, err)
			}
		}
		if err := r.Raise(e.ctx, young, w.key); tt.key+tt.token != "bridgetoken" {
			wantNotFenced(t, err)
		}
	}
	if n := e.number(t, "SELECT count(*) FROM "+e.rows+" WHERE level IS NULL"); n != 2 {
		t.Errorf("%d rows are untouched, want 2", n)
	}
}

// Without a Raise a row takes stale writes until the new leader has written it.
func testRowsGap(t *testing.T, e *env) {
	r := e.newRows(t)
	write := func(token election.Token, n int) error { return writer{e, r, key}.upsert(token, level(n)) }
	check(t, write(old, 1))
	// The young term begins here, and has not written.
	check(t, write(old, 2))
	guard, err := r.Guard(key)
	check(t, err)
	check(t, guard.Raise(e.ctx, young))
	wantFenced(t, write(old, 3), old, young)
	e.wantRow(t, key, 2, young)
	check(t, guard.Raise(e.ctx, young))
	check(t, write(young, 4))
	check(t, write(young+1, 5))
	wantFenced(t, write(young, 6), young, young+1)
	e.wantRow(t, key, 5, young+1)
}

// A Raise lifts the rows that it names, or none.
func testRowsRaise(t *testing.T, e *env) {
	r := e.newRows(t)
	at := func(bridge int, sensor string) fence.Columns {
		return fence.Columns{"bridge": bridge, "sensor": sensor}
	}
	for bridge, tokens := range map[int][]any{1: {nil, 10}, 2: {10, 30}, 3: {10, 20}} {
		for i, token := range tokens {
			e.exec(t, "INSERT INTO "+e.rows+" (bridge, sensor, token) VALUES (?, ?, ?)", bridge, string(rune('a'+i)), token)
		}
	}
	check(t, r.Raise(e.ctx, 20, fence.Columns{"bridge": 1}, at(3, "a")))
	wantFenced(t, r.Raise(e.ctx, 25, fence.Columns{"bridge": 1}, fence.Columns{"bridge": 2}), 25, 30)
	wantFenced(t, r.Raise(e.ctx, 25, fence.Columns{"sensor": "b"}), 25, 30)
	for _, want := range []struct {
		bridge int
		sensor string
		token  election.Token
	}{{1, "a", 20}, {1, "b", 20}, {2, "a", 10}, {2, "b", 30}, {3, "a", 20}, {3, "b", 20}} {
		e.wantRow(t, at(want.bridge, want.sensor), 0, want.token)
	}
	check(t, r.Raise(e.ctx, 31, fence.Columns{}))
	if n := e.number(t, "SELECT count(*) FROM "+e.rows+" WHERE token = 31"); n != 6 {
		t.Errorf("%d rows were raised, want 6", n)
	}
}

// A stale transaction that has written a row is waited for, at every level.
func testRowsRaiseWaitsForOpen(t *testing.T, e *env) {
	r := e.newRows(t)
	for i, lvl := range e.levels {
		key := fence.Columns{"bridge": i, "sensor": "s1"}
		e.exec(t, "INSERT INTO "+e.rows+" (bridge, sensor, token) VALUES (?, ?, ?)", i, "s1", int64(old))
		tx := e.begin(t, lvl)
		check(t, r.Update(e.ctx, tx, old, key, level(1)))
		check(t, e.wantWaits(t, func(db *sql.DB) error { return e.rowsOn(t, db).Raise(e.ctx, young, key) }, tx.Commit))
		e.wantRow(t, key, 1, young)
		err := e.inTx(lvl, func(tx *sql.Tx) error { return r.Update(e.ctx, tx, old, key, level(2)) })
		wantFenced(t, err, old, young)
	}
}

// A stale transaction with a snapshot from before the Raise is refused, as
// fenced or because the snapshot is too old.
func testRowsOpenSnapshot(t *testing.T, e *env) {
	r := e.newRows(t)
	for i, lvl := range e.levels {
		for name, write := range map[string]func(tx *sql.Tx, key fence.Columns) error{
			"update": func(tx *sql.Tx, key fence.Columns) error { return r.Update(e.ctx, tx, old, key, level(1)) },
			"upsert": func(tx *sql.Tx, key fence.Columns) error { return r.Upsert(e.ctx, tx, old, key, level(1)) },
			"delete": func(tx *sql.Tx, key fence.Columns) error { return r.Delete(e.ctx, tx, old, key) },
		} {
			key := fence.Columns{"bridge": i, "sensor": name}
			e.exec(t, "INSERT INTO "+e.rows+" (bridge, sensor, token) VALUES (?, ?, ?)", i, name, int64(old))
			tx := e.begin(t, lvl)
			e.look(t, tx)
			if !e.across(t, func(db *sql.DB) error { return e.rowsOn(t, db).Raise(e.ctx, young, key) }) {
				_ = tx.Rollback()
				continue
			}
			if err := write(tx, key); e.tellsFenceAt(lvl) {
				wantFenced(t, err, old, young)
			} else {
				wantNotFenced(t, err)
			}
			_ = tx.Rollback()
			e.wantRow(t, key, 0, young)
		}
	}
}

// Many insert the same row at the same time.
func testRowsFirstUse(t *testing.T, e *env) {
	w := writer{e, e.newRows(t), key}
	for err := range together(24, func() error { return w.upsert(old, level(1)) }) {
		check(t, err)
	}
	e.wantRow(t, key, 1, old)
}
