package compare_test

import (
	"testing"

	"incumbent/compare"
)

func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{
		"docs/a-b_1.yaml":        "docs/a-b_1.yaml",
		"failover=10s,overlap=0": "failover=10s,overlap=0",
		"servers<=3":             "'servers<=3'",
		"my day.yaml":            "'my day.yaml'",
		"it's; rm -rf $HOME":     `'it'\''s; rm -rf $HOME'`,
		"--flag":                 "--flag",
	} {
		if got := compare.ShellWord(word); got != want {
			t.Errorf("ShellWord(%q) = %s, want %s", word, got, want)
		}
	}
}
