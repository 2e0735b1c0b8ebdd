package vote

import (
	"context"
	"crypto/sha1" //nolint:gosec // Redis names scripts by SHA-1
	_ "embed"
	"encoding/hex"
	"strings"

	"github.com/redis/go-redis/v9"
)

// A Script is one of the handful of Lua scripts that change what a master stores.
type Script struct {
	Name, Source, SHA string
}

var (
	//go:embed lua/acquire.lua
	acquireSource string
	//go:embed lua/seal.lua
	sealSource string
	//go:embed lua/renew.lua
	renewSource string
	//go:embed lua/reseat.lua
	reseatSource string
	//go:embed lua/release.lua
	releaseSource string
	//go:embed lua/inspect.lua
	inspectSource string
	//go:embed lua/init.lua
	initSource string
	//go:embed lua/ask.lua
	askSource string

	acquireScript = newScript("acquire", acquireSource)
	sealScript    = newScript("seal", sealSource)
	renewScript   = newScript("renew", renewSource)
	reseatScript  = newScript("reseat", reseatSource)
	releaseScript = newScript("release", releaseSource)
	inspectScript = newScript("inspect", inspectSource)
	initScript    = newScript("init", initSource)
	askScript     = newScript("ask", askSource)
)

// Scripts lists all scripts, for preloading and for the floors of a benchmark.
func Scripts() []Script {
	return []Script{acquireScript, sealScript, renewScript, reseatScript, releaseScript, inspectScript, initScript, askScript}
}

func newScript(name, source string) Script {
	sum := sha1.Sum([]byte(source)) //nolint:gosec // see above
	return Script{name, source, hex.EncodeToString(sum[:])}
}

// run calls EVALSHA, and EVAL when the server does not know the script. Some
// providers wrap the error, so the word is looked for anywhere in it.
func (s Script) run(ctx context.Context, c redis.UniversalClient, keys []string, args ...any) ([]any, error) {
	reply, err := c.EvalSha(ctx, s.SHA, keys, args...).Slice()
	if err != nil && noScript(err) {
		// rare: script-sent-again
		reply, err = c.Eval(ctx, s.Source, keys, args...).Slice()
	}
	return reply, err
}

func noScript(err error) bool { return strings.Contains(err.Error(), "NOSCRIPT") }
