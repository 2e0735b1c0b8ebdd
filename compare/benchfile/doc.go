// Package benchfile reads Go benchmark files as people really have them.
//
// It does not promise that a file holds all that a benchmark printed: what was lost
// before the file was written is lost. It says what it can see of that in Info: a
// last line that is cut, a run without its PASS or ok line, results that stand
// behind other text on their line. It does not guess: text that is not UTF-8, UTF-16
// or ASCII is refused, and so is a file without results.
//
// A Reader stands in front of the reader of golang.org/x/perf/benchfmt, and hands it
// only lines that are results or settings. It takes UTF-8 and UTF-16 with and
// without a byte order mark; lines that end in LF, CRLF or CR; colours, indentation
// and the output of go test -v and go test -json; and log lines in between, also
// where one has torn a result in two. Of the lines "key: value" only those with a
// key of Settings count, so that a log line never becomes a setting. All values come
// out in base units (sec, B), zeros as well, and are finite.
//
// Memory is bounded by the length of a line, whatever the length of the file.
package benchfile
