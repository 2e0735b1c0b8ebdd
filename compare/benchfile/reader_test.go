package benchfile_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"incumbent/compare/benchfile"
)

// plain is what go test prints: µ and Ω are there for encodings to lose.
const plain = `goos: linux
goarch: amd64
pkg: incumbent/bench
cpu: Ω 3000 @ 2.5 GHz
Unit split-ns better=lower
BenchmarkRenew/mode=single-8   	    1000	      1234 ns/op	         0 split-ns	      16 B/op
BenchmarkRenew/mode=quorum3-8  	    1000	      4321 ns/op	   7000000 split-ns	      48 B/op
BenchmarkRenew/mode=µ😀-8      	    1000	      11.5 ns/op	         0 split-ns	      48 B/op
PASS
ok  	incumbent/bench	1.234s
`

// read returns a line for each result of a file, its settings included.
func read(r io.Reader) (results []string, info *benchfile.Info, err error) {
	in := benchfile.NewReader(r, "new.txt")
	for in.Scan() {
		res := in.Result()
		var b strings.Builder
		for _, c := range res.Config {
			fmt.Fprintf(&b, "%s=%s ", c.Key, c.Value)
		}
		fmt.Fprintf(&b, "%s %d", res.Name, res.Iters)
		for _, v := range res.Values {
			fmt.Fprintf(&b, " %v %s", v.Value, v.Unit)
		}
		results = append(results, b.String())
	}
	return results, in.Info(), in.Err()
}

// must is what plain holds, read from text as is.
func must(t *testing.T, text string) []string {
	t.Helper()
	got, info, err := read(strings.NewReader(text))
	if err != nil || len(info.Incomplete()) > 0 {
		t.Fatalf("error %v, incomplete: %q", err, info.Incomplete())
	}
	return got
}

func same(t *testing.T, what string, text string, want []string) *benchfile.Info {
	t.Helper()
	got, info, err := read(strings.NewReader(text))
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: read\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return info
}

func inUTF16(text string, order binary.ByteOrder, mark bool) string {
	var b []byte
	if mark {
		text = "\ufeff" + text
	}
	for _, c := range utf16.Encode([]rune(text)) {
		b = append(b, 0, 0)
		order.PutUint16(b[len(b)-2:], c)
	}
	return string(b)
}

func TestPlain(t *testing.T) {
	got := must(t, plain)
	want := "goos=linux goarch=amd64 pkg=incumbent/bench cpu=Ω 3000 @ 2.5 GHz Renew/mode=single-8 1000 1.2340000000000002e-06 sec/op 0 split-sec 16 B/op"
	if len(got) != 3 || got[0] != want {
		t.Errorf("read %q", got)
	}
}

func TestG01_encodings(t *testing.T) {
	want := must(t, plain)
	for _, tt := range []struct{ name, text, encoding string }{
		{"UTF-8 with mark", "\ufeff" + plain, benchfile.UTF8},
		{"two files with marks joined", "\ufeff" + plain[:400] + plain[400:], benchfile.UTF8},
		{"UTF-16LE with mark", inUTF16(plain, binary.LittleEndian, true), benchfile.UTF16LE},
		{"UTF-16LE", inUTF16(plain, binary.LittleEndian, false), benchfile.UTF16LE},
		{"UTF-16BE with mark", inUTF16(plain, binary.BigEndian, true), benchfile.UTF16BE},
		{"UTF-16BE", inUTF16(plain, binary.BigEndian, false), benchfile.UTF16BE},
		{"UTF-16LE, CRLF", inUTF16(strings.ReplaceAll(plain, "\n", "\r\n"), binary.LittleEndian, true), benchfile.UTF16LE},
		{"UTF-16LE, astral", inUTF16(plain+strings.Repeat("😀", 9000)+"\n", binary.LittleEndian, true), benchfile.UTF16LE},
	} {
		if info := same(t, tt.name, tt.text, want); info.Encoding != tt.encoding || len(info.Incomplete()) > 0 {
			t.Errorf("%s: encoding %s, incomplete %q", tt.name, info.Encoding, info.Incomplete())
		}
		// The same, however the bytes come.
		got, _, err := read(iotest.OneByteReader(strings.NewReader(tt.text)))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s, byte by byte: %v, %q", tt.name, err, got)
		}
	}
	joined := plain + "\ufeff" + plain
	if got := must(t, joined); len(got) != 6 {
		t.Errorf("joined files with a mark between them: %q", got)
	}
}

