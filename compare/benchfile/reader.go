package benchfile

import (
	"errors"
	"io"
	"math"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"
)

// A Reader reads the results of one file. Make one with NewReader.
type Reader struct {
	source  *source
	bench   *benchfmt.Reader
	dropped []benchfmt.Value
	units   map[string]bool // seen in whole lines; bounded by maxUnits
	err     error
}

// NewReader returns a Reader of r; file is its name in errors and in Info. It reads
// the beginning of r. What is wrong with that comes from Err.
func NewReader(r io.Reader, file string) *Reader {
	s, err := newSource(r, file)
	if err != nil {
		return &Reader{source: &source{info: Info{Name: file}}, err: err}
	}
	return &Reader{source: s, bench: benchfmt.NewReader(s, file), units: map[string]bool{}}
}

// Scan advances to the next result and reports whether there is one. It blocks while
// the file does.
func (r *Reader) Scan() bool {
	for r.err == nil && r.bench.Scan() {
		switch rec := r.bench.Result().(type) {
		case *benchfmt.SyntaxError:
			if !r.source.atCut { // what is cut is reported as that
				r.source.info.malformed(r.source.at, rec.Msg)
			}
		case *benchfmt.Result:
			if r.source.atCut && !r.known(rec) {
				r.source.info.Unclosed-- // it is none
				continue
			}
			r.normalise(rec)
			r.source.info.Results++
			return true
		}
	}
	r.finish()
	return false
}

// Result returns the result that Scan found. Its values are finite and in base units;
// there may be none. It is valid until the next call of Scan, and nil without one.
func (r *Reader) Result() *benchfmt.Result {
	if r.bench == nil {
		return nil
	}
	res, _ := r.bench.Result().(*benchfmt.Result)
	return res
}

// Dropped returns the values of the result that are NaN or infinite, or too large to
// compute with. It is valid until the next call of Scan.
func (r *Reader) Dropped() []benchfmt.Value { return r.dropped }

// Line returns the line of the file that the result ends on.
func (r *Reader) Line() int { return r.source.at }

// Err returns what ended the file early, or a *NoResultsError if it ended without a
// result; nil before its end. Others are *EncodingError, *UnitError, and errors of
// reading.
func (r *Reader) Err() error { return r.err }

// Units returns what "Unit" lines have said so far.
func (r *Reader) Units() *Units { return &r.source.units }

// Info returns what was seen so far.
func (r *Reader) Info() *Info { return &r.source.info }

// finish finds out how the file ended.
func (r *Reader) finish() {
	s := r.source
	switch {
	case r.err != nil:
	case s.err != nil && !errors.Is(s.err, io.EOF):
		r.err = s.err
	case r.bench.Err() != nil:
		r.err = r.bench.Err()
	case s.info.Results == 0 && s.info.NotFinite == 0:
		r.err = &NoResultsError{File: s.file, Looks: s.looks.what(&s.info)}
	}
}

// known reports whether whole lines had all the units of a result: one whose line is
// cut may have lost half a unit.
func (r *Reader) known(res *benchfmt.Result) bool {
	for _, v := range res.Values {
		if _, unit := benchunit.Tidy(0, v.Unit); !r.units[unit] {
			return false
		}
	}
	return true
}

// largest is a bound for values: their sums and differences stay finite.
const largest = 1e290

// normalise leaves finite values in base units. benchfmt leaves a zero in the unit
// that it was written in, as in "0 split-ns", and so apart from the others.
func (r *Reader) normalise(res *benchfmt.Result) {
	kept := res.Values[:0]
	r.dropped = r.dropped[:0]
	for _, v := range res.Values {
		if v.OrigUnit == "" {
			v.Value, v.Unit = benchunit.Tidy(v.Value, v.Unit)
		}
		if len(r.units) < maxUnits {
			r.units[v.Unit] = true
		}
		if math.IsNaN(v.Value) || math.Abs(v.Value) > largest {
			r.source.info.NotFinite++
			r.dropped = append(r.dropped, v)
			continue
		}
		v.Value += 0 // -0 is 0
		kept = append(kept, v)
	}
	res.Values = kept
}
