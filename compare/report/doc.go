// Package report writes down what package compare found: a table for people,
// summary.json, results.txt in the Go benchmark format and events.jsonl for
// programs.
//
// It computes no figure. Files appear whole or not at all; a run that is
// interrupted still writes what there is.
package report
