package both_test

import (
	"flag"
	"os"
	"testing"

	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "10"); err != nil { // tests on servers mostly wait
		panic(err)
	}
	logging.Disable() // go-redis reports failed dials on stderr, as it should elsewhere
	goleak.VerifyTestMain(m, goleak.Cleanup(os.Exit))
}
