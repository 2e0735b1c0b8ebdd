package benchfile

import "fmt"

// An EncodingError says that a file is not text in an encoding that can be read.
type EncodingError struct {
	File     string
	Encoding string // what it seems to be
	Remedy   string
}

func (e *EncodingError) Error() string {
	return fmt.Sprintf("%s: looks like %s: %s", e.File, e.Encoding, e.Remedy)
}

// A NoResultsError says that a file has no benchmark result.
type NoResultsError struct {
	File  string
	Looks string // what the file looks like
}

func (e *NoResultsError) Error() string {
	return fmt.Sprintf("%s: no benchmark results found; the file looks like %s", e.File, e.Looks)
}

// A UnitError says that a "Unit" line cannot be followed, alone or beside another.
type UnitError struct {
	File string
	Line int
	Unit string
	Text string // what is wrong with it
}

func (e *UnitError) Error() string {
	return fmt.Sprintf("%s:%d: unit %s: %s", e.File, e.Line, e.Unit, e.Text)
}
