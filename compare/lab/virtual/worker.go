package virtual

import (
	"cmp"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9/logging"

	"incumbent/compare/history"
	"incumbent/compare/lab/virtual/bubble"
)

// order is what a [Pool] asks of a worker, a line of JSON. result is the answer, in
// gob: a parent spends half as long on a history as it does with JSON.
type order struct {
	ID   int  `json:"id"`
	Spec Spec `json:"spec"`
}

type result struct {
	ID  int
	Run history.Run
	Err string
}

// stuck is how long a run may take in real time. A thousandth of that is usual; a
// mutex that is held while virtual time passes would stop the clock for ever.
const stuck = time.Minute

// Worker is the main function of a child process of a [Pool]: it plays what it
// reads from in and writes histories to out, until in ends. It exits the process.
// What interrupts is ignored: it reaches the parent too, which then closes in.
func Worker(in io.Reader, out io.Writer) {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	logging.Disable() // go-redis reports failed dials on stderr
	tune()
	bubble.Main(func(run func(func()) error) int { return work(in, out, run) })
}

// work plays orders until there are no more or one went wrong: what is left of
// that in the process could disturb the next.
func work(in io.Reader, out io.Writer, run func(func()) error) int {
	orders, results := json.NewDecoder(in), gob.NewEncoder(out)
	for {
		var o order
		if err := orders.Decode(&o); err == io.EOF {
			return 0
		} else if err != nil {
			fmt.Fprintf(os.Stderr, "worker: reading orders: %v\n", err)
			return 2
		}
		r := fill(o, run)
		if err := results.Encode(r); err != nil {
			return 2 // the parent is gone
		}
		if r.Err != "" {
			return 1
		}
	}
}

// fill plays an order.
func fill(o order, run func(func()) error) result {
	watchdog := time.AfterFunc(stuck, func() {
		explain(os.Stderr, o.Spec)
		os.Exit(2)
	})
	defer watchdog.Stop()
	r := result{ID: o.ID}
	var failed error
	err := run(func() { r.Run, failed = Play(o.Spec) })
	if err == nil {
		err = failed
	}
	if err != nil {
		r.Err = err.Error()
	}
	return r
}

// maxStacks is how many bytes of stacks are looked at: more than a run has.
const maxStacks = 4 << 20

// explain says that a run is stuck, and what each goroutine waits for. First come
// those of the run that the runtime does not call durably blocked: they keep the
// clock from going on. A panic would tell of goroutines in any order.
func explain(out io.Writer, s Spec) {
	buf := make([]byte, maxStacks)
	stacks := strings.Split(strings.TrimSpace(string(buf[:runtime.Stack(buf, true)])), "\n\n")
	slices.SortStableFunc(stacks, func(a, b string) int { return cmp.Compare(innocence(a), innocence(b)) })
	fmt.Fprintf(out, "%s: not finished after %s: virtual time stands still, or goes on without end\n\n%s\n",
		s, stuck, strings.Join(stacks, "\n\n"))
}

// innocence is how little a goroutine can have to do with a clock that stands still.
func innocence(stack string) int {
	head, _, _ := strings.Cut(stack, "\n")
	switch {
	case !strings.Contains(head, "synctest bubble"):
		return 2
	case strings.Contains(head, "(durable)"):
		return 1
	}
	return 0
}
