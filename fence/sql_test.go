package fence_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"strings"
	"testing"

	"incumbent/election"
	"incumbent/fence"
)

func newSQL(t *testing.T, f *fakeSQL, d fence.Dialect) *fence.SQL {
	t.Helper()
	s, err := fence.NewSQL(f.open(t), d, "a", fence.SQLOptions{})
	check(t, err)
	return s
}

func TestSQLSchema(t *testing.T) {
	want := map[fence.Dialect]string{
		fence.Postgres: `CREATE TABLE IF NOT EXISTS "ops"."fence_1" (
    election TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    token BIGINT NOT NULL
)`,
		fence.MySQL: "CREATE TABLE IF NOT EXISTS `ops`.`fence_1` (" + `
    election VARBINARY(255) NOT NULL PRIMARY KEY,
    token BIGINT NOT NULL
) ENGINE=InnoDB`,
		fence.SQLite: "CREATE TABLE IF NOT EXISTS `ops`.`fence_1` (" + `
    election TEXT COLLATE BINARY NOT NULL PRIMARY KEY,
    token BIGINT NOT NULL
)`,
	}
	for d, schema := range want {
		s, err := fence.NewSQL((&fakeSQL{}).open(t), d, "a", fence.SQLOptions{Table: "ops.fence_1"})
		check(t, err)
		if got := s.Schema(); got != schema {
			t.Errorf("%v: %s\nwant %s", d, got, schema)
		}
	}
}

func TestNewSQLRefuses(t *testing.T) {
	db := (&fakeSQL{}).open(t)
	for _, tt := range []struct {
		db             *sql.DB
		d              fence.Dialect
		election, want string
		table          string
	}{
		{nil, fence.Postgres, "a", "no database", ""},
		{db, 0, "a", "dialect = Dialect(0)", ""},
		{db, 4, "a", "dialect = Dialect(4)", ""},
		{db, fence.SQLite, "", "election name: must not be empty", ""},
		{db, fence.SQLite, strings.Repeat("x", 256), "256 bytes: at most 255", ""},
		{db, fence.SQLite, "a\xff", "valid UTF-8", ""},
		{db, fence.SQLite, "a\x00", "zero bytes", ""},
		{db, fence.SQLite, "a", "schema of table: must not be empty", ".t"},
		{db, fence.SQLite, "a", "table: must not be empty", "s."},
		{db, fence.SQLite, "a", `"b.c": only letters`, "a.b.c"},
		{db, fence.SQLite, "a", "only letters", `t"; DROP TABLE x; --`},
		{db, fence.SQLite, "a", "only letters", "t`"},
		{db, fence.SQLite, "a", "only letters", "tä"},
		{db, fence.SQLite, "a", "only letters", "t x"},
		{db, fence.SQLite, "a", "64 bytes: at most 63", strings.Repeat("x", 64)},
	} {
		_, err := fence.NewSQL(tt.db, tt.d, tt.election, fence.SQLOptions{Table: tt.table})
		if err == nil || !strings.HasPrefix(err.Error(), "fence: NewSQL: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, %q, %q: got %v, want %q", tt.d, tt.election, tt.table, err, tt.want)
		}
	}
	if _, err := fence.NewSQL(db, fence.MySQL, strings.Repeat("ä", 127), fence.SQLOptions{Table: strings.Repeat("x", 63)}); err != nil {
		t.Error(err)
	}
}

