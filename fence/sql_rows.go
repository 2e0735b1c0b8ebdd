package fence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"incumbent/election"
)

// Columns are columns of a row with their values, as database/sql takes them.
type Columns = map[string]any

// Rows guards the rows of one table, each by a token in a column of its own. It
// is the alternative to SQL where one row for the whole election would be a
// bottleneck, or where rows belong to different elections. It may be used from
// many goroutines.
//
// A row remembers the token of its last guarded write. So a stale write passes
// until the new leader has written that row once: lift the tokens of the rows
// with Raise first, or hand Guard to election.Run. NULL is a row that no term
// has written yet.
//
// # What it does not promise
//
// A row that does not exist remembers nothing: a stale Upsert creates it, before
// a Raise or after it, and after a Delete. If that matters, mark rows as deleted
// instead, or use SQL, alone or together with Rows. Writes that do not go
// through Rows are not compared, whatever they do to the token.
//
// # Transactions
//
// Update, Upsert and Delete work in the caller's transaction. After an error roll
// it back. At PostgreSQL's REPEATABLE READ and SERIALIZABLE a row that was
// written after the transaction's first statement gives a serialization failure,
// which is no fence; a new transaction tells.
type Rows struct {
	db      *sql.DB
	dialect Dialect
	table   string
	key     []string
	token   string
}

// NewRows makes the guard of a table. key are the columns of its primary key, or
// of a unique index, of which no column is NULL; token is the column that keeps
// the token, of type BIGINT. The names are quoted, so that in PostgreSQL upper
// case counts. Nothing is sent before first use, and db stays the caller's: only
// Raise uses it.
//
// On MySQL an Upsert that meets another unique index of the table has touched
// that index's row when it notices and fails: one more reason to roll back.
func NewRows(db *sql.DB, d Dialect, table string, key []string, token string) (*Rows, error) {
	if db == nil {
		return nil, errors.New("fence: NewRows: no database")
	}
	errs := []error{d.check(), checkTable(table), checkIdentifier("token column", token)}
	if len(key) == 0 {
		errs = append(errs, errors.New("key columns: at least one is needed"))
	}
	seen := map[string]bool{token: true}
	for _, column := range key {
		errs = append(errs, checkIdentifier("key column", column))
		if seen[column] {
			errs = append(errs, fmt.Errorf("key column %q: is named twice", column))
		}
		seen[column] = true
	}
	for _, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("fence: NewRows: %w", err)
		}
	}
	return &Rows{db: db, dialect: d, table: table, key: append([]string(nil), key...), token: token}, nil
}

// Update sets columns of the row with this key, and its token. With no columns
// it only lifts the token. key has every key column, set none of them.
//
// The error is a *election.FencedError if the row has a higher token, and for no
// other reason; sql.ErrNoRows (with errors.Is) if there is no such row;
// ErrInvalidToken for a token that cannot be; or a *SQLError.
func (r *Rows) Update(ctx context.Context, tx SQLTx, t election.Token, key, set Columns) error {
	w, err := r.write("update", tx, t, key, set)
	if err != nil {
		return err
	}
	return w.change(ctx, w.updateText(), r.dialect == MySQL)
}

// Delete removes the row with this key. With it goes the token: see Rows.
// Errors are as for Update.
func (r *Rows) Delete(ctx context.Context, tx SQLTx, t election.Token, key Columns) error {
	w, err := r.write("delete", tx, t, key, nil)
	if err != nil {
		return err
	}
	return w.change(ctx, w.deleteText(), false)
}

// Upsert inserts the row or, if there is one with this key, sets its columns and
// its token. key has every key column, set none of them. Errors are as for
// Update, but for sql.ErrNoRows.
func (r *Rows) Upsert(ctx context.Context, tx SQLTx, t election.Token, key, set Columns) error {
	w, err := r.write("upsert", tx, t, key, set)
	if err != nil {
		return err
	}
	if r.dialect == MySQL {
		return w.upsertMySQL(ctx)
	}
	n, err := w.exec(ctx, w.upsertText())
	if err != nil || n == 1 {
		return err
	}
	known, err := w.known(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return w.failure(errors.New("the row was not inserted: is there a trigger or a row policy?"))
	}
	if err != nil {
		return w.failure(err)
	}
	return w.refused(known)
}

