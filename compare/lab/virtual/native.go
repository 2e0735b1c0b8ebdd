package virtual

import (
	"incumbent/internal/simnet"
	"incumbent/internal/vote/native"
)

// natives answer the library's scripts in Go, which takes a tenth of the time of Lua
// and gives the same histories: TestNativeIsLua empties it. A script that is not
// known here by its SHA-1, such as one with a planted fault, runs as Lua.
var natives = func() map[string]simnet.NativeScript {
	scripts := map[string]simnet.NativeScript{}
	for _, s := range native.Scripts() {
		scripts[s.SHA] = func(d *simnet.Data, keys, argv []string) ([]any, bool) { return s.Run(d, keys, argv) }
	}
	return scripts
}()
