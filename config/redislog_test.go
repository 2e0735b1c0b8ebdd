package config

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

func TestDialFilter(t *testing.T) {
	var out bytes.Buffer
	old := slog.Default()
	defer slog.SetDefault(old)
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, nil)))
	dialFilter{}.Printf(t.Context(), "redis: connection pool: failed to dial after %d attempts: %v", 1, "refused")
	dialFilter{}.Printf(t.Context(), "push: pre-command drain failed, retiring conn: %v", "closed")
	if out.Len() > 0 {
		t.Errorf("a failed connection was logged: %s", &out)
	}
	dialFilter{}.Printf(t.Context(), "redis: something %s", "else")
	if !strings.Contains(out.String(), "go-redis: something else") {
		t.Errorf("logged %q", &out)
	}
}
