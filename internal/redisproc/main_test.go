package redisproc_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"

	"go.uber.org/goleak"

	"incumbent/internal/redisproc"
)

func TestMain(m *testing.M) {
	if os.Getenv(crashEnv) != "" {
		crashChild()
	}
	goleak.VerifyTestMain(m)
}

// crashEnv makes this test binary a program that starts a server, tells its
// address and waits to be killed. Its value is the folder to use.
const crashEnv = "REDISPROC_CRASH_CHILD"

func crashChild() {
	s, err := redisproc.Start(context.Background(), redisproc.Options{Dir: os.Getenv(crashEnv)})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(s.Addr())
	io.Copy(io.Discard, os.Stdin) // ends with the test, should that be killed
	s.Stop()
	os.Exit(0)
}