// What each database is told, by a Raise that finds a lower token or no row.
var (
	pgShare = `SELECT token FROM "incumbent_fence" WHERE election = $1 AND token >= $2 FOR SHARE [a 7]`
	pgLift  = `INSERT INTO "incumbent_fence" AS f (election, token) VALUES ($1, $2)` +
		` ON CONFLICT (election) DO UPDATE SET token = EXCLUDED.token WHERE f.token < EXCLUDED.token [a 7]`
	myShare = "SELECT token FROM `incumbent_fence` WHERE election = ? AND token >= ? LOCK IN SHARE MODE [a 7]"
	myLift  = "INSERT INTO `incumbent_fence` (election, token) VALUES (?, ?)" +
		" ON DUPLICATE KEY UPDATE token = GREATEST(token, ?) [a 7 7]"
	liteShare = "SELECT token FROM `incumbent_fence` WHERE election = ? AND token >= ? [a 7]"
	liteLift  = "INSERT INTO `incumbent_fence` AS f (election, token) VALUES (?, ?)" +
		" ON CONFLICT (election) DO UPDATE SET token = EXCLUDED.token WHERE f.token < EXCLUDED.token [a 7]"
)

func TestSQLRaiseStatements(t *testing.T) {
	for _, tt := range []struct {
		name    string
		d       fence.Dialect
		replies []reply
		known   election.Token // 0 if it succeeds
		told    []string
	}{
		{"postgres lower", fence.Postgres, []reply{{}, {rows: 1}, {row: int64(7)}}, 0,
			[]string{"BEGIN Read Committed", pgShare, pgLift, pgShare, "COMMIT"}},
		{"postgres equal", fence.Postgres, []reply{{row: int64(7)}}, 0,
			[]string{"BEGIN Read Committed", pgShare, "COMMIT"}},
		{"postgres higher", fence.Postgres, []reply{{row: int64(9)}}, 9,
			[]string{"BEGIN Read Committed", pgShare, "ROLLBACK"}},
		{"postgres overtaken", fence.Postgres, []reply{{}, {rows: 0}, {row: int64(8)}}, 8,
			[]string{"BEGIN Read Committed", pgShare, pgLift, pgShare, "ROLLBACK"}},
		{"mysql lower", fence.MySQL, []reply{{rows: 2}, {row: "7"}}, 0,
			[]string{"BEGIN", myLift, myShare, "COMMIT"}},
		{"mysql higher", fence.MySQL, []reply{{rows: 0}, {row: "9"}}, 9,
			[]string{"BEGIN", myLift, myShare, "ROLLBACK"}},
		{"sqlite lower", fence.SQLite, []reply{{rows: 1}, {row: int64(7)}}, 0,
			[]string{"BEGIN", liteLift, liteShare, "COMMIT"}},
		{"sqlite higher", fence.SQLite, []reply{{rows: 0}, {row: int64(9)}}, 9,
			[]string{"BEGIN", liteLift, liteShare, "ROLLBACK"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &fakeSQL{replies: tt.replies}
			err := newSQL(t, f, tt.d).Raise(t.Context(), 7)
			if tt.known != 0 {
				wantFenced(t, err, 7, tt.known)
			} else {
				check(t, err)
			}
			f.told(t, tt.told...)
		})
	}
}

// MySQL locks a row alone only until this process knows that it has been lifted.
func TestSQLMySQLSharesOnceLifted(t *testing.T) {
	nothing := func(*sql.Tx) error { return nil }
	for _, by := range []string{"Raise", "Do"} {
		f := &fakeSQL{replies: []reply{{rows: 1}, {row: int64(7)}, {row: int64(7)}, {}, {rows: 1}, {row: int64(7)}}}
		s := newSQL(t, f, fence.MySQL)
		if by == "Raise" {
			check(t, s.Raise(t.Context(), 7))
		} else {
			check(t, s.Do(t.Context(), 7, nil, nothing))
		}
		f.told(t, "BEGIN", myLift, myShare, "COMMIT")
		check(t, s.Do(t.Context(), 7, nil, nothing))
		f.told(t, "BEGIN", myShare, "COMMIT")
		// Somebody has deleted the row, or the lift was rolled back.
		check(t, s.Do(t.Context(), 7, nil, nothing))
		f.told(t, "BEGIN", myShare, myLift, myShare, "COMMIT")
		f.commit = io.ErrUnexpectedEOF
		wantNotFenced(t, s.Raise(t.Context(), 8))
		f.log = nil
		f.replies = []reply{{rows: 1}, {row: int64(8)}}
		wantNotFenced(t, s.Raise(t.Context(), 8)) // the first was not certain: it lifts again
		f.told(t, "BEGIN", strings.ReplaceAll(myLift, "7", "8"), strings.ReplaceAll(myShare, "7", "8"), "COMMIT")
	}
}

