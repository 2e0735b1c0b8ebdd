package tabulate

// A Verdict is what comparing a row's column with the first one says.
type Verdict string

// Verdicts.
const (
	Better       Verdict = "better"
	Worse        Verdict = "worse"
	Changed      Verdict = "changed" // it is not known whether higher or lower is better
	Same         Verdict = "same"    // no difference can be seen
	Inconclusive Verdict = "inconclusive"
	Unmatched    Verdict = "unmatched" // one of the two has no samples
)

// A Report is what a Collection found.
type Report struct {
	Files    []File    `json:"files"`
	Columns  []string  `json:"columns"` // the first is what the others are compared with
	Based    bool      `json:"baseline"`
	Settings []Setting `json:"settings"` // that all rows have in common
	Units    []Unit    `json:"units"`
	Gates    []Outcome `json:"gates"` // filled by Check
	Verdict  Overall   `json:"verdict"`
}

// Setting is a configuration line of the files.
type Setting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Unit is a table: all rows that are measured in one unit.
type Unit struct {
	Name   string `json:"unit"`
	Better string `json:"better"` // "higher", "lower", or empty if that is not known
	Rows   []Row  `json:"rows"`
}

// Row is one benchmark.
type Row struct {
	Name  string `json:"name"`           // without what the columns say
	Note  string `json:"note,omitempty"` // why a column has no samples
	Cells []Cell `json:"cells"`          // one a column
}

// Cell is one benchmark in one column.
type Cell struct {
	N         int         `json:"n"`                    // samples; the rest is zero if there are none
	NotFinite int         `json:"not_finite,omitempty"` // samples that were NaN or infinite, and left out
	Median    float64     `json:"median"`
	Lo        *float64    `json:"lo"` // 95 % interval of the median; nil means unbounded,
	Hi        *float64    `json:"hi"` // as it is for fewer than six samples
	Min       float64     `json:"min"`
	Max       float64     `json:"max"`
	Mean      float64     `json:"mean"`
	Versus    *Comparison `json:"versus,omitempty"` // with the first column; nil in that one
}

// Comparison is a cell beside the one in the first column.
type Comparison struct {
	Verdict Verdict  `json:"verdict"`
	Of      string   `json:"of,omitempty"`    // what differs: "median", or "mean" if the medians are equal
	Delta   *float64 `json:"delta"`           // the difference, in the unit; nil if none can be seen
	Percent *float64 `json:"percent"`         // the same in per cent; nil if the first is zero
	P       *float64 `json:"p"`               // of the U test; nil if it has nothing to say
	Has     int      `json:"has,omitempty"`   // samples on the side that has fewer
	Needs   int      `json:"needs,omitempty"` // samples a side that would do, if it is Inconclusive
	Note    string   `json:"note,omitempty"`

	change, base float64 // of the medians or else the means, seen or not
}

// Overall counts the verdicts of all rows.
type Overall struct {
	Worse        int  `json:"worse"`
	Better       int  `json:"better"`
	Changed      int  `json:"changed"`
	Same         int  `json:"same"`
	Inconclusive int  `json:"inconclusive"`
	Unmatched    int  `json:"unmatched"`
	Incomplete   bool `json:"incomplete"` // a file may not hold its whole run
}

func (o *Overall) count(v Verdict) {
	switch v {
	case Worse:
		o.Worse++
	case Better:
		o.Better++
	case Changed:
		o.Changed++
	case Same:
		o.Same++
	case Inconclusive:
		o.Inconclusive++
	case Unmatched:
		o.Unmatched++
	}
}
