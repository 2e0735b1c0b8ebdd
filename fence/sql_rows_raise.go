package fence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"incumbent/election"
)

// Raise lifts the tokens of rows in a transaction of its own, and waits for open
// transactions that have written them, until ctx ends (if the driver heeds that)
// or the database gives up. Each where names the values of some or all of the
// key columns, and means all rows that match; an empty one means the whole table.
// At least one is needed. Raising rows that nobody has is no error, and does
// nothing: see Rows.
//
// It writes every row whose token is lower. The error is a *election.FencedError
// if any row has a higher one; then, as after any other error, no row was lifted.
func (r *Rows) Raise(ctx context.Context, t election.Token, where ...Columns) error {
	if err := r.checkRaise(where); err != nil {
		return err
	}
	resource := r.resourceOf(where[0])
	if err := checkValid(resource, t); err != nil {
		return err
	}
	return inTx(ctx, r.db, raiseOptions(r.dialect), resource, func(tx *sql.Tx) error {
		for _, some := range where {
			if err := r.raise(ctx, tx, t, some); err != nil {
				return err
			}
		}
		return nil
	})
}

// Guard is Raise of these rows as a Guard for election.Run. It lifts, at each
// Raise, the rows that are there then.
func (r *Rows) Guard(where ...Columns) (Guard, error) {
	if err := r.checkRaise(where); err != nil {
		return nil, err
	}
	own := slices.Clone(where)
	for i := range own {
		own[i] = maps.Clone(own[i])
	}
	return rowsGuard{r, own}, nil
}

type rowsGuard struct {
	rows  *Rows
	where []Columns
}

func (g rowsGuard) Raise(ctx context.Context, t election.Token) error {
	return g.rows.Raise(ctx, t, g.where...)
}

func (r *Rows) raise(ctx context.Context, tx *sql.Tx, t election.Token, where Columns) error {
	resource := r.resourceOf(where)
	lift, highest := r.raiseText(t, where), r.highestText(where)
	if _, err := tx.ExecContext(ctx, lift.text, lift.args...); err != nil {
		return &SQLError{Resource: resource, Op: "raise", Err: err}
	}
	known, err := readToken(tx.QueryRowContext(ctx, highest.text, highest.args...))
	if err != nil {
		return &SQLError{Resource: resource, Op: "raise", Err: err}
	}
	if known > t {
		return &election.FencedError{Resource: resource, Token: t, Known: known}
	}
	return nil
}

func (r *Rows) checkRaise(where []Columns) error {
	if len(where) == 0 {
		return errors.New("table " + r.table + ": raise: no rows are named (an empty Columns means the whole table)")
	}
	for _, some := range where {
		if err := r.checkWhere("raise", some); err != nil {
			return err
		}
	}
	return nil
}

// checkWhere allows key columns only, and no value that no row can have.
func (r *Rows) checkWhere(op string, where Columns) error {
	for _, column := range slices.Sorted(maps.Keys(where)) {
		if !r.isKey(column) {
			return fmt.Errorf("%s: %s: column %q is not one of the key's", r.resourceOf(where), op, column)
		}
		if where[column] == nil {
			return fmt.Errorf("%s: %s: key column %q: must not be nil, as nothing equals NULL", r.resourceOf(where), op, column)
		}
	}
	return nil
}

func (r *Rows) isKey(column string) bool { return slices.Contains(r.key, column) }