// TestG01_refused: what cannot be decoded is named, with file and encoding.
func TestG01_refused(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"UTF-32", "\xff\xfe\x00\x00B\x00\x00\x00", "new.txt: looks like UTF-32"},
		{"gzip", "\x1f\x8b\x08\x00", "looks like a gzip archive: unpack it first"},
		{"UTF-16 after UTF-8", plain + inUTF16(plain, binary.LittleEndian, true), "UTF-8 with results in another encoding appended"},
		{"UTF-16BE after UTF-8", plain + inUTF16(plain, binary.BigEndian, false), "UTF-8 with results in another encoding appended"},
		{"UTF-8 after UTF-16", inUTF16(strings.Repeat(plain, 20), binary.LittleEndian, true) + plain, "UTF-16LE with results in another encoding appended"},
		{"UTF-8 after UTF-16, odd", inUTF16(plain, binary.BigEndian, true) + "x" + plain, "UTF-16BE with results in another encoding appended"},
	} {
		_, _, err := read(strings.NewReader(tt.text))
		var wrong *benchfile.EncodingError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v", tt.name, err)
		}
		if _, _, err := read(iotest.OneByteReader(strings.NewReader(tt.text))); !errors.As(err, &wrong) {
			t.Errorf("%s, byte by byte: error %v", tt.name, err)
		}
	}
}

func TestG03_line_ends(t *testing.T) {
	want := must(t, plain)
	for name, end := range map[string]string{"CRLF": "\r\n", "CR": "\r", "CRCRLF": "\r\r\n"} {
		text := strings.ReplaceAll(plain, "\n", end)
		if info := same(t, name, text, want); len(info.Incomplete()) > 0 {
			t.Errorf("%s: incomplete: %q", name, info.Incomplete())
		}
	}
	// A CR at the end of what one read returns belongs to the LF of the next.
	text := strings.ReplaceAll(strings.Repeat("log\n", 2000)+plain, "\n", "\r\n")
	got, info, err := read(iotest.OneByteReader(strings.NewReader(text)))
	if err != nil || !slices.Equal(got, want) || info.Lines != strings.Count(text, "\n") {
		t.Errorf("byte by byte: %v, %d lines, %q", err, info.Lines, got)
	}
	long := strings.Repeat("x", 40<<10)
	for _, noise := range []string{long + "\n", long + "\r", long + "\r\n", strings.Repeat(long, 10) + "\n", long[:32<<10] + "\r\n"} {
		same(t, fmt.Sprintf("a line of %d bytes", len(noise)), noise+plain, want)
	}
	for _, rest := range []string{long, strings.Repeat(long, 10)} {
		if info := same(t, "a result that is too long", "BenchmarkX 1 5 ns/op"+rest+"\n"+plain, want); info.Malformed != 1 {
			t.Errorf("%d malformed", info.Malformed)
		}
	}
}

func TestG04_verbose(t *testing.T) {
	want := must(t, plain)
	text := strings.ReplaceAll(plain, "BenchmarkRenew/mode=single-8 ", "=== RUN   BenchmarkRenew/mode=single\nBenchmarkRenew/mode=single\nBenchmarkRenew/mode=single-8 ")
	text = strings.ReplaceAll(text, "PASS", "--- BENCH: BenchmarkRenew/mode=single-8\n    a_test.go:4: ttl: 5\n        ttl: 5\nPASS")
	if info := same(t, "-v", text, want); len(info.Incomplete()) > 0 {
		t.Errorf("incomplete: %q", info.Incomplete())
	}
}

const logLine = "redis: 2026/01/02 03:04:05 pool.go:367: redis: connection pool: failed to dial after 5 attempts\n"

// TestG06_log_lines: lines of logs change nothing, wherever they stand.
// Conditions that are not as usual end with the file that has them: one that follows it
// in the same stream has its own.
func TestConditionsEndWithTheirFile(t *testing.T) {
	const usual = "pkg: p\nlab: virtual\nttl: 2s\nBenchmarkA 1 1 x-sec\nPASS\n"
	far := strings.Replace(usual, "ttl: 2s\n", "ttl: 2s\nrenew: 300ms\nlink: zone\nloss: 0.01\ndrift: 0.5\n", 1)
	got := must(t, far+usual)
	if len(got) != 2 || !strings.Contains(got[0], "renew=300ms link=zone loss=0.01 drift=0.5 ") || got[1] != must(t, usual)[0] {
		t.Errorf("got %q", got)
	}
}

