package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// value is a flag that the help shows with a hint in place of its value. Where it is
// given more than once, the last one counts.
type value struct {
	hint string
	set  func(text string) error
	text string // as it was given
}

// Set is called with what was given.
func (v *value) Set(text string) error {
	v.text = text
	return v.set(text)
}

// String is what was given, or else the default.
func (v *value) String() string { return v.text }

// Type is what the help shows.
func (v *value) Type() string { return v.hint }

// textFlag sets *to, whose value up to then is the default.
func textFlag(to *string, hint string) pflag.Value {
	return &value{hint: hint, text: *to, set: func(text string) error {
		*to = text
		return nil
	}}
}

// optionalFlag makes *to point to what was given; without the flag it stays nil.
func optionalFlag[T any](to **T, hint string, parse func(string) (T, error)) pflag.Value {
	return &value{hint: hint, set: func(text string) error {
		v, err := parse(text)
		if err == nil {
			*to = &v
		}
		return err
	}}
}

// choiceFlag sets *to, as textFlag does, to one of a few words.
func choiceFlag(to *string, hint string, words ...string) pflag.Value {
	return &value{hint: hint, text: *to, set: func(text string) error {
		if !slices.Contains(words, text) {
			last := len(words) - 1
			return fmt.Errorf("must be %s or %s%s", strings.Join(words[:last], ", "), words[last], meant("", text, words))
		}
		*to = text
		return nil
	}}
}

// numberFlag sets *to, which is 0 without the flag.
func numberFlag(to *float64, hint string) pflag.Value {
	return &value{hint: hint, set: func(text string) (err error) {
		*to, err = strconv.ParseFloat(text, 64)
		return err
	}}
}

// asText is what optionalFlag takes for text.
func asText(text string) (string, error) { return text, nil }

// listFlag collects values: those of a flag that may be repeated, or that it has
// separated by commas.
type listFlag struct {
	hint   string
	commas bool
	to     *[]string
}

// severalFlag is a flag whose values are separated by commas.
func severalFlag(to *[]string, hint string) pflag.Value { return &listFlag{hint + ",...", true, to} }

// repeatedFlag is a flag that is given once for each value.
func repeatedFlag(to *[]string, hint string) pflag.Value { return &listFlag{hint, false, to} }

// Set adds what was given.
func (v *listFlag) Set(text string) error {
	if v.commas {
		*v.to = append(*v.to, strings.Split(text, ",")...)
	} else {
		*v.to = append(*v.to, text)
	}
	return nil
}

// String is all that was given.
func (v *listFlag) String() string { return strings.Join(*v.to, ",") }

// Type is what the help shows.
func (v *listFlag) Type() string { return v.hint }

// GetSlice says that the flag may be given again, which completion heeds.
func (v *listFlag) GetSlice() []string { return *v.to }