func TestSQLDoOutcomes(t *testing.T) {
	failed := errors.New("failed")
	for _, tt := range []struct {
		name    string
		f       fakeSQL
		act     error
		unknown bool
		is      error
		op, end string
	}{
		{"done", fakeSQL{}, nil, false, nil, "", "COMMIT"},
		{"act failed", fakeSQL{}, failed, false, failed, "", "ROLLBACK"},
		{"begin failed", fakeSQL{begin: io.EOF}, nil, false, io.EOF, "begin", "BEGIN Serializable"},
		{"check failed", fakeSQL{replies: []reply{{err: io.EOF}}}, nil, false, io.EOF, "check", "ROLLBACK"},
		{"lost at commit", fakeSQL{commit: io.EOF}, nil, true, io.EOF, "commit", "COMMIT"},
		{"not serializable", fakeSQL{commit: sqlStateError("40001")}, nil, false, sqlStateError("40001"), "commit", "COMMIT"},
		{"deferred constraint", fakeSQL{commit: sqlStateError("23503")}, nil, false, sqlStateError("23503"), "commit", "COMMIT"},
		{"completion unknown", fakeSQL{commit: sqlStateError("40003")}, nil, true, sqlStateError("40003"), "commit", "COMMIT"},
		{"server stopped", fakeSQL{commit: sqlStateError("57P01")}, nil, true, sqlStateError("57P01"), "commit", "COMMIT"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &tt.f
			if f.replies == nil {
				f.replies = []reply{{row: int64(7)}}
			}
			err := newSQL(t, f, fence.Postgres).Do(t.Context(), 7, &sql.TxOptions{Isolation: sql.LevelSerializable},
				func(*sql.Tx) error { return tt.act })
			if !errors.Is(err, tt.is) || errors.Is(err, election.ErrFenced) || errors.Is(err, fence.ErrOutcomeUnknown) != tt.unknown {
				t.Errorf("got %v", err)
			}
			var e *fence.SQLError
			if errors.As(err, &e) != (tt.op != "") || e != nil && (e.Op != tt.op || !strings.Contains(e.Resource, `"a"`)) {
				t.Errorf("got %+v, want operation %q", e, tt.op)
			}
			if got := f.log[len(f.log)-1]; got != tt.end {
				t.Errorf("it ended with %s, want %s", got, tt.end)
			}
		})
	}
}

func TestSQLDoRollsBack(t *testing.T) {
	for name, act := range map[string]func(cancel func()){
		"panic":      func(func()) { panic("boom") },
		"ctx ending": func(cancel func()) { cancel() },
	} {
		f := &fakeSQL{replies: []reply{{row: int64(7)}}}
		s := newSQL(t, f, fence.Postgres)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var err error
		func() {
			defer func() {
				if v := recover(); v != nil {
					err = errors.New(v.(string))
				}
			}()
			err = s.Do(ctx, 7, nil, func(*sql.Tx) error { act(cancel); return nil })
		}()
		if err == nil || errors.Is(err, fence.ErrOutcomeUnknown) || errors.Is(err, election.ErrFenced) {
			t.Errorf("%s: %v, want an error with a known outcome", name, err)
		}
		check(t, s.CreateSchema(t.Context())) // needs the connection: the transaction is over by then
		if strings.Contains(strings.Join(f.log, " "), "COMMIT") {
			t.Errorf("%s: %q, want no commit", name, f.log)
		}
	}
}

