package decide

// nearest is the known word that s most likely means, "" if none is near: up to one
// letter in three may be missing, wrong or too many, or s is how a word begins.
func nearest(s string, known []string) string {
	best, least := "", (len(s)+2)/3+1
	if len(s) > maxWord {
		return ""
	}
	for _, k := range known {
		d := distance(s, k)
		if len(s) >= 3 && len(s) < len(k) && k[:len(s)] == s {
			d = 0
		}
		if d < least {
			best, least = k, d
		}
	}
	return best
}

// maxWord is longer than any key, mistakes included.
const maxWord = 40

// distance counts the insertions, deletions and replacements that turn a into b
// (Levenshtein), a row at a time.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		above := row[0] // left and above
		row[0] = i + 1
		for j := range len(b) {
			d := above
			if a[i] != b[j] {
				d++
			}
			above = row[j+1]
			row[j+1] = min(d, above+1, row[j]+1)
		}
	}
	return row[len(b)]
}
