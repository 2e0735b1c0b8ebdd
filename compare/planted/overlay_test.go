package planted

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOverlayRefuses: a bug whose text is not found once, or is not alone, is an error.
func TestOverlayRefuses(t *testing.T) {
	dir := t.TempDir()
	for path, text := range map[string]string{
		"election/a.go": "package election\n\nfunc f() {\n\t// rare: one\n\tg(1)\n\tg(2)\n\tg(1)\n}\n", scriptsFile: "package vote\n\nvar _ = `" + scriptsText + "`\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	with := func(name, old, new string) bug {
		return bug{name: name, hunks: []hunk{{"election/a.go", old, new}}}
	}
	for _, tt := range []struct {
		name string
		bugs []bug
		want string // in the error, or in the file where there is none
		ok   bool
	}{
		{"statements", []bug{with("x", "g(2)", "g(3)")}, "if (planted.On(\"x\")) {\ng(3)\n} else {\ng(2)\n}", true},
		{"expression", []bug{with("x", "g(2)", "g(h(PLANTED))")}, `g(h((planted.On("x"))))`, true},
		{"two of one text", []bug{with("x", "g(2)", "g(3)"), with("y", "g(2)", "g(4)")}, "} else if (planted.On(\"y\")) {\ng(4)", true},
		{"two that share it", []bug{with("x", "g(2)", "g(PLANTED)"), with("y", "g(2)", "g(PLANTED)")}, `g((planted.On("x") || planted.On("y")))`, true},
		{"a rare branch", []bug{with("x", "g(2)", "g(3)")}, "planted.Reach(\"one\")\n\tg(1)", true},
		{"twice", []bug{with("x", "g(1)", "g(3)")}, "occurs 2 times", false},
		{"never", []bug{with("x", "g(7)", "g(3)")}, "occurs 0 times", false},
		{"overlap", []bug{with("x", "g(2)", "g(PLANTED)"), with("y", "g(2)\n\tg(1)", "")}, "overlaps", false},
		{"no source", []bug{{name: "x", hunks: []hunk{{"fence/a.go", "a", "b"}}}}, "no source file", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, err := newOverlay(dir, tt.bugs)
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = o.files["election/a.go"]
			}
			if (err == nil) != tt.ok || !strings.Contains(got, tt.want) {
				t.Errorf("got %v, %q; want %q", err, got, tt.want)
			}
		})
	}
}

// TestParseBugRefuses: a file that says too little, or what nobody reads, is an error.
func TestParseBugRefuses(t *testing.T) {
	const good = "rule: R1\nabout: a\nby: one leader by belief\nplay: crash single on\n\n-- old f.go --\na\n-- new --\nb\n"
	if _, err := parseBug("x", good); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ old, new, want string }{
		{"rule: R1\n", "", "rule and about"},
		{"play: crash single on\n", "", "either plays or tests"},
		{"by: one leader by belief\n", "", "names the checks"},
		{"by: one leader by belief", "by: magic", "no such check"},
		{"crash single", "crash triple", "must be single"},
		{"crash single on", "crash single on loss=2", "loss"},
		{"crash single on", "crash@x+crash single on", "invalid syntax"},
		{"rule:", "rules:", "no such field"},
		{"-- new --\nb\n", "", "pairs"},
		{"-- new --", "-- old g.go --", "must alternate"},
	} {
		if _, err := parseBug("x", strings.Replace(good, tt.old, tt.new, 1)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q for %q: %v, want %q", tt.new, tt.old, err, tt.want)
		}
	}
}
