// Package report writes down what package compare found: for people a first screen
// and a table on the terminal, report.html, report.md and adr.md; for programs
// summary.json, results.txt in the Go benchmark format and events.jsonl.
//
// It measures nothing: figures are those of package measure, to which it adds
// intervals. Files appear whole or not at all, and replace only what compare wrote; a
// run that is interrupted still writes what there is, and says so first. Nothing
// depends on the time of day, so that one result gives one page, byte for byte. Text
// from elsewhere, such as versions and names of schedules, is shown as it is and never
// as markup.
//
// Pictures are drawn here: positions across are in per cent and text is in pixels, so
// that one picture can be read on a phone and on a screen, which no library of plots
// that was looked at does.
package report
