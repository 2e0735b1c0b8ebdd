package fence

import (
	"fmt"
	"strconv"
	"strings"
)

// Dialect is the kind of SQL that a database speaks. The zero value is none.
type Dialect int

// The dialects. MySQL stands for MariaDB too; tables must be InnoDB's.
const (
	Postgres Dialect = iota + 1
	MySQL
	SQLite
)

var dialectNames = map[Dialect]string{Postgres: "PostgreSQL", MySQL: "MySQL", SQLite: "SQLite"}

// String gives the usual name of the database.
func (d Dialect) String() string {
	if name, ok := dialectNames[d]; ok {
		return name
	}
	return "Dialect(" + strconv.Itoa(int(d)) + ")"
}

func (d Dialect) check() error {
	if _, ok := dialectNames[d]; !ok {
		return fmt.Errorf("dialect = %v: must be Postgres, MySQL or SQLite", d)
	}
	return nil
}

// maxIdentifier is PostgreSQL's limit. It cuts longer names without an error,
// so that two of them could become one; MySQL's limit is one more.
const maxIdentifier = 63

// checkIdentifier refuses what is not made of letters, digits and underscores.
func checkIdentifier(what, name string) error {
	if name == "" {
		return fmt.Errorf("%s: must not be empty", what)
	}
	if len(name) > maxIdentifier {
		return fmt.Errorf("%s %q: %d bytes: at most %d", what, name, len(name), maxIdentifier)
	}
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
		default:
			return fmt.Errorf("%s %q: only letters a to z, digits and underscores are allowed", what, name)
		}
	}
	return nil
}

// checkTable allows one dot, between schema and table.
func checkTable(name string) error {
	schema, table, dotted := strings.Cut(name, ".")
	if !dotted {
		return checkIdentifier("table", name)
	}
	if err := checkIdentifier("schema of table", schema); err != nil {
		return err
	}
	return checkIdentifier("table", table)
}

// quote quotes an identifier that has been checked. SQLite takes a name in
// double quotes that it does not know for a string, and then compares with that
// instead of saying that there is no such column; not so with backquotes.
func (d Dialect) quote(name string) string {
	q := "`"
	if d == Postgres {
		q = `"`
	}
	return q + strings.ReplaceAll(name, ".", q+"."+q) + q
}

// place gives the placeholder of the n-th argument, counted from 1.
func (d Dialect) place(n int) string {
	if d == Postgres {
		return "$" + strconv.Itoa(n)
	}
	return "?"
}