// rowWrite is one guarded write of one row.
type rowWrite struct {
	*Rows
	op    string
	tx    SQLTx
	t     election.Token
	where Columns // the key
	set   Columns
}

// write checks the arguments of a write.
func (r *Rows) write(op string, tx SQLTx, t election.Token, key, set Columns) (rowWrite, error) {
	w := rowWrite{r, op, tx, t, key, set}
	if err := checkValid(w.resource(), t); err != nil {
		return w, err
	}
	if err := checkTx(w.resource(), op, tx); err != nil {
		return w, err
	}
	for _, column := range r.key {
		if _, ok := key[column]; !ok {
			return w, w.misuse("the key lacks column %q", column)
		}
	}
	if err := r.checkWhere(op, key); err != nil {
		return w, err
	}
	for column := range set {
		if err := checkIdentifier("column", column); err != nil {
			return w, w.misuse("%w", err)
		}
		if r.isKey(column) || column == r.token {
			return w, w.misuse("column %q: neither the key nor the token can be set", column)
		}
	}
	return w, nil
}

// exec runs a statement and gives the number of rows it touched, as the
// database counts. More than one is an error.
func (w rowWrite) exec(ctx context.Context, s sqlStatement) (int64, error) {
	res, err := w.tx.ExecContext(ctx, s.text, s.args...)
	if err != nil {
		return 0, w.failure(err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return 0, w.failure(err)
	}
	if n > 1 && w.op != "upsert" { // MySQL counts an upsert's row twice
		return n, w.failure(fmt.Errorf("%d rows have this key: it must be unique", n))
	}
	return n, nil
}

// known locks the row and gives its token.
func (w rowWrite) known(ctx context.Context) (election.Token, error) {
	s := w.lockText()
	return readToken(w.tx.QueryRowContext(ctx, s.text, s.args...))
}

// change updates or deletes. That no row was touched has four reasons: there is
// none, it has a higher token, it came between the statement and now, or MySQL
// does not count a row which had these values already (sameIsZero). A lock on
// the row tells which, and after that a second try cannot miss.
func (w rowWrite) change(ctx context.Context, s sqlStatement, sameIsZero bool) error {
	n, err := w.exec(ctx, s)
	if err != nil || n == 1 {
		return err
	}
	known, err := w.known(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return &SQLError{Resource: w.resource(), Op: w.op, Err: fmt.Errorf("no such row: %w", err), Remedy: w.missingRemedy()}
	}
	if err != nil {
		return w.failure(err)
	}
	if known > w.t {
		return w.refused(known)
	}
	n, err = w.exec(ctx, s)
	if err != nil || n == 1 || sameIsZero {
		return err
	}
	return w.refused(known)
}

func (w rowWrite) missingRemedy() string {
	if w.op == "update" {
		return "insert it with Upsert"
	}
	return ""
}

// upsertMySQL inserts the row or lifts its token, sees which token it has now,
// and then sets the columns. ON DUPLICATE KEY knows no WHERE, and its count says
// neither whether a token was higher nor which unique index it met.
func (w rowWrite) upsertMySQL(ctx context.Context) error {
	if _, err := w.exec(ctx, w.upsertText()); err != nil {
		return err
	}
	known, err := w.known(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return w.failure(errors.New("a row with another key has one of these values in a unique index"))
	}
	if err != nil {
		return w.failure(err)
	}
	if known != w.t {
		return w.refused(known)
	}
	if len(w.set) == 0 {
		return nil
	}
	_, err = w.exec(ctx, w.updateText())
	return err
}

// refused says why a row was not written: a fence only if its token is higher.
func (w rowWrite) refused(known election.Token) error {
	if known > w.t {
		return &election.FencedError{Resource: w.resource(), Token: w.t, Known: known}
	}
	return w.failure(fmt.Errorf("the row has token %d and was not written: is there a trigger or a row policy?", known))
}

func (w rowWrite) resource() string { return w.resourceOf(w.where) }

func (w rowWrite) failure(err error) error {
	return &SQLError{Resource: w.resource(), Op: w.op, Err: err}
}

func (w rowWrite) misuse(format string, args ...any) error {
	return fmt.Errorf("%s: %s: "+format, append([]any{w.resource(), w.op}, args...)...)
}
