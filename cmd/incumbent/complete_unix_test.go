//go:build unix

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompletionInBash: what bash makes of it, to which a comma is a special character.
// The functions of the package bash-completion are replaced by the little that is needed.
func TestCompletionInBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil || exec.CommandContext(t.Context(), bash, "-c", "(( BASH_VERSINFO[0] >= 4 ))").Run() != nil {
		t.Skip("no bash of version 4, which the script needs")
	}
	const script = `
PATH=$1:$PATH
source /dev/stdin <<< "$(incumbent completion bash)"
_get_comp_words_by_ref() { words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=${words[cword]}; prev=${words[cword-1]}; }
compopt() { :; }
_filedir() { COMPREPLY=("files $*"); }
try() {
	COMP_WORDS=("$@") COMP_CWORD=$(( $# - 1 )) COMP_LINE="$*" COMP_TYPE=9 COMPREPLY=()
	COMP_POINT=${#COMP_LINE}
	__start_incumbent
	(IFS='|'; echo "${COMPREPLY[*]}")
}
try incumbent che
try incumbent compare --lab=v
try incumbent compare --faults paus
try incumbent compare --faults 'crash\,paus'
try incumbent compare --faults crash,pause-
try incumbent check --config ''
try incumbent compare --out ''
`
	const want = `check
virtual
pause|pause-write
crash,pause|crash,pause-write
crash\,pause-write
files yaml|yml|
files -d
`
	cmd := exec.CommandContext(t.Context(), bash, "--norc", "-c", script, "bash", filepath.Dir(build(t)))
	out, err := cmd.Output()
	if got := strings.ReplaceAll(string(out), " \n", "\n"); err != nil || got != want {
		t.Errorf("error %v, it completes\n%s\nwant\n%s", err, got, want)
	}
}
