package fence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"incumbent/election"
)

// SQL guards a database with one row for the election, which holds the highest
// token seen. Every transaction that acts for the election calls Check, or is
// run by Do. It may be used from many goroutines, and by many processes.
//
// # What it does not promise
//
// Only transactions that call Check are guarded, and only what they do on the
// connection that Check used. A Check counts until the row's lock is released:
// at the end of the transaction, and before that with a rollback to a savepoint
// that is older than the Check, with a statement of MySQL that commits (CREATE,
// ALTER, ...), or with a deadlock, after which MySQL has rolled back and would
// run what follows unguarded. So any error inside of the transaction must end it.
// Tables of an engine without transactions (MyISAM) cannot be guarded. A
// database that loses commits (an asynchronous replica that is promoted) loses
// the token with them.
//
// # What it promises
//
// Check locks the row, shared with all acts of the same token, until the
// transaction ends; lifting the token needs the row alone. So while a checked
// transaction is open, a Raise to a higher token waits for its end, and once
// that Raise has returned nil no transaction with a lower token can commit
// anything after its Check. Acts of one token do not wait for each other, but
// on SQLite, which has one writer at a time anyway.
//
// So a leader that is paused inside of a checked transaction holds up the next
// one's Raise: nothing stale is written, and nothing new. Let the database end
// such sessions: idle_in_transaction_session_timeout of PostgreSQL,
// idle_transaction_timeout of MariaDB, at about the lease's TTL.
//
// Check first. On MySQL a Check that follows other writes can deadlock with a
// Raise and its own term's acts, and on SQLite a transaction that has read
// before it fails if somebody has written since. Both end in an error, not in a
// stale write.
//
// # Isolation levels
//
// The promise holds at every level of isolation. They differ in how a stale or
// late transaction is told:
//
//   - PostgreSQL, READ COMMITTED: *election.FencedError.
//   - PostgreSQL, REPEATABLE READ and SERIALIZABLE: if the token was lifted after
//     the transaction's first statement, Check fails with a serialization failure
//     (SQLSTATE 40001), which is no fence: try again, and the new transaction is
//     either fenced or goes on.
//   - MySQL and MariaDB, every level: *election.FencedError, since a locking read
//     sees the latest row. MariaDB with innodb_snapshot_isolation (the default
//     from 11.6.2) may fail with error 1020 instead, which is no fence either.
//   - SQLite is always serializable. Check begins with a write, since a read
//     would check no more than a snapshot; it fails as busy when it cannot get
//     the lock within the connection's busy_timeout. Set one, and use WAL.
//
// Only PostgreSQL, MariaDB and SQLite themselves are tested, not what speaks
// their protocol.
//
// # Rights
//
// SELECT, INSERT and UPDATE on the table. PostgreSQL wants UPDATE for Check too,
// as the lock is one that readers do not take.
type SQL struct {
	db       *sql.DB
	dialect  Dialect
	election string
	resource string
	text     sqlText

	// lifted is a token that the row is known, or was about, to have. MySQL
	// would lock the row even if it found a lower token in it, and two
	// transactions that did so and then lift deadlock. So the first one in this
	// process lifts at once, and those that follow share.
	lifted atomic.Uint64
}

// SQLOptions are options of NewSQL. Their zero value is good for use.
type SQLOptions struct {
	// Table keeps one row an election. Letters, digits and underscores, with a
	// schema and one dot before it if need be; it is quoted, so that in
	// PostgreSQL upper case counts. "" means DefaultTable.
	Table string
}

// NewSQL makes the guard of one election. The name is that of the election, or
// any other of up to 255 bytes that all its candidates use; it is compared byte
// by byte. Nothing is sent before first use, and db stays the caller's.
func NewSQL(db *sql.DB, d Dialect, electionName string, o SQLOptions) (*SQL, error) {
	if o.Table == "" {
		o.Table = DefaultTable
	}
	if db == nil {
		return nil, errors.New("fence: NewSQL: no database")
	}
	for _, err := range []error{d.check(), checkTable(o.Table), checkElection(electionName)} {
		if err != nil {
			return nil, fmt.Errorf("fence: NewSQL: %w", err)
		}
	}
	return &SQL{
		db: db, dialect: d, election: electionName, text: newSQLText(d, o.Table),
		resource: fmt.Sprintf("table %s, election %q", o.Table, electionName),
	}, nil
}

func checkElection(name string) error {
	switch {
	case name == "":
		return errors.New("election name: must not be empty")
	case len(name) > maxElection:
		return fmt.Errorf("election name: %d bytes: at most %d", len(name), maxElection)
	case !utf8.ValidString(name) || strings.ContainsRune(name, 0):
		return fmt.Errorf("election name %q: must be valid UTF-8 without zero bytes", name)
	}
	return nil
}

// Raise implements Guard, in a transaction of its own. It waits for checked
// transactions of lower tokens until ctx ends (if the driver heeds that) or the
// database gives up. Candidates may raise, and create the row, at the same time.
func (s *SQL) Raise(ctx context.Context, t election.Token) error {
	if err := checkValid(s.resource, t); err != nil {
		return err
	}
	err := inTx(ctx, s.db, raiseOptions(s.dialect), s.resource, func(tx *sql.Tx) error {
		return s.check(ctx, tx, "raise", t)
	})
	if err == nil {
		s.remember(t)
	}
	return err
}

