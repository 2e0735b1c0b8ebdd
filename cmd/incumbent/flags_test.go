package main

import (
	"slices"
	"strconv"
	"testing"

	"github.com/spf13/pflag"
)

// TestFlags: what each kind of flag makes of being given, not at all, once and again.
func TestFlags(t *testing.T) {
	var several, repeated []string
	var number *int
	var empty *string
	share, text, choice := 0.0, "default", "a"
	f := pflag.NewFlagSet("test", pflag.ContinueOnError)
	f.Var(severalFlag(&several, "X"), "several", "")
	f.Var(repeatedFlag(&repeated, "X"), "repeated", "")
	f.Var(optionalFlag(&number, "N", strconv.Atoi), "number", "")
	f.Var(optionalFlag(&empty, "X", asText), "empty", "")
	f.Var(numberFlag(&share, "N"), "share", "")
	f.VarP(textFlag(&text, "X"), "text", "t", "")
	f.Var(choiceFlag(&choice, "X", "a", "b", "c"), "choice", "")
	if number != nil || empty != nil || text != "default" || f.Lookup("text").DefValue != "default" || f.Lookup("choice").DefValue != "a" {
		t.Errorf("before: %v, %v, %q", number, empty, text)
	}
	args := []string{"--several", "a,b", "--several=c", "--repeated", "a,b", "--repeated=c", "--number", "3", "--number=0", "--empty=",
		"--share", "0.5", "-t", "x", "--text=", "--choice", "c"}
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(several, []string{"a", "b", "c"}) || !slices.Equal(repeated, []string{"a,b", "c"}) {
		t.Errorf("lists are %q and %q", several, repeated)
	}
	if number == nil || *number != 0 || empty == nil || *empty != "" || share != 0.5 || text != "" || choice != "c" {
		t.Errorf("values are %v, %v, %v, %q, %q", number, empty, share, text, choice)
	}
	for _, wrong := range [][]string{{"--choice", "d"}, {"--choice="}, {"--number", "x"}, {"--share="}} {
		if err := f.Parse(wrong); err == nil {
			t.Errorf("%q: no error", wrong)
		}
	}
	if choice != "c" || *number != 0 {
		t.Errorf("wrong values have changed them: %q, %d", choice, *number)
	}
}
