package single_test

import (
	"flag"
	"os"
	"testing"

	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if args := os.Getenv(leaderEnv); args != "" {
		logging.Disable()
		if err := beLeader(args); err != nil {
			println(err.Error())
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "10"); err != nil { // tests on servers mostly wait
		panic(err)
	}
	logging.Disable() // go-redis reports failed dials on stderr, as it should elsewhere
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			println(err.Error())
			code = 1
		}
	}
	os.Exit(code)
}