func TestSQLMissingTable(t *testing.T) {
	for _, cause := range []error{
		sqlStateError("42P01"),
		errors.New(`Error 1146 (42S02): Table 'x.incumbent_fence' doesn't exist`),
		errors.New(`Received #1146 error from MySQL server: "Table 'x.incumbent_fence' doesn't exist"`),
		errors.New("SQL logic error: no such table: incumbent_fence (1)"),
	} {
		f := &fakeSQL{replies: []reply{{err: cause}}}
		err := newSQL(t, f, fence.SQLite).Raise(t.Context(), 7)
		if !errors.Is(err, fence.ErrNoTable) || !errors.Is(err, cause) || !strings.Contains(err.Error(), "CreateSchema") {
			t.Errorf("got %v, want ErrNoTable and the remedy", err)
		}
	}
}

func TestSQLRefusesWithoutTransaction(t *testing.T) {
	f := &fakeSQL{}
	db := f.open(t)
	s, err := fence.NewSQL(db, fence.SQLite, "a", fence.SQLOptions{})
	check(t, err)
	r, err := fence.NewRows(db, fence.SQLite, "t", []string{"id"}, "token")
	check(t, err)
	for _, tx := range []fence.SQLTx{nil, db} {
		for _, err := range []error{
			s.Check(t.Context(), tx, 7),
			r.Update(t.Context(), tx, 7, fence.Columns{"id": 1}, nil),
		} {
			if wantNotFenced(t, err); !strings.Contains(err.Error(), "transaction") {
				t.Errorf("%v", err)
			}
		}
	}
	f.told(t)
}

func TestSQLInvalidToken(t *testing.T) {
	f := &fakeSQL{}
	s := newSQL(t, f, fence.SQLite)
	for _, token := range []election.Token{0, election.MaxToken + 1, 1<<64 - 1} {
		for _, err := range []error{
			s.Raise(t.Context(), token),
			s.Check(t.Context(), nil, token),
			s.Do(t.Context(), token, nil, func(*sql.Tx) error { return nil }),
		} {
			if wantNotFenced(t, err); !errors.Is(err, fence.ErrInvalidToken) {
				t.Errorf("%d: %v, want ErrInvalidToken", token, err)
			}
		}
	}
	f.told(t)
}

func TestSQLForeignContent(t *testing.T) {
	for _, content := range []any{int64(-1), "many"} {
		f := &fakeSQL{replies: []reply{{row: content}}}
		wantNotFenced(t, newSQL(t, f, fence.Postgres).Raise(t.Context(), 7))
	}
	// A row that does not appear after the lift is no proof of anything.
	wantNotFenced(t, newSQL(t, &fakeSQL{}, fence.Postgres).Raise(t.Context(), 7))
}

func TestSQLCreateSchema(t *testing.T) {
	for _, tt := range []struct {
		name    string
		replies []reply
		ok      bool
	}{
		{"created", nil, true},
		{"another was faster", []reply{{err: sqlStateError("23505")}, {}}, true},
		{"no right, no table", []reply{{err: sqlStateError("42501")}, {err: sqlStateError("42P01")}}, false},
	} {
		f := &fakeSQL{replies: tt.replies}
		err := newSQL(t, f, fence.Postgres).CreateSchema(t.Context())
		if (err == nil) != tt.ok || err != nil && !errors.Is(err, sqlStateError("42501")) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestSQLKnown(t *testing.T) {
	f := &fakeSQL{replies: []reply{{row: int64(7)}, {}, {err: io.EOF}}}
	s := newSQL(t, f, fence.Postgres)
	for _, want := range []election.Token{7, 0} {
		got, err := s.Known(t.Context())
		check(t, err)
		if got != want {
			t.Errorf("%d is known, want %d", got, want)
		}
	}
	if _, err := s.Known(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
	const ask = `SELECT token FROM "incumbent_fence" WHERE election = $1 [a]`
	f.told(t, ask, ask, ask)
}
