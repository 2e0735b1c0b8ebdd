package fence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// ErrNoTable says that the guard's table is not there; SQL.CreateSchema makes it.
var ErrNoTable = errors.New("the guard's table does not exist")

// SQLError is why a call of SQL or Rows failed when it was not fenced. Inside of
// a transaction nothing is done before the commit: roll it back. On MySQL the
// server may have done so already, and would run further statements one by one.
type SQLError struct {
	// Resource is the table with the election or the row.
	Resource string
	// Op is what was asked: create, begin, check, raise, commit, known, update,
	// upsert, delete.
	Op string
	// Kind is ErrNoTable, or ErrOutcomeUnknown for a commit without a clear
	// answer: only then can something have been done. It is nil for all else.
	Kind error
	// Err is the cause in the driver's words: a lost connection, a deadlock, a
	// serialization failure (the transaction may be tried again), ... It is
	// sql.ErrNoRows when the row to update or delete does not exist.
	Err error
	// Remedy is what to do about it, "" if nothing general can be said.
	Remedy string
}

// Permanent reports whether waiting does not help: the table does not exist.
func (e *SQLError) Permanent() bool { return errors.Is(e.Kind, ErrNoTable) }

// Error gives resource, operation, kind, cause and remedy in one line.
func (e *SQLError) Error() string {
	s := e.Resource + ": " + e.Op + ": "
	if e.Kind != nil {
		s += e.Kind.Error() + ": "
	}
	s += e.Err.Error()
	if e.Remedy != "" {
		s += " (" + e.Remedy + ")"
	}
	return s
}

// Unwrap gives the kind, if there is one, and the cause.
func (e *SQLError) Unwrap() []error {
	if e.Kind == nil {
		return []error{e.Err}
	}
	return []error{e.Kind, e.Err}
}

// SQLTx is a transaction of the caller's: a *sql.Tx, or a *sql.Conn on which
// BEGIN was sent by hand. A *sql.DB is refused: it would use another
// connection for each statement, and keep no lock between them.
type SQLTx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// checkTx refuses what cannot be a transaction.
func checkTx(resource, op string, tx SQLTx) error {
	if _, ok := tx.(*sql.DB); ok || tx == nil {
		return fmt.Errorf("%s: %s: must be called with a transaction, not %T: nothing would be locked", resource, op, tx)
	}
	return nil
}

// sqlState is the SQLSTATE of err, where the driver gives it, as pgx and pq do.
func sqlState(err error) string {
	var s interface{ SQLState() string }
	if errors.As(err, &s) {
		return s.SQLState()
	}
	return ""
}

// isNoTable reads the text, since drivers have no error of their own in common.
// A wrong guess costs no more than a wrong remedy.
func isNoTable(err error) bool {
	if sqlState(err) == "42P01" {
		return true
	}
	text := err.Error()
	for _, mark := range []string{"no such table", "42S02", "Error 1146", "#1146"} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

// commitError is a failed commit. Where the server says that it rolled back,
// the outcome is known.
func commitError(resource string, err error) *SQLError {
	e := &SQLError{Resource: resource, Op: "commit", Err: err}
	switch s := sqlState(err); {
	case s != "40003" && strings.HasPrefix(s, "40"), strings.HasPrefix(s, "23"):
	default:
		e.Kind = ErrOutcomeUnknown
		e.Remedy = "see what is stored before doing it again, unless doing it twice is harmless"
	}
	return e
}

// inTx calls f in a transaction of its own and commits unless f fails. A panic
// of f rolls back.
func inTx(ctx context.Context, db *sql.DB, o *sql.TxOptions, resource string, f func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, o)
	if err != nil {
		return &SQLError{Resource: resource, Op: "begin", Err: err}
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if err := f(tx); err != nil {
		return err
	}
	if ctx.Err() != nil { // so that nothing was sent, and nothing is unknown
		return &SQLError{Resource: resource, Op: "commit", Err: fmt.Errorf("rolled back: %w", context.Cause(ctx))}
	}
	if err := tx.Commit(); err != nil {
		return commitError(resource, err)
	}
	return nil
}

// raiseOptions are for transactions that lift tokens. PostgreSQL must look at
// the latest row, not at one of a snapshot, or it fails where it could go on.
// Locking reads of MySQL always do; and with statements in its binary log it
// would not write at that level.
func raiseOptions(d Dialect) *sql.TxOptions {
	if d == Postgres {
		return &sql.TxOptions{Isolation: sql.LevelReadCommitted}
	}
	return nil
}
