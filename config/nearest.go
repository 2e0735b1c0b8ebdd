package config

import "strings"

// nearest returns the known name that s most likely means, "" if none is near:
// up to one letter in three may be missing, wrong, doubled or swapped.
func nearest(s string, known []string) string {
	s = plain(s)
	best, least := "", (len(s)+2)/3+1
	for _, k := range known {
		if d := distance(s, plain(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

// plain drops what people vary without meaning to.
func plain(s string) string { return strings.ReplaceAll(strings.ToLower(s), "-", "_") }

// distance counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b. Names longer than any setting are far away.
func distance(a, b string) int {
	if len(a) > 2*maxShown {
		return len(a)
	}
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
