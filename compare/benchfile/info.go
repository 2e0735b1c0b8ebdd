package benchfile

import "fmt"

// Info is what was seen of a file. It is whole once Reader.Scan has returned false.
type Info struct {
	Name     string `json:"name"`
	Encoding string `json:"encoding"` // UTF8, UTF16LE or UTF16BE
	JSON     bool   `json:"json"`     // there is output of go test -json
	Harness  bool   `json:"harness"`  // it comes from incumbent compare
	Lines    int    `json:"lines"`
	Results  int    `json:"results"`

	Cut       bool `json:"cut"`        // the last line has no end
	Unclosed  int  `json:"unclosed"`   // results that no PASS or ok line follows
	Failed    bool `json:"failed"`     // there is a FAIL line
	NotFinite int  `json:"not_finite"` // values that are NaN or infinite; they are left out
	Malformed int  `json:"malformed"`  // result lines that cannot be read; they are left out
	Hidden    int  `json:"hidden"`     // results behind other text on their line; they are left out

	firstMalformed, firstHidden int
	whyMalformed                string
}

// Incomplete says why the file may not hold the whole run. It is empty if nothing
// speaks for that.
func (i *Info) Incomplete() []string {
	var why []string
	if i.Cut {
		why = append(why, "the last line is cut")
	}
	if i.Unclosed > 0 {
		why = append(why, fmt.Sprintf("no PASS or ok line after %s", plural(i.Unclosed, "result")))
	}
	if i.Failed {
		why = append(why, "a benchmark or test failed (FAIL line)")
	}
	if i.Malformed > 0 {
		why = append(why, fmt.Sprintf("%s cannot be read, first line %d: %s", plural(i.Malformed, "result"), i.firstMalformed, i.whyMalformed))
	}
	if i.Hidden > 0 {
		why = append(why, fmt.Sprintf("%s hidden in other text, first line %d", plural(i.Hidden, "result"), i.firstHidden))
	}
	return why
}

func (i *Info) open(n int) { i.Unclosed += n }

func (i *Info) malformed(line int, why string) {
	if i.Malformed++; i.Malformed == 1 {
		i.firstMalformed, i.whyMalformed = line, why
	}
}

func (i *Info) hidden(line int) {
	if i.Hidden++; i.Hidden == 1 {
		i.firstHidden = line
	}
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
