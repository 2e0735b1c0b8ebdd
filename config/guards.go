package config

import (
	"slices"
	"strconv"
	"strings"

	"incumbent/election"
	"incumbent/internal/nearest"
)

// guardNames are the guards of a store, and the words for all and none of them.
var guardNames = append(strings.Split(election.AllGuards.String(), ","), "all", "none")

// assignGuards reads a list of guards in one text.
func assignGuards(p *election.StoreGuards, text string) (rule string) {
	words := split(text)
	var set election.StoreGuards
	for _, word := range words {
		rule := addGuard(&set, word, len(words))
		if rule != "" && len(words) > 1 {
			rule = strconv.Quote(show(word)) + " " + rule
		}
		if rule != "" {
			return rule
		}
	}
	*p = set
	return ""
}

// addGuard adds to a set the guard that a word means, one of so many words.
func addGuard(set *election.StoreGuards, word string, of int) (rule string) {
	word = strings.ToLower(word)
	switch {
	case !slices.Contains(guardNames, word):
		rule = "must be of " + election.AllGuards.String() + ", or all, or none"
		if near := nearest.Of(word, guardNames); near != "" {
			rule += ": did you mean " + near + "?"
		}
		return rule
	case of > 1 && (word == "all" || word == "none"):
		return "must stand alone"
	}
	g, err := election.ParseStoreGuards(word)
	if err != nil {
		return err.Error()
	}
	*set |= g
	return ""
}
