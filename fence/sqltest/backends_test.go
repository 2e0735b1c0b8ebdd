package sqltest_test

import (
	"context"
	"database/sql"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"go.uber.org/goleak"
	_ "modernc.org/sqlite" // the driver named sqlite

	"incumbent/fence"
	"incumbent/fence/sqltest/dbproc"
	"incumbent/fence/sqltest/mariadb"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			println(err.Error())
			code = 1
		}
	}
	os.Exit(code)
}

// backend is a kind of database, with one database of it that is running.
type backend struct {
	dialect fence.Dialect
	// open gives connections of their own. wrap replaces the network's; nil does not.
	open func(wrap func(net.Conn) net.Conn) *sql.DB
	// levels of isolation that it knows.
	levels []sql.IsolationLevel
	// session asks for the connection's id, and kill ends the connection with an
	// id; "" if there is no server that could.
	session, kill string
	// waiting counts the statements that wait for a lock; "" if nobody knows.
	waiting string
	// impatient gives connections that do not wait for a lock, where waiting is "".
	impatient func() *sql.DB
	// oldSnapshotFails says that MariaDB compares with the transaction's snapshot.
	oldSnapshotFails bool

	db *sql.DB // for everything that needs no connections of its own
}

var allLevels = []sql.IsolationLevel{
	sql.LevelReadUncommitted, sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable,
}

func TestPostgres(t *testing.T) {
	cfg, err := pgx.ParseConfig(dbproc.StartPostgres(t))
	check(t, err)
	open := func(level string) *sql.DB {
		c := cfg.Copy()
		c.RuntimeParams["default_transaction_isolation"] = level
		return stdlib.OpenDB(*c)
	}
	t.Run("RaiseAtAnyDefault", func(t *testing.T) { testRaiseAtAnyDefault(t, open) })
	runSuite(t, &backend{
		dialect: fence.Postgres,
		open: func(wrap func(net.Conn) net.Conn) *sql.DB {
			c := cfg.Copy()
			if dial := c.DialFunc; wrap != nil {
				c.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
					nc, err := dial(ctx, network, addr)
					if err != nil {
						return nil, err
					}
					return wrap(nc), nil
				}
			}
			return stdlib.OpenDB(*c)
		},
		levels:  allLevels,
		session: "SELECT pg_backend_pid()",
		kill:    "SELECT pg_terminate_backend(%d)",
		waiting: "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
	})
}

// A Raise gets through at once whatever the database's default level is: it does
// not fail because another one was faster.
func testRaiseAtAnyDefault(t *testing.T, open func(level string) *sql.DB) {
	for _, level := range []string{"read committed", "repeatable read", "serializable"} {
		db := open(level)
		defer db.Close()
		s, err := fence.NewSQL(db, fence.Postgres, level, fence.SQLOptions{})
		check(t, err)
		check(t, s.CreateSchema(t.Context()))
		for err := range together(24, func() error { return s.Raise(t.Context(), old) }) {
			check(t, err)
		}
	}
}

func TestMariaDB(t *testing.T) {
	socket := dbproc.StartMariaDB(t)
	admin := mariadb.Open(socket, "", mariadb.Options{})
	defer admin.Close()
	for name, o := range map[string]mariadb.Options{
		"prepared":            {},
		"text and found rows": {Text: true, FoundRows: true},
		// The default from MariaDB 11.6.2 on.
		"snapshot isolation": {Init: []string{"SET innodb_snapshot_isolation = ON"}},
	} {
		t.Run(name, func(t *testing.T) {
			database := "d" + strings.ReplaceAll(name, " ", "_")
			// A collation in which "A", "a", "á" and "a " are equal, as is usual.
			_, err := admin.ExecContext(t.Context(), "CREATE DATABASE "+database+" CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
			check(t, err)
			runSuite(t, &backend{
				dialect: fence.MySQL,
				open: func(wrap func(net.Conn) net.Conn) *sql.DB {
					o := o
					o.Wrap = wrap
					return mariadb.Open(socket, database, o)
				},
				levels:           allLevels,
				oldSnapshotFails: len(o.Init) > 0,
				session:          "SELECT CONNECTION_ID()",
				kill:             "KILL CONNECTION %d",
				waiting:          "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'INNODB_ROW_LOCK_CURRENT_WAITS'",
			})
		})
	}
}

func TestSQLite(t *testing.T) {
	for _, journal := range []string{"WAL", "DELETE"} {
		t.Run(journal, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x.db")
			open := func(patience string) *sql.DB {
				db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout("+patience+
					")&_pragma=journal_mode("+journal+")&_pragma=synchronous(OFF)")
				check(t, err)
				return db
			}
			runSuite(t, &backend{
				dialect:   fence.SQLite,
				open:      func(func(net.Conn) net.Conn) *sql.DB { return open("20000") },
				levels:    []sql.IsolationLevel{sql.LevelDefault},
				impatient: func() *sql.DB { return open("0") },
			})
		})
	}
}
