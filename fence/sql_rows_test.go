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

// newRows makes a guard and a transaction, of which the BEGIN is not in the log.
func newRows(t *testing.T, f *fakeSQL, d fence.Dialect) (*fence.Rows, *sql.Tx) {
	t.Helper()
	db := f.open(t)
	r, err := fence.NewRows(db, d, "ops.readings", []string{"bridge", "sensor"}, "token")
	check(t, err)
	tx, err := db.BeginTx(t.Context(), nil)
	check(t, err)
	t.Cleanup(func() { _ = tx.Rollback() })
	f.log = nil
	return r, tx
}

var (
	rowKey = fence.Columns{"sensor": "s1", "bridge": 3}
	rowSet = fence.Columns{"unit": "mm", "level": 12}
)

// What each database is told about the row.
var (
	pgRows = map[string]string{
		"update": `UPDATE "ops"."readings" SET "level" = $1, "unit" = $2, "token" = $3` +
			` WHERE "bridge" = $4 AND "sensor" = $5 AND COALESCE("token", 0) <= $6 [12 mm 7 3 s1 7]`,
		"touch": `UPDATE "ops"."readings" SET "token" = $1` +
			` WHERE "bridge" = $2 AND "sensor" = $3 AND COALESCE("token", 0) <= $4 [7 3 s1 7]`,
		"delete": `DELETE FROM "ops"."readings"` +
			` WHERE "bridge" = $1 AND "sensor" = $2 AND COALESCE("token", 0) <= $3 [3 s1 7]`,
		"lock": `SELECT "token" FROM "ops"."readings" WHERE "bridge" = $1 AND "sensor" = $2 FOR UPDATE [3 s1]`,
		"upsert": `INSERT INTO "ops"."readings" AS f ("bridge", "sensor", "level", "unit", "token") VALUES ($1, $2, $3, $4, $5)` +
			` ON CONFLICT ("bridge", "sensor") DO UPDATE SET "level" = EXCLUDED."level", "unit" = EXCLUDED."unit", "token" = EXCLUDED."token"` +
			` WHERE COALESCE(f."token", 0) <= EXCLUDED."token" [3 s1 12 mm 7]`,
	}
	myRows = map[string]string{
		"upsert": "INSERT INTO `ops`.`readings` (`bridge`, `sensor`, `level`, `unit`, `token`) VALUES (?, ?, ?, ?, ?)" +
			" ON DUPLICATE KEY UPDATE `token` = GREATEST(COALESCE(`token`, 0), ?) [3 s1 12 mm 7 7]",
		"lock": "SELECT `token` FROM `ops`.`readings` WHERE `bridge` = ? AND `sensor` = ? FOR UPDATE [3 s1]",
		"update": "UPDATE `ops`.`readings` SET `level` = ?, `unit` = ?, `token` = ?" +
			" WHERE `bridge` = ? AND `sensor` = ? AND COALESCE(`token`, 0) <= ? [12 mm 7 3 s1 7]",
	}
	liteLock = "SELECT `token` FROM `ops`.`readings` WHERE `bridge` = ? AND `sensor` = ? [3 s1]"
	one      = reply{rows: 1}
)

