package sqltest_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"testing"

	"incumbent/election"
	"incumbent/fence"
)

// killOwn ends the connection of a transaction from the server's side.
func (e *env) killOwn(t *testing.T, tx *sql.Tx) {
	t.Helper()
	var id int64
	check(t, tx.QueryRowContext(e.ctx, e.session).Scan(&id))
	e.exec(t, fmt.Sprintf(e.kill, id))
}

// A connection that is lost in the middle of a transaction is no fence, nothing
// of it is stored, and the next leader does not wait for it.
func testLostMidway(t *testing.T, e *env) {
	if e.kill == "" {
		t.Skip("SQLite has no connections that could be lost")
	}
	s := e.guard(t, "a")
	check(t, s.Raise(e.ctx, old))
	tx := e.begin(t, sql.LevelDefault)
	check(t, s.Check(e.ctx, tx, old))
	check(t, e.act(tx, old))
	e.killOwn(t, tx)
	wantNotFenced(t, e.act(tx, old))
	wantNotFenced(t, tx.Commit())

	tx = e.begin(t, sql.LevelDefault)
	e.killOwn(t, tx)
	err := s.Check(e.ctx, tx, old)
	wantNotFenced(t, err)
	var failure *fence.SQLError
	if !errors.As(err, &failure) || failure.Op != "check" || errors.Is(err, fence.ErrOutcomeUnknown) {
		t.Errorf("got %v, want a failed check: nothing was done yet", err)
	}
	check(t, e.guard(t, "a").Raise(e.ctx, young))
	wantFenced(t, e.do(s, old), old, young)
	e.wantDid(t, old, 0)
}

// A commit that fails is an unknown outcome and no fence.
func testLostAtCommit(t *testing.T, e *env) {
	if e.kill == "" {
		t.Skip("SQLite has no connections that could be lost")
	}
	s := e.guard(t, "a")
	err := s.Do(e.ctx, old, nil, func(tx *sql.Tx) error {
		if err := e.act(tx, old); err != nil {
			return err
		}
		e.killOwn(t, tx)
		return nil
	})
	wantNotFenced(t, err)
	if !errors.Is(err, fence.ErrOutcomeUnknown) {
		t.Errorf("got %v, want ErrOutcomeUnknown", err)
	}
	e.wantDid(t, old, 0)
	check(t, e.do(s, old))
}

// deaf is a connection that hears nothing once it has said COMMIT.
type deaf struct {
	net.Conn
	armed *atomic.Bool
	said  atomic.Bool
}

func (d *deaf) Write(b []byte) (int, error) {
	text := bytes.ToLower(b)
	if d.armed.Load() && bytes.Contains(text, []byte("commit")) && !bytes.Contains(text, []byte("read committed")) {
		d.said.Store(true)
	}
	return d.Conn.Write(b)
}

func (d *deaf) Read(b []byte) (int, error) {
	if d.said.Load() {
		_ = d.Close()
		return 0, net.ErrClosed
	}
	return d.Conn.Read(b)
}

// The reply to a commit is lost: it looks like the test before, and yet the act
// is stored. So is a raise, which can be repeated.
func testCommitReplyLost(t *testing.T, e *env) {
	if e.kill == "" {
		t.Skip("SQLite has no connections that could be lost")
	}
	var armed atomic.Bool
	db := e.open(func(nc net.Conn) net.Conn { return &deaf{Conn: nc, armed: &armed} })
	defer db.Close()
	s := e.guardOn(t, db, "a")
	check(t, s.Raise(e.ctx, old))
	armed.Store(true)
	for i, try := range []func() error{
		func() error { return e.do(s, old) },
		func() error { return s.Raise(e.ctx, young) },
	} {
		err := try()
		wantNotFenced(t, err)
		if !errors.Is(err, fence.ErrOutcomeUnknown) {
			t.Errorf("got %v, want ErrOutcomeUnknown", err)
		}
		e.eventually(t, "the commit that nobody heard of is stored", func() bool {
			known, err := e.guard(t, "a").Known(e.ctx)
			check(t, err)
			return e.did(t, old) == 1 && known == old+election.Token(i)
		})
	}
	armed.Store(false)
	check(t, s.Raise(e.ctx, young))
	wantFenced(t, e.do(s, old), old, young)
}