func TestG06_log_lines(t *testing.T) {
	want := must(t, plain)
	for _, noise := range []string{
		logLine, "2026/11/29 18:39:30 hello\n", "level: info msg\n", "cpu: 93 % busy\n", "ttl: 5 seconds left\n", "10 items done\n",
		"Unit tests are fun\n", "Unit x y=1 z\n", "{\"level\":\"info\"}\n", "{\"Action\": 5}\n", "{\n", "Benchmarking now\n", "PASSED\n", "okay\n", "\x00\x01\n", "\xff\xfe\n", "x: y\n",
		"note: \n", "mode: two words\n", "  seed: 4\n",
	} {
		text := plain
		for _, at := range []string{"BenchmarkRenew/mode=quorum3", "BenchmarkRenew/mode=µ", "PASS"} {
			text = strings.Replace(text, at, noise+at, 1)
		}
		if info := same(t, noise, text, want); len(info.Incomplete()) > 0 {
			t.Errorf("%q: incomplete: %q", noise, info.Incomplete())
		}
	}
}

// TestG06_torn: go test prints a name, then what the benchmark logs, then the figures.
func TestG06_torn(t *testing.T) {
	want := must(t, plain)
	for _, noise := range []string{logLine, logLine + "3 more lines\nBenchmarks are fun: a\n" + logLine, "\n", "2026/11/29 18:39:30 hello\n"} {
		text := strings.ReplaceAll(plain, "-8   \t", "-8   \t"+noise)
		if info := same(t, noise, text, want); len(info.Incomplete()) > 0 {
			t.Errorf("%q: incomplete: %q", noise, info.Incomplete())
		}
	}
	// Without a line end the figures cannot be told from the log: that is said.
	text := strings.Replace(plain, "-8   \t", "-8   \tlog text", 1)
	if info := same(t, "no line end", text, want[1:]); info.Hidden != 1 || len(info.Incomplete()) != 1 {
		t.Errorf("hidden %d, incomplete %q", info.Hidden, info.Incomplete())
	}
	text = strings.Replace(plain, "BenchmarkRenew/mode=single", "log textBenchmarkRenew/mode=single", 1)
	if info := same(t, "no line end before", text, want[1:]); info.Hidden != 1 {
		t.Errorf("hidden %d", info.Hidden)
	}
}

func TestG07_zeros_in_base_units(t *testing.T) {
	got := must(t, "BenchmarkX 1 0 split-ns 0 ns/op 0 MB/s -0 x\nBenchmarkX 1 7000000 split-ns 5 ns/op 3 MB/s -2 x\nPASS\n")
	want := []string{"X 1 0 split-sec 0 sec/op 0 B/s 0 x", "X 1 0.007 split-sec 5e-09 sec/op 3e+06 B/s -2 x"}
	if !slices.Equal(got, want) {
		t.Errorf("read %q", got)
	}
}

func TestG07_not_finite(t *testing.T) {
	in := benchfile.NewReader(strings.NewReader("BenchmarkX 1 NaN split-ns +Inf ns/op 1 B/op -Inf a infinity b 1e300 c 1e999 d\nBenchmarkX 1 NaN split-ns +Inf ns/op 1 B/op -Inf a infinity b 1e300 c\nPASS\n"), "x")
	if !in.Scan() {
		t.Fatal(in.Err())
	}
	var units []string
	for _, v := range in.Dropped() {
		units = append(units, v.Unit)
	}
	if v := in.Result().Values; len(v) != 1 || v[0].Unit != "B/op" || strings.Join(units, " ") != "split-sec sec/op a b c" {
		t.Errorf("values %v, dropped %q", v, units)
	}
	if in.Scan() || in.Err() != nil || in.Info().NotFinite != 5 || in.Info().Malformed != 1 {
		t.Errorf("error %v, %+v", in.Err(), in.Info())
	}
}