var rowsStatements = []struct {
	name    string
	d       fence.Dialect
	do      string
	replies []reply
	told    []string
	want    error // matched by the error; nil for success
}{
	{"update", fence.Postgres, "update", []reply{one}, []string{pgRows["update"]}, nil},
	{"update no columns", fence.Postgres, "touch", []reply{one}, []string{pgRows["touch"]}, nil},
	{"update fenced", fence.Postgres, "update", []reply{{}, {row: int64(9)}}, []string{pgRows["update"], pgRows["lock"]}, election.ErrFenced},
	{"update of no row", fence.Postgres, "update", []reply{{}, {}}, []string{pgRows["update"], pgRows["lock"]}, sql.ErrNoRows},
	{"update of a row that came between", fence.Postgres, "update", []reply{{}, {row: int64(7)}, one},
		[]string{pgRows["update"], pgRows["lock"], pgRows["update"]}, nil},
	{"update that a trigger drops", fence.Postgres, "update", []reply{{}, {row: int64(7)}, {}},
		[]string{pgRows["update"], pgRows["lock"], pgRows["update"]}, errAny},
	{"update of many", fence.Postgres, "update", []reply{{rows: 2}}, []string{pgRows["update"]}, errAny},
	{"update lost", fence.Postgres, "update", []reply{{err: io.EOF}}, []string{pgRows["update"]}, io.EOF},
	{"delete", fence.Postgres, "delete", []reply{one}, []string{pgRows["delete"]}, nil},
	{"delete fenced", fence.Postgres, "delete", []reply{{}, {row: int64(8)}}, []string{pgRows["delete"], pgRows["lock"]}, election.ErrFenced},
	{"upsert", fence.Postgres, "upsert", []reply{one}, []string{pgRows["upsert"]}, nil},
	{"upsert fenced", fence.Postgres, "upsert", []reply{{}, {row: int64(8)}}, []string{pgRows["upsert"], pgRows["lock"]}, election.ErrFenced},
	{"upsert that a trigger drops", fence.Postgres, "upsert", []reply{{}, {}}, []string{pgRows["upsert"], pgRows["lock"]}, errAny},
	{"mysql same values", fence.MySQL, "update", []reply{{}, {row: "7"}, {}}, []string{myRows["update"], myRows["lock"], myRows["update"]}, nil},
	{"mysql fenced", fence.MySQL, "update", []reply{{}, {row: "9"}}, []string{myRows["update"], myRows["lock"]}, election.ErrFenced},
	{"mysql upsert", fence.MySQL, "upsert", []reply{{rows: 2}, {row: "7"}, one}, []string{myRows["upsert"], myRows["lock"], myRows["update"]}, nil},
	{"mysql upsert fenced, found rows", fence.MySQL, "upsert", []reply{{rows: 1}, {row: "9"}},
		[]string{myRows["upsert"], myRows["lock"]}, election.ErrFenced},
	{"mysql upsert met another index", fence.MySQL, "upsert", []reply{{rows: 2}, {}}, []string{myRows["upsert"], myRows["lock"]}, errAny},
	{"sqlite", fence.SQLite, "update", []reply{{}, {row: int64(9)}}, []string{myRows["update"], liteLock}, election.ErrFenced},
}

