package fence

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"incumbent/election"
)

// sqlStatement is a statement with its arguments.
type sqlStatement struct {
	text string
	args []any
}

// sqlBuilder writes a statement. Values become arguments, always.
type sqlBuilder struct {
	d    Dialect
	b    strings.Builder
	args []any
}

// add writes text in which each %i is the next name, quoted.
func (b *sqlBuilder) add(text string, names ...string) *sqlBuilder {
	for _, name := range names {
		text = strings.Replace(text, "%i", b.d.quote(name), 1)
	}
	b.b.WriteString(text)
	return b
}

// value writes the placeholder of a value.
func (b *sqlBuilder) value(v any) *sqlBuilder {
	b.args = append(b.args, v)
	b.b.WriteString(b.d.place(len(b.args)))
	return b
}

// list writes one part for each name, with commas between.
func (b *sqlBuilder) list(names []string, part func(name string)) *sqlBuilder {
	for i, name := range names {
		if i > 0 {
			b.add(", ")
		}
		part(name)
	}
	return b
}

func (b *sqlBuilder) done() sqlStatement { return sqlStatement{b.b.String(), b.args} }

func (r *Rows) build(text string) *sqlBuilder {
	return (&sqlBuilder{d: r.dialect}).add(text, r.table)
}

// match writes the condition on the key columns that where names.
func (r *Rows) match(b *sqlBuilder, where Columns) *sqlBuilder {
	word := " WHERE "
	for _, column := range r.key {
		if v, ok := where[column]; ok {
			b.add(word+"%i = ", column).value(v)
			word = " AND "
		}
	}
	return b
}

// notNewer writes the condition that the token is at most t, or below it.
func (w rowWrite) notNewer(b *sqlBuilder) *sqlBuilder {
	return b.add(" AND COALESCE(%i, 0) <= ", w.token).value(int64(w.t))
}

// columns are those to set, in a fixed order.
func (w rowWrite) columns() []string { return slices.Sorted(maps.Keys(w.set)) }

func (w rowWrite) updateText() sqlStatement {
	b := w.build("UPDATE %i SET ")
	for _, column := range w.columns() {
		b.add("%i = ", column).value(w.set[column]).add(", ")
	}
	b.add("%i = ", w.token).value(int64(w.t))
	return w.notNewer(w.match(b, w.where)).done()
}

func (w rowWrite) deleteText() sqlStatement {
	return w.notNewer(w.match(w.build("DELETE FROM %i"), w.where)).done()
}

// lockText reads the row's token. On SQLite the write that came before has
// locked the database already.
func (w rowWrite) lockText() sqlStatement {
	b := w.match((&sqlBuilder{d: w.dialect}).add("SELECT %i FROM %i", w.token, w.table), w.where)
	if w.dialect != SQLite {
		b.add(" FOR UPDATE")
	}
	return b.done()
}

// upsertText inserts the row. If it is there: on MySQL it lifts its token, on
// others it sets the columns, too, unless the token is higher.
func (w rowWrite) upsertText() sqlStatement {
	alias := " AS f"
	if w.dialect == MySQL {
		alias = ""
	}
	columns := w.columns()
	all := slices.Concat(w.key, columns, []string{w.token})
	b := w.build("INSERT INTO %i" + alias + " (")
	b.list(all, func(c string) { b.add("%i", c) }).add(") VALUES (")
	b.list(all, func(c string) { b.value(w.valueOf(c)) }).add(")")
	if w.dialect == MySQL {
		return b.add(" ON DUPLICATE KEY UPDATE %i = GREATEST(COALESCE(%i, 0), ", w.token, w.token).
			value(int64(w.t)).add(")").done()
	}
	b.add(" ON CONFLICT (").list(w.key, func(c string) { b.add("%i", c) }).add(") DO UPDATE SET ")
	b.list(append(columns, w.token), func(c string) { b.add("%i = EXCLUDED.%i", c, c) })
	return b.add(" WHERE COALESCE(f.%i, 0) <= EXCLUDED.%i", w.token, w.token).done()
}

func (w rowWrite) valueOf(column string) any {
	if column == w.token {
		return int64(w.t)
	}
	if v, ok := w.where[column]; ok {
		return v
	}
	return w.set[column]
}

// raiseText lifts the tokens of the rows that match.
func (r *Rows) raiseText(t election.Token, where Columns) sqlStatement {
	b := r.build("UPDATE %i SET ").add("%i = ", r.token).value(int64(t))
	r.match(b, where)
	word := " AND"
	if len(where) == 0 {
		word = " WHERE"
	}
	return b.add(word+" COALESCE(%i, 0) < ", r.token).value(int64(t)).done()
}

// highestText reads the highest token of the rows that match. It follows the
// lift in the same transaction and sees all that was committed before it: on
// PostgreSQL by the level of isolation, on MySQL since a snapshot is taken by the
// first plain read, which it is.
func (r *Rows) highestText(where Columns) sqlStatement {
	b := (&sqlBuilder{d: r.dialect}).add("SELECT MAX(%i) FROM %i", r.token, r.table)
	return r.match(b, where).done()
}

// maxShown is how much of a key's value an error shows.
const maxShown = 64

// resourceOf names the table and what of it where means.
func (r *Rows) resourceOf(where Columns) string {
	s := "table " + r.table
	sep := ", row "
	for _, column := range r.key {
		v, ok := where[column]
		if !ok {
			continue
		}
		format := "%v"
		switch v.(type) {
		case string, []byte:
			format = "%q"
		}
		shown := fmt.Sprintf(format, v)
		if len(shown) > maxShown {
			shown = strings.ToValidUTF8(shown[:maxShown], "") + "..."
		}
		s += sep + column + "=" + shown
		sep = ", "
	}
	return s
}