// TestG14_units: contradictions are errors that name both places.
func TestG14_units(t *testing.T) {
	for text, want := range map[string]string{
		"Unit a better=lower\nlog\nUnit a better=higher\n":       "new.txt:3: unit a: better=higher, but new.txt:1 says better=lower",
		"Unit a-ns better=lower\nUnit a-sec better=higher\n":     "new.txt:2: unit a-sec: better=higher, but new.txt:1 says better=lower",
		"Unit a better=smaller\n":                                "new.txt:1: unit a: better=smaller: must be higher or lower",
		"Unit a better=lower assume=exact\nUnit a assume=none\n": "must be nothing or exact",
	} {
		_, _, err := read(strings.NewReader(text + plain))
		var wrong *benchfile.UnitError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v", text, err)
		}
	}
	in := benchfile.NewReader(strings.NewReader("Unit a-ns better=lower\nUnit a-ns better=lower\nUnit b assume=exact other=1\n"+plain), "x")
	for in.Scan() {
	}
	u := in.Units()
	if in.Err() != nil || u.Better("a-sec") != -1 || u.Better("b") != 0 || !u.Exact("b") || u.Better("sec/op") != -1 || u.Better("B/s") != 1 {
		t.Errorf("error %v, units %v", in.Err(), u)
	}
}

func TestG16_lookalikes(t *testing.T) {
	want := must(t, plain)
	colour := strings.ReplaceAll(strings.ReplaceAll(plain, "Benchmark", "\x1b[1;32mBenchmark\x1b[0m\x1b]0;title\x07"), " ns/op", " \x1b[33mns/op\x1b[K")
	indented := "    " + strings.ReplaceAll(plain, "\n", "\n    ")
	for name, text := range map[string]string{
		"colour": colour, "spaces": indented, "tabs": strings.ReplaceAll(plain, "Benchmark", "\t\u00a0 Benchmark"),
	} {
		same(t, name, text, want)
	}
}

// TestG16_nothing: a file without results is an error that says what it looks like.
func TestG16_nothing(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "an empty file",
		"\n\r\n  ":                 "an empty file",
		"hello\n":                  "other text",
		"PASS\nok  \tx\t0.1s\n":    "output of go test without benchmarks: run it with -bench",
		"BenchmarkX\n":             "output of go test -v in which no benchmark ended",
		"Renew-8 100 12 ns/op\n":   "results whose names lack the prefix Benchmark (text line 1)",
		"> BenchmarkX 1 5 ns/op\n": "benchmark output behind other text on each line, as timestamps or a quote mark (line 1)",
		"\n2026-01-02T03:04:05Z BenchmarkX 1 5 s\n": "(line 2)",
		`{"Action":"pass","Package":"x"}` + "\n":    "output of go test -json without benchmarks",
		`{"a": 5}` + "\n":                           "JSON that is not from go test -json",
		"{\n\"a\": 5\n}\n":                          "JSON that is not from go test -json",
		"<html>\n":                                  "HTML or XML",
		"\x00\x01\x02\x80":                          "binary data",
		"caf\xe9\n":                                 "text in an unknown encoding",
		"BenchmarkX 1 5\nBenchmarkX 1 5\n":          "benchmark output that cannot be read (line 1: missing units)",
		"BenchmarkX 1 5 ns/o":                       "",
	} {
		_, _, err := read(strings.NewReader(text))
		var none *benchfile.NoResultsError
		if !errors.As(err, &none) || !strings.HasPrefix(err.Error(), "new.txt: no benchmark results found; ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

// event is a line of go test -json.
func event(pkg, output string) string {
	return fmt.Sprintf("{\"Time\":\"2026-11-29T18:39:30Z\",\"Action\":\"output\",\"Package\":%q,\"Output\":%q}\n", pkg, output)
}

func TestG16_json(t *testing.T) {
	want := must(t, plain)
	var whole, torn strings.Builder
	for line := range strings.Lines(plain) {
		whole.WriteString(event("incumbent/bench", line))
		name, figures, ok := strings.Cut(line, "\t")
		if ok {
			torn.WriteString(event("incumbent/bench", name+"\t") + event("other", "noise ") + event("incumbent/bench", figures))
		} else {
			torn.WriteString(event("incumbent/bench", line) + event("other", "noise\n"))
		}
	}
	for name, text := range map[string]string{"whole": whole.String(), "torn": `{"Action":"start"}` + "\nplain noise\n" + torn.String() + `{"Action":"pass"}`} {
		if info := same(t, name, text+"\n", want); !info.JSON || len(info.Incomplete()) > 0 {
			t.Errorf("%s: JSON %v, incomplete %q", name, info.JSON, info.Incomplete())
		}
	}
	// Packages that run side by side keep their results apart.
	got := must(t, event("a", "BenchmarkX 1 5 s\n")+event("b", "BenchmarkX 1 6 s\n")+event("a", "BenchmarkX 1 7 s\n")+event("a", "PASS\n")+event("b", "PASS\n"))
	if strings.Join(got, ", ") != "pkg=a X 1 5 s, pkg=b X 1 6 s, pkg=a X 1 7 s" {
		t.Errorf("two packages: %q", got)
	}
}

func TestG20_truncated(t *testing.T) {
	head := "BenchmarkX 1 1200 ns/op 5 B/op\n"
	for _, tt := range []struct {
		text    string
		results int
		why     string
	}{
		{head + "PASS\n", 1, ""},
		{head + "PASS", 1, "the last line is cut"},
		{head + "PASS\nok  \tx\t1s\n", 1, ""},
		{head, 1, "no PASS or ok line after 1 result"},
		{head + "BenchmarkX 1 1300", 1, "the last line is cut, no PASS"},
		{head + "BenchmarkX 1 1300 ns", 1, "the last line is cut, no PASS or ok line after 1 result"},
		{head + "BenchmarkX 1 1300 ns/op 6 B/o", 1, "the last line is cut"},
		{head + "BenchmarkX 1 1300 ns/op 6 B/op", 2, "the last line is cut, no PASS or ok line after 2 results"},
		{head + "BenchmarkX 1 0 ns/op", 2, "the last line is cut"},
		{head + "goos: linux\n" + head + "PASS\n", 2, "no PASS or ok line after 1 result"},
		{head + "FAIL\n", 1, "a benchmark or test failed (FAIL line)"},
		{head + "FAIL\tx\t1s\n", 1, "a benchmark or test failed (FAIL line)"},
		{head + "BenchmarkX 1 1300\n" + "PASS\n", 1, "1 result cannot be read, first line 2: missing units"},
		{"lab: virtual\n" + head + "PASS\n", 1, ""},
		{"lab: virtual\n" + head, 1, "no PASS or ok line after 1 result"}, // results.txt ends as go test does
		{"lab: virtual\n" + head + "BenchmarkX 1 13", 1, "the last line is cut"},
		{inUTF16(head+"PASS\n", binary.LittleEndian, true) + "x", 1, "the last line is cut"},
	} {
		got, info, err := read(strings.NewReader(tt.text))
		why := strings.Join(info.Incomplete(), ", ")
		if err != nil || len(got) != tt.results || !strings.HasPrefix(why, tt.why) || tt.why == "" && why != "" {
			t.Errorf("%q: %d results, error %v, incomplete: %s", tt.text, len(got), err, why)
		}
	}
}

// TestReadError: an error of the file comes out, and is not taken for its end.
func TestReadError(t *testing.T) {
	broken := errors.New("broken")
	for _, text := range []string{"", plain, plain[:300], inUTF16(plain, binary.LittleEndian, true)} {
		if _, _, err := read(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken))); !errors.Is(err, broken) {
			t.Errorf("%d bytes: error %v", len(text), err)
		}
	}
}

