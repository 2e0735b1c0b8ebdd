//go:build linux || darwin

package supervise

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Where a watchdog finds its pipes.
const (
	ordersFD  = 3
	answersFD = 4
)

const (
	// maxNap is the longest time between two looks at the clock: timers stand still
	// while the machine is suspended, and the clock does not.
	maxNap = 100 * time.Millisecond
	// killNap is the time between two looks at what is being killed.
	killNap = 2 * time.Millisecond
	// stuckAfter is how long killing may take before it is reported, and how often.
	stuckAfter = time.Second
	// partTime is what a watchdog gets to end by itself when it has nothing more to do.
	partTime = time.Second
)

// watchdog owns a command. One goroutine, on one thread, starts, signals and reaps it:
// so no signal can meet a process that was reaped in between, and the kernel's promise to
// kill the command with the thread that started it holds.
type watchdog struct {
	plan
	family
	pipe    *os.File // to the agent
	out     *json.Encoder
	orders  <-chan order
	changed <-chan os.Signal

	alone  bool           // the agent has closed its pipe
	exited bool           // the command itself has ended; it is not reaped
	gone   bool           // nothing of it is left
	own    syscall.Signal // with which it was asked to end as its deadline came near; 0 if it was not
	killed Instant        // when it was first killed; 0 before
	moaned Instant        // when it was last reported that it cannot be killed
}

// Watchdog is the whole program of a watchdog process, as Start starts it. It returns
// the exit code when nothing of the command is left and the agent knows.
//
// It writes to its pipe only, a few lines that always fit, and opens no connection:
// nothing can hold it up.
func Watchdog() int {
	runtime.LockOSThread() // never unlocked
	rename("run-watchdog")
	syscall.CloseOnExec(ordersFD) // the command must not hold the pipes open
	syscall.CloseOnExec(answersFD)
	deaf()
	w := &watchdog{family: family{root: os.Getpid(), spare: children()}}
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGCHLD)
	w.pipe = os.NewFile(answersFD, "answers")
	w.out, w.orders, w.changed = json.NewEncoder(w.pipe), readOrders(os.NewFile(ordersFD, "orders")), changed
	first, ok := <-w.orders
	if !ok || first.Start == nil {
		return 1
	}
	if w.start(*first.Start) {
		w.watch()
	}
	for !w.alone { // until the agent will signal nobody any more
		_, more := <-w.orders
		w.alone = !more
	}
	if w.leader != 0 {
		reap(w.leader)
	}
	return 0
}

// deaf keeps signals from ending the watchdog: whoever stops a service may send them to
// all of its processes. They are caught and not ignored, since the command would inherit
// that; but a hang-up that is ignored already, as under nohup, stays so for both.
func deaf() {
	list := []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGPIPE}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	signal.Notify(make(chan os.Signal, 1), list...)
}

// readOrders hands over what the agent sends, and closes the channel when it has closed
// the pipe.
func readOrders(r io.Reader) <-chan order {
	orders := make(chan order)
	go func() {
		defer close(orders)
		for d := json.NewDecoder(r); ; {
			var o order
			if err := d.Decode(&o); err != nil {
				return // the end, or what no agent of this version sends: as good as none
			}
			orders <- o
		}
	}()
	return orders
}

// say tells the agent. If it is gone, nobody needs to know.
func (w *watchdog) say(a answer) { _ = w.out.Encode(a) }

// start starts the command, unless its end is near already.
func (w *watchdog) start(s start) bool {
	w.Timing, w.deadline = s.Timing, s.Deadline
	if err := inherit(); err != nil {
		w.say(answer{Failed: syscall.ENOSYS})
		return false
	}
	if Now() >= w.askAt() {
		w.say(answer{Late: true})
		return false
	}
	args := make([]string, len(s.Args))
	for i, a := range s.Args {
		args[i] = string(a)
	}
	pid, err := syscall.ForkExec(string(s.Path), args, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: childAttr(),
	})
	if err != nil {
		errno := syscall.EINVAL
		errors.As(err, &errno)
		w.say(answer{Failed: errno})
		return false
	}
	w.leader = pid
	w.say(answer{Started: pid})
	return true
}

