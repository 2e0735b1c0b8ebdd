// Package tabulate groups benchmark results, compares them and says what it found.
//
// It does not promise that a difference it does not see is not there: with few
// samples, or for what happens rarely, the verdict is Inconclusive, with the number
// of samples that would do. It never averages rows: each has its own verdict, and the
// worst of them is the report's.
//
// A Collection takes files, and makes a Report of them: for each unit a table with
// one row a benchmark, and one column a mode of election, a file, or "old" and "new".
// The first column is what the others are compared with. The statistics are those of
// golang.org/x/perf: benchproc groups, benchmath summarises by the median with its
// 95 % interval, and compares by the Mann-Whitney U test. Gate decides whether a
// difference is too large. The Write methods print the report.
package tabulate
