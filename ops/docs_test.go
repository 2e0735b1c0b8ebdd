package ops

import (
	"strings"
	"testing"
)

// What an alert links to is there, and every metric is explained.
func TestOperationsGuideIsComplete(t *testing.T) {
	guide := string(read(t, "../docs/operations.md"))
	for _, r := range loadRules(t).rules() {
		if !strings.Contains(guide, "\n### "+r.Alert+"\n") {
			t.Errorf("no heading %q in docs/operations.md, to which the alert links", "### "+r.Alert)
		}
	}
	for name := range exported(t) {
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			name = strings.TrimSuffix(name, suffix)
		}
		if !strings.Contains(guide, name) {
			t.Errorf("%s is not in docs/operations.md", name)
		}
	}
}