// watch does what is due until nothing of the command is left.
func (w *watchdog) watch() {
	timer := time.NewTimer(0)
	for {
		w.act(Now()) // first: to look takes time
		w.look()
		if w.gone {
			return
		}
		timer.Reset(w.nap())
		select {
		case o, ok := <-w.orders:
			w.obey(o, ok)
		case <-w.changed:
		case <-timer.C:
		}
	}
}

// nap is how long nothing is due.
func (w *watchdog) nap() time.Duration {
	if w.killing {
		return lookAgain(w.killed)
	}
	return max(0, min(w.due().Sub(Now()), maxNap))
}

// lookAgain is the time between two looks at what is being killed since then: there is no
// hurry any more where it does not help.
func lookAgain(since Instant) time.Duration {
	if Now().Sub(since) >= stuckAfter {
		return maxNap
	}
	return killNap
}

// obey does what the agent says.
func (w *watchdog) obey(o order, ok bool) {
	switch {
	case !ok:
		w.orders, w.alone = nil, true // a nil channel never has anything
		w.end(syscall.SIGTERM, Orphaned)
	case o.Deadline != 0:
		w.extend(o.Deadline)
		w.say(answer{Deadline: o.Deadline})
	case o.Signal != 0:
		w.signalGroup(o.Signal)
	case o.Stop != 0:
		w.end(o.Stop, Told)
	case o.Kill:
		w.ordered = Now() // act does it
	}
}

// end asks the command to end, by a signal. A later signal that the agent was told to pass
// on is passed on as well. But the agent watches the same deadline: when it comes to the
// same conclusion a moment later, or dies after it has asked, the command gets no second one.
func (w *watchdog) end(sig syscall.Signal, why Reason) {
	again := w.asked != 0
	if !again && !w.exited {
		w.say(answer{Asked: why})
	}
	w.ask(Now())
	switch {
	case again && why == Orphaned:
		return
	case again && sig == w.own:
		w.own = 0
		return
	case why == Deadline:
		w.own = sig
	}
	w.signal(sig)
}

// murder kills the command, from now on until nothing is left of it.
func (w *watchdog) murder() {
	w.kill()
	if !w.killing {
		w.killing, w.killed = true, Now()
		w.moaned = w.killed
		w.say(answer{Killing: true}) // the agent relies on it: after the deed
	}
}

// act does what is due by the clock.
func (w *watchdog) act(now Instant) {
	switch {
	case w.gone:
	case w.killing || now >= w.killAt():
		if w.asked == 0 && !w.exited {
			why := Deadline
			if w.ordered != 0 {
				why = Told
			}
			w.say(answer{Asked: why})
			w.ask(now)
		}
		w.murder()
	case w.asked == 0 && now >= w.askAt():
		w.end(syscall.SIGTERM, Deadline)
	}
}

// look reaps orphans that have ended, and finds out whether the command has, and whether
// all of it is gone.
func (w *watchdog) look() {
	for !w.exited {
		pid, status, err := peek(0)
		if err != nil || pid == 0 {
			break
		}
		if pid != w.leader {
			reap(pid)
			continue
		}
		w.exited = true
		w.say(answer{Exited: &status})
	}
	if !w.exited {
		return
	}
	rest, err := w.left()
	switch {
	case err != nil: // cannot be told: the agent must not take it for gone
		w.moan(err.Error())
	case len(rest) == 0:
		w.gone = true
		w.say(answer{Gone: true})
	case w.asked == 0:
		// What it leaves behind would work without the lease.
		w.end(syscall.SIGTERM, Itself)
	case w.killing:
		w.moan(describe(rest))
	default:
		w.remind(syscall.SIGTERM)
	}
}

// moan reports, now and then, what cannot be killed, unless an agent that does not read has
// let the pipe fill up.
func (w *watchdog) moan(what string) {
	now := Now()
	if now.Sub(w.moaned) < stuckAfter {
		return
	}
	w.moaned = now
	ready := []unix.PollFd{{Fd: int32(w.pipe.Fd()), Events: unix.POLLOUT}}
	if n, err := unix.Poll(ready, 0); err == nil && n == 1 { // a page is free, and the line shorter
		w.say(answer{Stuck: what})
	}
}
