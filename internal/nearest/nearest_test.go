package nearest

import (
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	known := []string{"check", "compare", "config", "ttl", "max-ttl", "quorum-masters"}
	for _, tt := range []struct{ typed, want string }{
		{"chekc", "check"}, {"check", "check"}, {"Check", "check"}, {"conpare", "compare"}, {"comp", "compare"}, {"con", "config"},
		{"tlt", "ttl"}, {"tttl", "ttl"}, {"max_ttl", "max-ttl"}, {"quorum", "quorum-masters"},
		{"", ""}, {"x", ""}, {"conquer", ""}, {"observe", ""}, {strings.Repeat("check", 1000), ""},
	} {
		if got := Of(tt.typed, known); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.typed, got, tt.want)
		}
	}
	if got := Of("check", nil); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}
