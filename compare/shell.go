package compare

import "strings"

// ShellWord is a word of a command as a shell takes it: between quotes where it has
// characters that mean something else there.
func ShellWord(word string) string {
	if !strings.ContainsAny(word, " \t\n'\"\\$`&;|<>()*?[]#~!") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
