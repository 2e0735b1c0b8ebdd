package proof_test

import (
	"context"
	"flag"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"
)

var (
	pauses    = flag.Int("pauses", 24, "how many leaders to pause between check and write")
	timelines = flag.String("timeline", "", "files to write a typical pause to, separated by commas: a picture to *.svg, text to others")
	chatty    = flag.Bool("chatty", false, "let candidates log to stderr")
)

const (
	ttl = 400 * time.Millisecond
	// patience bounds every wait for something that takes a TTL or two.
	patience = 60 * time.Second
)

// interrupted ends with SIGINT or SIGTERM: tests then fail at once, and clean up
// like others that fail.
var interrupted = context.Background()

func TestMain(m *testing.M) {
	childMain()
	ownerMain()
	logging.Disable() // go-redis reports failed dials on stderr, as it should elsewhere
	var stop context.CancelFunc
	interrupted, stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := m.Run()
	stop()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			println(err.Error())
			code = 1
		}
	}
	os.Exit(code)
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