// Check must be called in the caller's transaction, before its first statement
// if possible. It waits while another transaction lifts the token.
//
// The error is a *election.FencedError if a higher token is known,
// ErrInvalidToken for a token that cannot be, or a *SQLError. After any of them
// the transaction must be rolled back.
//
// A t higher than the one known is remembered with the transaction's commit. The
// row is then locked for this transaction alone: other acts of t wait for its
// end, and until then stale ones that are under way may commit. Raise avoids
// both, as well as most of the deadlocks that MySQL could see here.
func (s *SQL) Check(ctx context.Context, tx SQLTx, t election.Token) error {
	if err := checkValid(s.resource, t); err != nil {
		return err
	}
	if err := checkTx(s.resource, "check", tx); err != nil {
		return err
	}
	if err := s.check(ctx, tx, "check", t); err != nil {
		return err
	}
	s.remember(t)
	return nil
}

// Do runs act in a transaction that has been checked, and commits. o is as for
// sql.DB.BeginTx; nil means the database's default. If act fails or panics, it
// rolls back.
//
// The error is one of Check, or act's own, or a *SQLError of which the kind is
// ErrOutcomeUnknown if the commit was sent and not answered: the act may have
// been done.
func (s *SQL) Do(ctx context.Context, t election.Token, o *sql.TxOptions, act func(tx *sql.Tx) error) error {
	if err := checkValid(s.resource, t); err != nil {
		return err
	}
	return inTx(ctx, s.db, o, s.resource, func(tx *sql.Tx) error {
		if err := s.Check(ctx, tx, t); err != nil {
			return err
		}
		return act(tx)
	})
}

// Known is the highest token that the row holds; 0 if there is no row yet.
func (s *SQL) Known(ctx context.Context) (election.Token, error) {
	t, err := readToken(s.db.QueryRowContext(ctx, s.text.known, s.election))
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, s.failure("known", err)
	}
	return t, nil
}

// Schema is the statement that creates the table unless it exists, for use in
// migrations. One table serves any number of elections.
func (s *SQL) Schema() string { return s.text.schema }

// CreateSchema creates the table unless it exists. Several processes may do so
// at once; a user who may not create tables succeeds if it is there.
func (s *SQL) CreateSchema(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, s.text.schema)
	if err == nil {
		return nil
	}
	// PostgreSQL fails when two create it at once, and without the right to.
	if _, known := s.Known(ctx); known == nil {
		return nil
	}
	return &SQLError{Resource: s.resource, Op: "create", Err: err}
}

// check compares t with the row and lifts the row if t is higher.
func (s *SQL) check(ctx context.Context, tx SQLTx, op string, t election.Token) error {
	if s.sharesFirst(t) {
		known, err := s.share(ctx, tx, t)
		if err == nil {
			return s.compare(t, known)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return s.failure(op, err)
		}
	}
	args := []any{s.election, int64(t)}
	if s.dialect == MySQL {
		args = append(args, int64(t))
	}
	if _, err := tx.ExecContext(ctx, s.text.lift, args...); err != nil {
		return s.failure(op, err)
	}
	known, err := s.share(ctx, tx, t)
	if errors.Is(err, sql.ErrNoRows) {
		err = errors.New("the row was lifted and does not show it: is there a trigger or a row policy?")
	}
	if err != nil {
		return s.failure(op, err)
	}
	return s.compare(t, known)
}

// sharesFirst says whether to look before lifting.
func (s *SQL) sharesFirst(t election.Token) bool {
	switch s.dialect {
	case Postgres:
		return true
	case MySQL:
		return uint64(t) <= s.lifted.Load()
	default: // SQLite: a read before the write would check a snapshot
		return false
	}
}

// share gives the token of the row, locked; sql.ErrNoRows if it is lower than t
// or not there.
func (s *SQL) share(ctx context.Context, tx SQLTx, t election.Token) (election.Token, error) {
	return readToken(tx.QueryRowContext(ctx, s.text.share, s.election, int64(t)))
}

// remember notes that the row holds t, or will when a transaction commits.
func (s *SQL) remember(t election.Token) {
	for old := s.lifted.Load(); uint64(t) > old; old = s.lifted.Load() {
		if s.lifted.CompareAndSwap(old, uint64(t)) {
			return
		}
	}
}

func (s *SQL) compare(t, known election.Token) error {
	if known > t {
		return &election.FencedError{Resource: s.resource, Token: t, Known: known}
	}
	return nil
}

func (s *SQL) failure(op string, err error) error {
	e := &SQLError{Resource: s.resource, Op: op, Err: err}
	if isNoTable(err) {
		e.Kind, e.Remedy = ErrNoTable, "create it with SQL.CreateSchema, or run the statement that SQL.Schema gives"
	}
	return e
}

// readToken reads a token column. NULL is a row that has no token yet.
func readToken(row *sql.Row) (election.Token, error) {
	var n sql.NullInt64
	if err := row.Scan(&n); err != nil {
		return 0, err
	}
	if n.Int64 < 0 {
		return 0, fmt.Errorf("the token column holds %d, which something else wrote", n.Int64)
	}
	return election.Token(n.Int64), nil
}
