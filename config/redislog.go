package config

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// go-redis has one logger for the process, and writes a line to it for every
// failed dial, and for every connection that a server closed before it was used: one
// a try while a store is down, or refuses. Electors report that once, when it begins,
// and once when it is over.
var quietDials = sync.OnceFunc(func() { redis.SetLogger(dialFilter{}) })

// dialFilter passes on to slog what go-redis logs, but for failed connections.
type dialFilter struct{}

// Printf implements the logger of go-redis.
func (dialFilter) Printf(ctx context.Context, format string, v ...any) {
	if strings.Contains(format, "failed to dial") || strings.Contains(format, "drain failed") {
		return
	}
	slog.WarnContext(ctx, "go-redis: "+strings.TrimPrefix(fmt.Sprintf(format, v...), "redis: "))
}
