// Package nearest finds the word that somebody meant. It guesses: what it finds is for a
// question in an error, and never for a program to act on.
package nearest

import "strings"

// longest is more than any name has, mistakes included. What is longer was no typing
// mistake, and would take long to compare.
const longest = 80

// Of returns the known word that s most likely means, or "" if none is near: up to one
// letter in three may be missing, wrong, doubled or swapped, or s is how a word begins.
// Case does not matter, nor whether words are joined by - or _. Of words that are
// equally near, the first one is taken.
func Of(s string, known []string) string {
	if len(s) > longest {
		return ""
	}
	s = plain(s)
	best, least := "", (len(s)+2)/3+1
	for _, k := range known {
		p := plain(k)
		d := distance(s, p)
		if len(s) >= 3 && strings.HasPrefix(p, s) {
			d = min(d, 1)
		}
		if d < least {
			best, least = k, d
		}
	}
	return best
}

// plain drops what people vary without meaning to.
func plain(s string) string { return strings.ReplaceAll(strings.ToLower(s), "-", "_") }

// distance counts the insertions, deletions, replacements and swaps of neighbours that
// turn a into b.
func distance(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replace := d[i-1][j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			d[i][j] = min(replace, d[i-1][j]+1, d[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