func TestRowsStatements(t *testing.T) {
	for _, tt := range rowsStatements {
		t.Run(tt.name, func(t *testing.T) {
			f := &fakeSQL{replies: tt.replies}
			r, tx := newRows(t, f, tt.d)
			var err error
			switch tt.do {
			case "update":
				err = r.Update(t.Context(), tx, 7, rowKey, rowSet)
			case "touch":
				err = r.Update(t.Context(), tx, 7, rowKey, nil)
			case "delete":
				err = r.Delete(t.Context(), tx, 7, rowKey)
			case "upsert":
				err = r.Upsert(t.Context(), tx, 7, rowKey, rowSet)
			}
			if !matches(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			f.told(t, tt.told...)
		})
	}
}

// errAny stands for an error that says neither that the row is missing nor that
// it is fenced.
var errAny = errors.New("any")

func matches(err, want error) bool {
	for _, special := range []error{election.ErrFenced, sql.ErrNoRows, io.EOF} {
		if errors.Is(err, special) != errors.Is(want, special) {
			return false
		}
	}
	return (err == nil) == (want == nil)
}

func TestRowsErrorNamesTheRow(t *testing.T) {
	r, tx := newRows(t, &fakeSQL{replies: []reply{{}, {row: int64(9)}}}, fence.Postgres)
	key := fence.Columns{"bridge": strings.Repeat("ü", 99), "sensor": 4}
	err := r.Update(t.Context(), tx, 7, key, nil)
	wantFenced(t, err, 7, 9)
	want := `table ops.readings, row bridge="` + strings.Repeat("ü", 31) + `..., sensor=4: fenced by a higher token: 7 is refused, 9 is known`
	if err.Error() != want {
		t.Errorf("%s\nwant %s", err, want)
	}
}

func TestRowsRaiseStatements(t *testing.T) {
	f := &fakeSQL{replies: []reply{{rows: 4}, {row: int64(7)}, {}, {row: int64(0)}, {}, {row: int64(9)}}}
	r, err := fence.NewRows(f.open(t), fence.Postgres, "readings", []string{"bridge", "sensor"}, "token")
	check(t, err)
	where := fence.Columns{"bridge": 3}
	guard, err := r.Guard(where, rowKey)
	check(t, err)
	where["bridge"] = "changed by the caller, later"
	check(t, guard.Raise(t.Context(), 7))
	f.told(t, "BEGIN Read Committed",
		`UPDATE "readings" SET "token" = $1 WHERE "bridge" = $2 AND COALESCE("token", 0) < $3 [7 3 7]`,
		`SELECT MAX("token") FROM "readings" WHERE "bridge" = $1 [3]`,
		`UPDATE "readings" SET "token" = $1 WHERE "bridge" = $2 AND "sensor" = $3 AND COALESCE("token", 0) < $4 [7 3 s1 7]`,
		`SELECT MAX("token") FROM "readings" WHERE "bridge" = $1 AND "sensor" = $2 [3 s1]`,
		"COMMIT")
	wantFenced(t, r.Raise(t.Context(), 7, fence.Columns{}), 7, 9)
	f.told(t, "BEGIN Read Committed",
		`UPDATE "readings" SET "token" = $1 WHERE COALESCE("token", 0) < $2 [7 7]`,
		`SELECT MAX("token") FROM "readings"`,
		"ROLLBACK")

	f = &fakeSQL{replies: []reply{{}, {row: int64(0)}}}
	r, err = fence.NewRows(f.open(t), fence.MySQL, "readings", []string{"bridge"}, "token")
	check(t, err)
	check(t, r.Raise(t.Context(), 7, fence.Columns{"bridge": 3}))
	f.told(t, "BEGIN",
		"UPDATE `readings` SET `token` = ? WHERE `bridge` = ? AND COALESCE(`token`, 0) < ? [7 3 7]",
		"SELECT MAX(`token`) FROM `readings` WHERE `bridge` = ? [3]",
		"COMMIT")
}

func TestNewRowsRefuses(t *testing.T) {
	db := (&fakeSQL{}).open(t)
	for _, tt := range []struct {
		db           *sql.DB
		d            fence.Dialect
		table, token string
		key          []string
		want         string
	}{
		{nil, fence.Postgres, "t", "token", []string{"id"}, "no database"},
		{db, 0, "t", "token", []string{"id"}, "dialect"},
		{db, fence.MySQL, "t;", "token", []string{"id"}, `table "t;"`},
		{db, fence.MySQL, "t", "s.token", []string{"id"}, `token column "s.token"`},
		{db, fence.MySQL, "t", "", []string{"id"}, "token column: must not be empty"},
		{db, fence.MySQL, "t", "token", nil, "at least one"},
		{db, fence.MySQL, "t", "token", []string{"id", "x y"}, `key column "x y"`},
		{db, fence.MySQL, "t", "token", []string{"id", "id"}, `"id": is named twice`},
		{db, fence.MySQL, "t", "token", []string{"token"}, `"token": is named twice`},
	} {
		_, err := fence.NewRows(tt.db, tt.d, tt.table, tt.key, tt.token)
		if err == nil || !strings.HasPrefix(err.Error(), "fence: NewRows: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
}

func TestRowsMisuse(t *testing.T) {
	f := &fakeSQL{}
	r, tx := newRows(t, f, fence.Postgres)
	ctx := context.Background()
	update := func(token election.Token, key, set fence.Columns) error { return r.Update(ctx, tx, token, key, set) }
	_, guardErr := r.Guard()
	for want, err := range map[string]error{
		"not a fencing token":                update(0, rowKey, rowSet),
		`key lacks column "sensor"`:          update(7, fence.Columns{"bridge": 1}, rowSet),
		`column "x" is not one of the key's`: update(7, fence.Columns{"bridge": 1, "sensor": 2, "x": 3}, rowSet),
		`key column "sensor": must not be`:   update(7, fence.Columns{"bridge": 1, "sensor": nil}, rowSet),
		`column "a; b": only letters`:        update(7, rowKey, fence.Columns{"a; b": 1}),
		`column "token": neither`:            update(7, rowKey, fence.Columns{"token": 1}),
		`column "bridge": neither`:           update(7, rowKey, fence.Columns{"bridge": 1}),
		"no rows are named":                  r.Raise(ctx, 7),
		"raise: no rows":                     guardErr,
		`raise: column "y"`:                  r.Raise(ctx, 7, fence.Columns{"y": 1}),
		"0 is not a fencing token":           r.Raise(ctx, 0, rowKey),
	} {
		if wantNotFenced(t, err); !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	f.told(t)
}
