package benchfile

import (
	"bytes"
	"fmt"
	"slices"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"
)

// Units are what the "Unit" lines of files say: for each unit whether a higher or a
// lower value is better, and how it is distributed. The zero value is empty and
// ready.
type Units struct {
	known benchfmt.UnitMetadataMap
	from  map[benchfmt.UnitMetadataKey]place
}

type place struct {
	file string
	line int
}

// maxUnits bounds what a file can make a reader remember.
const maxUnits = 10_000

// Better returns 1 if higher values of unit are better, -1 if lower ones are, and 0
// if that is not known. It knows the units of the testing package without a line.
func (u *Units) Better(unit string) int { return u.known.GetBetter(unit) }

// Exact reports whether unit is measured exactly, so that one measurement suffices.
func (u *Units) Exact(unit string) bool {
	m := u.known.Get(unit, "assume")
	return m != nil && m.Value == "exact"
}

// Merge adds what other knows. The error is a *UnitError if they differ.
func (u *Units) Merge(other *Units) error {
	for key, m := range other.known {
		if err := u.set(key, m.OrigUnit, m.Value, other.from[key]); err != nil {
			return err
		}
	}
	return nil
}

func (u *Units) set(key benchfmt.UnitMetadataKey, unit, value string, at place) error {
	if have, ok := u.known[key]; ok {
		if have.Value == value {
			return nil
		}
		first := u.from[key]
		return &UnitError{at.file, at.line, unit, fmt.Sprintf("%s=%s, but %s:%d says %s=%s", key.Key, value, first.file, first.line, key.Key, have.Value)}
	}
	if u.known == nil {
		u.known, u.from = benchfmt.UnitMetadataMap{}, map[benchfmt.UnitMetadataKey]place{}
	}
	if len(u.known) >= maxUnits {
		return &UnitError{at.file, at.line, unit, fmt.Sprintf("more than %d units are described", maxUnits)}
	}
	u.known[key] = &benchfmt.UnitMetadata{UnitMetadataKey: key, OrigUnit: unit, Value: value}
	u.from[key] = at
	return nil
}

// values of the keys that are understood.
var unitValues = map[string][]string{"better": {"higher", "lower"}, "assume": {"nothing", "exact"}}

// isUnitLine reports whether line describes a unit: "Unit NAME key=value ...". A log
// line may begin with that word as well.
func isUnitLine(line []byte) bool {
	word, rest := field(line)
	if string(word) != "Unit" {
		return false
	}
	_, rest = field(rest)
	for n := 0; ; n++ {
		if word, rest = field(rest); len(word) == 0 {
			return n > 0
		}
		if bytes.IndexByte(word, '=') <= 0 {
			return false
		}
	}
}

// add adds what a line says. Keys that mean nothing here are ignored.
func (u *Units) add(line []byte, at place) error {
	_, rest := field(line)
	name, rest := field(rest)
	unit := string(name)
	_, tidy := benchunit.Tidy(1, unit)
	for {
		var word []byte
		if word, rest = field(rest); len(word) == 0 {
			return nil
		}
		k, v, _ := bytes.Cut(word, []byte("="))
		key, value := string(k), string(v)
		allowed, known := unitValues[key]
		if !known {
			continue
		}
		if !slices.Contains(allowed, value) {
			return &UnitError{at.file, at.line, unit, fmt.Sprintf("%s=%s: must be %s or %s", key, value, allowed[0], allowed[1])}
		}
		if err := u.set(benchfmt.UnitMetadataKey{Unit: tidy, Key: key}, unit, value, at); err != nil {
			return err
		}
	}
}
