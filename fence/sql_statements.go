package fence

import "fmt"

// DefaultTable is where SQL keeps its rows unless SQLOptions says otherwise.
const DefaultTable = "incumbent_fence"

// maxElection is the longest name of an election in bytes: what fits in the
// table's primary key everywhere.
const maxElection = 255

// sqlText is what SQL says to one database about one table.
type sqlText struct {
	// schema creates the table. Names are compared byte by byte everywhere: the
	// default collations of MySQL take "A", "a", "á" and "a " for one name.
	schema string
	// share reads the token if it is not lower than the second argument, and
	// keeps it from being lifted until the transaction ends. On PostgreSQL a row
	// that is not returned is not locked either, so that a lift which follows
	// does not deadlock with another one that did the same.
	share string
	// lift makes the token at least the second argument. It locks the row for
	// this transaction alone at once, whether it changes anything or not.
	lift string
	// known reads the token without a lock.
	known string
}

func newSQLText(d Dialect, table string) sqlText {
	t := d.quote(table)
	where := fmt.Sprintf(" FROM %s WHERE election = %s", t, d.place(1))
	text := sqlText{
		share: "SELECT token" + where + " AND token >= " + d.place(2),
		known: "SELECT token" + where,
	}
	insert := fmt.Sprintf("INSERT INTO %s%%s (election, token) VALUES (%s, %s)", t, d.place(1), d.place(2))
	const upsert = " ON CONFLICT (election) DO UPDATE SET token = EXCLUDED.token WHERE f.token < EXCLUDED.token"
	create := "CREATE TABLE IF NOT EXISTS " + t + " (\n    election %s NOT NULL PRIMARY KEY,\n    token BIGINT NOT NULL\n)%s"
	switch d {
	case Postgres:
		text.share += " FOR SHARE"
		text.lift = fmt.Sprintf(insert, " AS f") + upsert
		text.schema = fmt.Sprintf(create, `TEXT COLLATE "C"`, "")
	case MySQL:
		text.share += " LOCK IN SHARE MODE" // MariaDB has no FOR SHARE
		text.lift = fmt.Sprintf(insert, "") + " ON DUPLICATE KEY UPDATE token = GREATEST(token, ?)"
		text.schema = fmt.Sprintf(create, fmt.Sprintf("VARBINARY(%d)", maxElection), " ENGINE=InnoDB")
	case SQLite:
		text.lift = fmt.Sprintf(insert, " AS f") + upsert
		text.schema = fmt.Sprintf(create, "TEXT COLLATE BINARY", "")
	}
	return text
}