func TestLine(t *testing.T) {
	in := benchfile.NewReader(strings.NewReader("log\r\n\r\n"+plain), "x")
	var at []int
	for in.Scan() {
		at = append(at, in.Line())
	}
	if !slices.Equal(at, []int{8, 9, 10}) {
		t.Errorf("results are on lines %v", at)
	}
}

// FuzzReader: whatever a file holds, reading ends, values are finite, and line ends
// and encodings of text change nothing.
func FuzzReader(f *testing.F) {
	f.Add([]byte(plain))
	f.Add([]byte(inUTF16(plain, binary.LittleEndian, true)))
	f.Add([]byte(event("a", plain) + event("b", "BenchmarkX ") + event("b", "1 5 s\n")))
	f.Add([]byte("\x1b[31mBenchmarkX\x1b]0 1 NaN x\nUnit x better=lower\nUnit x better=higher"))
	f.Add([]byte("BenchmarkX 1 1e999 ns/op 0x1p-2 b 1_0 c\r\rBenchmark 1 5 s\r\nPASS"))
	f.Add([]byte("\xff\xfeB\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		in := benchfile.NewReader(strings.NewReader(string(data)), "x")
		for in.Scan() {
			for _, v := range in.Result().Values {
				if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) || v.Unit == "" {
					t.Fatalf("value %v %q", v.Value, v.Unit)
				}
			}
		}
		if in.Err() == nil && in.Info().Results+in.Info().NotFinite == 0 {
			t.Fatal("no results and no error")
		}
		if i := in.Info(); i.Results < 0 || i.Unclosed < 0 || i.Lines > len(data)+1 {
			t.Fatalf("%+v", i)
		}
	})
}
