package sqltest_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"incumbent/election"
	"incumbent/fence"
)

const (
	orderTerms   = 5 // one after the other
	orderWorkers = 4 // of each
	orderActs    = 6 // of a term, at least, before the next one begins
)

// term is one leader with its workers, who act until they are fenced.
type term struct {
	token election.Token
	done  atomic.Int64  // acts that were committed
	ready chan struct{} // closed after orderActs of them
	work  sync.WaitGroup
}

// testOrder lets leaders follow each other while the workers of those before
// them go on. Once a Raise, or a first act, has returned, nothing of a lower
// token may be stored any more; and no act may see one of a higher token.
func testOrder(t *testing.T, e *env) {
	defer e.queue()()
	for i, level := range e.levels {
		for _, raises := range []bool{true, false} {
			name := fmt.Sprint(level, raises)
			e.order(t, election.Token(1000*(2*i+2)), raises, func() (raise, act deed) {
				s := e.guard(t, name)
				return s.Raise, func(ctx context.Context, token election.Token) error {
					return s.Do(ctx, token, &sql.TxOptions{Isolation: level}, func(tx *sql.Tx) error {
						return e.orderAct(ctx, tx, token, level)
					})
				}
			})
			e.exec(t, "DELETE FROM "+e.log)
		}
	}
}

// queue lets the workers take turns at two connections where those of SQLite
// would poll for the lock, and mostly the same ones get it.
func (e *env) queue() (restore func()) {
	if e.dialect != fence.SQLite {
		return func() {}
	}
	before := e.db
	e.db = e.open(nil)
	e.db.SetMaxOpenConns(2)
	return func() {
		_ = e.db.Close()
		e.db = before
	}
}

// orderAct acts, and looks for acts of higher tokens. At the highest level that
// look would only make the acts of one term fail each other.
func (e *env) orderAct(ctx context.Context, tx *sql.Tx, token election.Token, level sql.IsolationLevel) error {
	if level < sql.LevelSerializable {
		var highest sql.NullInt64
		if err := tx.QueryRowContext(ctx, "SELECT MAX(token) FROM "+e.log).Scan(&highest); err != nil {
			return err
		}
		if highest.Int64 > int64(token) {
			return fmt.Errorf("%w: %d has passed its check and sees %d", errOrder, token, highest.Int64)
		}
	}
	return e.act(tx, token)
}

var errOrder = errors.New("wrong order")

// deed is something that is done under a token.
type deed = func(context.Context, election.Token) error

// order runs terms with tokens from first on. process makes what one process
// has: a raise and an act.
func (e *env) order(t *testing.T, first election.Token, raises bool, process func() (raise, act deed)) {
	t.Helper()
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	below := map[election.Token]int64{} // acts of lower tokens that were stored when a term began
	var failures atomic.Int64
	var terms []*term
	for i := range orderTerms {
		raise, act := process()
		now := &term{token: first + election.Token(i), ready: make(chan struct{})}
		begin := act
		if raises {
			begin = raise
		}
		insist(t, ctx, begin, now.token)
		below[now.token] = e.didBelow(t, now.token)
		now.start(t, ctx, act, &failures)
		select {
		case <-now.ready:
		case <-ctx.Done():
			t.Fatalf("token %d: %d acts", now.token, now.done.Load())
		}
		terms = append(terms, now)
	}
	raise, _ := process()
	insist(t, ctx, raise, first+orderTerms)
	for _, now := range terms {
		now.work.Wait()
	}
	for token, before := range below {
		if after := e.didBelow(t, token); after != before {
			t.Errorf("%d acts of terms before %d were stored when it began, %d in the end", before, token, after)
		}
	}
	if n := failures.Load(); n > 0 {
		t.Logf("%d acts failed without being fenced: a deadlock, an old snapshot, a busy database", n)
	}
}

// insist tries until it succeeds. Only a fence is final.
func insist(t *testing.T, ctx context.Context, do deed, token election.Token) {
	t.Helper()
	for err := do(ctx, token); err != nil; err = do(ctx, token) {
		if errors.Is(err, election.ErrFenced) || errors.Is(err, errOrder) || ctx.Err() != nil {
			t.Fatal(err)
		}
	}
}

func (e *env) didBelow(t *testing.T, token election.Token) int64 {
	t.Helper()
	return e.number(t, "SELECT count(*) FROM "+e.log+" WHERE token < ?", int64(token))
}

// start lets the workers act until they are fenced.
func (now *term) start(t *testing.T, ctx context.Context, act deed, failures *atomic.Int64) {
	for range orderWorkers {
		now.work.Go(func() {
			for {
				err := act(ctx, now.token)
				switch {
				case err == nil:
					if now.done.Add(1) == orderActs {
						close(now.ready)
					}
				case errors.Is(err, election.ErrFenced):
					return
				case errors.Is(err, errOrder), ctx.Err() != nil:
					t.Error(err)
					return
				default:
					failures.Add(1)
				}
			}
		})
	}
}

// testRowsOrder is testOrder for rows: each act writes one of them and the log.
func testRowsOrder(t *testing.T, e *env) {
	defer e.queue()()
	const bridges = 3
	for i, level := range e.levels {
		e.order(t, election.Token(1000*(i+1)), true, func() (raise, act deed) {
			r := e.newRows(t)
			raise = func(ctx context.Context, token election.Token) error {
				return r.Raise(ctx, token, fence.Columns{})
			}
			act = func(ctx context.Context, token election.Token) error {
				return e.inTx(level, func(tx *sql.Tx) error {
					key := fence.Columns{"bridge": rand.IntN(bridges), "sensor": "s"}
					if err := r.Update(ctx, tx, token, key, fence.Columns{"level": rand.IntN(2)}); err != nil {
						return err
					}
					return e.act(tx, token)
				})
			}
			if e.number(t, "SELECT count(*) FROM "+e.rows) == 0 {
				for bridge := range bridges {
					e.exec(t, "INSERT INTO "+e.rows+" (bridge, sensor) VALUES (?, ?)", bridge, "s")
				}
			}
			return raise, act
		})
		e.exec(t, "DELETE FROM "+e.log)
		e.exec(t, "DELETE FROM "+e.rows)
	}
}

// inTx runs f in a transaction.
func (e *env) inTx(level sql.IsolationLevel, f func(*sql.Tx) error) error {
	tx, err := e.db.BeginTx(e.ctx, &sql.TxOptions{Isolation: level})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}
