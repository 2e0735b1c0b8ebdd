package config

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	redis.SetLogger(silent{}) // it writes a line for each failed dial
	goleak.VerifyTestMain(m)
}

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// parseText loads a file without environment and flags.
func parseText(text string) (*Config, error) {
	return LoadFrom(Sources{YAML: []byte(text), Environ: []string{}})
}

func mustLoad(t *testing.T, s Sources) *Config {
	t.Helper()
	if s.Environ == nil {
		s.Environ = []string{}
	}
	c, err := LoadFrom(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func noErr(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// logs is a log that a test can read.
type logs struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func logTo(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// writeFile makes a temporary file.
func writeFile(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	overwrite(t, name, content)
	return name
}

func overwrite(t *testing.T, name, content string) {
	t.Helper()
	noErr(t, os.WriteFile(name, []byte(content), 0o600))
}
