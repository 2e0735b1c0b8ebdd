package fence_test

import (
	"context"
	"database/sql"
	"log"

	"incumbent/election"
	"incumbent/fence"
)

// One row for the election: Run raises it before the work begins, and every
// transaction of the work checks it.
func ExampleSQL() {
	var (
		ctx context.Context  // the service's
		db  *sql.DB          // of sql.Open, with the driver of your choice
		e   election.Elector // of config.Client.Elector, for example
	)
	guard, err := fence.NewSQL(db, fence.Postgres, "bridge-health", fence.SQLOptions{})
	if err != nil {
		log.Fatal(err)
	}
	if err := guard.CreateSchema(ctx); err != nil { // or run guard.Schema() as a migration
		log.Fatal(err)
	}
	err = election.Run(ctx, e, func(ctx context.Context, t *election.Term) error {
		return guard.Do(ctx, t.Token(), nil, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE bridges SET checked = now() WHERE id = $1", 17)
			return err
		})
	}, guard)
	if err != nil {
		log.Fatal(err)
	}
}

// In a transaction that is begun elsewhere, Check comes first.
func ExampleSQL_Check() {
	var guard *fence.SQL
	act := func(ctx context.Context, tx *sql.Tx, t *election.Term) error {
		if err := guard.Check(ctx, tx, t.Token()); err != nil {
			return err // the caller rolls back
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO alarms (bridge) VALUES ($1)", 17)
		return err
	}
	_ = act
}

// A token in each row. Those of bridge 17 are lifted before the work begins.
func ExampleRows() {
	var (
		ctx context.Context
		db  *sql.DB
		e   election.Elector
	)
	// CREATE TABLE readings (bridge INT, sensor INT, level INT, token BIGINT, PRIMARY KEY (bridge, sensor))
	readings, err := fence.NewRows(db, fence.Postgres, "readings", []string{"bridge", "sensor"}, "token")
	if err != nil {
		log.Fatal(err)
	}
	guard, err := readings.Guard(fence.Columns{"bridge": 17})
	if err != nil {
		log.Fatal(err)
	}
	err = election.Run(ctx, e, func(ctx context.Context, t *election.Term) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		row := fence.Columns{"bridge": 17, "sensor": 4}
		if err := readings.Upsert(ctx, tx, t.Token(), row, fence.Columns{"level": 230}); err != nil {
			return err // a *election.FencedError ends the term
		}
		return tx.Commit()
	}, guard)
	if err != nil {
		log.Fatal(err)
	}
}
