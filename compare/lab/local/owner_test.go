package local_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"time"

	"incumbent/compare/lab/local"
)

// ownerEnv makes this test binary a program that opens a lab with a frozen
// leader, tells the ids of all processes and waits to be killed.
const ownerEnv = "LOCAL_TEST_OWNER"

func ownLab() {
	ctx := context.Background()
	l, err := local.Open(ctx, local.Options{Mode: "quorum", Candidates: 2, TTL: 500 * time.Millisecond})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	leader, _, err := l.Settle(ctx)
	if err == nil {
		err = l.Freeze(leader)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		l.Close()
		os.Exit(1)
	}
	fmt.Print(l.PID("c1"), " ", l.PID("c2"))
	for _, s := range l.Servers() {
		fmt.Print(" ", s.PID())
	}
	fmt.Println()
	_, _ = bufio.NewReader(os.Stdin).ReadByte() // ends with the test, should that be killed
	l.Close()
	os.Exit(0)
}
