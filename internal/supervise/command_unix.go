//go:build linux || darwin

package supervise

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// A Command is a command under its watchdog, as the agent sees it. Its methods may be
// called from several goroutines, also after its end.
type Command struct {
	plan // with the deadline that the watchdog has confirmed
	family
	name    string
	log     *slog.Logger
	proc    *exec.Cmd // the watchdog
	spare   map[int]bool
	pipe    *os.File // to it
	orders  chan order
	answers <-chan answer
	calls   chan func()
	done    chan struct{}
	result  Result

	told      Instant        // a deadline on its way to the watchdog; 0 if none is
	next      Instant        // a later one, to be sent when that is confirmed; 0 if none
	sig       syscall.Signal // with which the command was to be ended first
	confirmed bool           // somebody has asked the command to end
	patient   Instant        // until when nothing is held against the watchdog
	excused   Instant        // the deadline for which it got that patience; 0 before
	seen      Instant        // when the loop came round last
}

// Supported is nil, or why commands cannot be supervised on this system.
func Supported() error { return inherit() }

// Start starts a watchdog which starts the command, and returns without waiting for
// either: Done and Result tell. Should the command not be there any more, or too little
// time be left, the result says so.
//
// On Linux this process becomes the parent of the command's orphans, should the watchdog
// die: it must not start other processes while the command runs, or they end with it.
func Start(o Options) (*Command, error) {
	if err := inherit(); err != nil {
		return nil, err
	}
	c := &Command{
		plan: plan{Timing: o.Timing.withDefaults(), deadline: o.Deadline}, name: o.Args[0],
		log: cmp.Or(o.Logger, slog.Default()), spare: children(), sig: syscall.SIGTERM,
		orders: make(chan order, 64), calls: make(chan func()), done: make(chan struct{}), seen: Now(),
	}
	if Now() >= c.askAt() {
		c.result.Err, c.result.Asked = ErrLate, Deadline
		close(c.done)
		return c, nil
	}
	answers, err := c.spawn(o)
	if err != nil {
		return nil, fmt.Errorf("watchdog: %w", err)
	}
	c.root, c.answers = c.proc.Process.Pid, readAnswers(answers, c.done)
	first := start{Path: []byte(o.Path), Deadline: o.Deadline, Timing: c.Timing}
	for _, a := range o.Args {
		first.Args = append(first.Args, []byte(a))
	}
	go c.write()
	c.orders <- order{Start: &first}
	go c.loop()
	return c, nil
}

// spawn starts the watchdog, in a session of its own: a terminal does not reach it.
func (c *Command) spawn(o Options) (answers *os.File, err error) {
	exe, err := self()
	if err != nil {
		return nil, err
	}
	ordersOut, ordersIn, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = ordersOut.Close() }() // the watchdog has its own
	answersOut, answersIn, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, ordersIn.Close())
	}
	defer func() { _ = answersIn.Close() }()
	c.proc = &exec.Cmd{
		Path: exe, Args: append([]string{os.Args[0]}, o.Watchdog...), Env: o.environ(),
		ExtraFiles: []*os.File{ordersOut, answersIn}, SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	// A nil *os.File in an interface would not be nil.
	if o.Stdin != nil {
		c.proc.Stdin = o.Stdin
	}
	if o.Stdout != nil {
		c.proc.Stdout = o.Stdout
	}
	if o.Stderr != nil {
		c.proc.Stderr = o.Stderr
	}
	if err := c.proc.Start(); err != nil {
		return nil, errors.Join(err, ordersIn.Close(), answersOut.Close())
	}
	c.pipe = ordersIn
	return answersOut, nil
}

// write sends orders. It may be held up by a watchdog that does not read; the loop is not.
func (c *Command) write() {
	enc := json.NewEncoder(c.pipe)
	for o := range c.orders {
		_ = enc.Encode(o) // what is not confirmed is held against the watchdog
	}
}

// send gives an order, unless so many wait that the watchdog does not read them.
func (c *Command) send(o order) {
	select {
	case c.orders <- o:
	default:
	}
}

// readAnswers hands over what the watchdog says until nobody wants it any more, and
// closes the channel when the watchdog has died.
func readAnswers(r io.ReadCloser, done <-chan struct{}) <-chan answer {
	answers := make(chan answer, 16)
	go func() {
		defer close(answers)
		defer func() { _ = r.Close() }() // read only
		for d := json.NewDecoder(r); ; {
			var a answer
			if err := d.Decode(&a); err != nil {
				return
			}
			select {
			case answers <- a:
			case <-done:
				return
			}
		}
	}()
	return answers
}

// Extend moves the deadline. One that is not later changes nothing.
func (c *Command) Extend(to Instant) {
	c.call(func() {
		switch {
		case c.told != 0:
			c.next = max(c.next, to)
		case to > c.deadline:
			c.told = to
			c.send(order{Deadline: to})
		}
	})
}

// Signal passes a signal on to the command's process group.
func (c *Command) Signal(sig syscall.Signal) { c.call(func() { c.send(order{Signal: sig}) }) }

// Stop asks the command to end, by a signal to all of it; it is killed when its grace is
// over, or the deadline near. A further call passes on its signal as well.
func (c *Command) Stop(sig syscall.Signal) {
	c.call(func() {
		if c.asked == 0 {
			c.ask(Now())
			c.sig = sig
		}
		c.send(order{Stop: sig})
	})
}

// Kill ends the command at once.
func (c *Command) Kill() {
	c.call(func() {
		if c.ordered == 0 {
			c.ordered = Now()
			c.send(order{Kill: true})
		}
	})
}

// call lets the loop do something, unless the command is gone.
func (c *Command) call(f func()) {
	select {
	case c.calls <- f:
	case <-c.done:
	}
}

// Done is closed when nothing of the command is left.
func (c *Command) Done() <-chan struct{} { return c.done }

// Result is how the command ended. It waits until nothing is left of it.
func (c *Command) Result() Result {
	<-c.done
	return c.result
}

// loop hears the watchdog, and acts in its place where it does not.
func (c *Command) loop() {
	defer close(c.done)
	defer close(c.orders)
	timer := time.NewTimer(0)
	for {
		select {
		case a, alive := <-c.answers:
			if !alive {
				c.log.Error("the watchdog of the command died: the command is killed", "watchdog", c.root)
				c.takeOver()
				return
			}
			if c.hear(a) {
				c.part()
				return
			}
		case f := <-c.calls:
			f()
		case <-timer.C:
			if c.act(Now()) {
				return
			}
		}
		timer.Reset(max(minMargin/4, min(c.due().Add(c.Margin/2).Sub(Now()), maxNap)))
	}
}

// hear takes an answer. It reports whether nothing is left of the command.
func (c *Command) hear(a answer) (over bool) {
	switch {
	case a.Started != 0:
		c.leader = a.Started
		c.log.Info("command started", "command", c.name, "pid", c.leader)
	case a.Failed != 0:
		c.result.Err = &StartError{c.name, a.Failed}
		return true
	case a.Late:
		c.result.Err, c.result.Asked = ErrLate, Deadline
		return true
	case a.Deadline != 0:
		c.hearDeadline(a.Deadline)
	case a.Asked != Itself:
		c.result.Asked, c.confirmed = a.Asked, true
		c.ask(Now())
		if a.Asked == Deadline {
			c.log.Warn("command is asked to end: its deadline is near")
		}
	case a.Killing:
		c.killing, c.result.Killed = true, true // the kernel may need a while
		c.log.Warn("command is killed: it has not ended in time, or left processes behind")
	case a.Exited != nil:
		// Whatever is asked from here on is not why it ended. The watchdog asks what the
		// command has left behind to end.
		c.result.Status, c.confirmed = a.Exited, true
		c.ask(Now())
		c.log.Info("command ended", "status", a.Exited.String())
	case a.Stuck != "":
		c.moan(a.Stuck)
	case a.Gone:
		return true
	}
	return false
}

// hearDeadline notes what the watchdog knows now.
func (c *Command) hearDeadline(d Instant) {
	c.extend(d)
	c.told = 0
	if to := c.next; to > d {
		c.told, c.next = to, 0
		c.send(order{Deadline: to})
	}
}

func (c *Command) moan(what string) {
	c.log.Error("CANNOT KILL what is left of the command: it may work without the lease", "left", what)
}

// excuse notes that the loop came round. If this process was stopped, the watchdog may have
// done it all: it gets a moment to be heard, once for each deadline, and not as long as
// would let that pass.
func (c *Command) excuse(now Instant) {
	if now.Sub(c.seen) > 2*maxNap && c.excused != c.deadline {
		c.excused, c.patient = c.deadline, now.Add(c.Margin/2)
		if now < c.deadline {
			c.patient = min(c.patient, c.lastCall())
		}
	}
	c.seen = now
}

// lastCall is when this process kills at the latest.
func (c *Command) lastCall() Instant { return c.deadline.Add(-c.Margin / 4) }

// overdue reports whether the watchdog should have killed the command half a margin ago. One
// that says it did has a quarter more to see the end of it.
func (c *Command) overdue(now Instant) bool {
	return now >= c.patient && now >= c.killAt().Add(c.Margin/2) && (!c.killing || now >= c.lastCall())
}

// act does what the watchdog should have done half a margin ago. It reports whether
// nothing is left of the command.
func (c *Command) act(now Instant) (over bool) {
	c.excuse(now)
	if c.overdue(now) {
		c.log.Error("the watchdog of the command does not answer: both are killed", "watchdog", c.root)
		c.kill()
		c.takeOver()
		return true
	}
	asked := c.asked
	if asked == 0 {
		asked = c.askAt()
	}
	if !c.confirmed && now >= c.patient && now >= asked.Add(c.Margin/2) {
		c.confirmed = true
		switch {
		case c.result.Asked != Itself:
		case c.asked != 0:
			c.result.Asked = Told
		default:
			c.result.Asked = Deadline
		}
		c.ask(now)
		c.signal(c.sig)
	}
	return false
}

// part lets the watchdog go: nothing of the command is signalled from here on. One that was
// stopped is killed.
func (c *Command) part() {
	_ = c.pipe.Close() // nothing is lost
	limit := time.AfterFunc(partTime, func() { _ = c.proc.Process.Kill() })
	c.await(func() { _ = c.proc.Wait() }) // how it ends is of no interest
	if !limit.Stop() && c.leader > 1 {
		reap(c.leader) // which the watchdog has left to this process (Linux)
	}
}

// takeOver ends the watchdog, inherits what is left of the command, and kills it.
func (c *Command) takeOver() {
	c.result.Killed, c.result.Err = true, ErrUnwatched
	if c.result.Asked == Itself && c.result.Status == nil {
		c.result.Asked = Unwatched
	}
	_ = c.proc.Process.Kill() // it may be dead
	c.await(func() { _ = c.proc.Wait() })
	_ = c.pipe.Close()
	c.family.root, c.family.spare = os.Getpid(), c.spare
	began := Now()
	moaned := began
	c.kill()
	for {
		rest, err := c.left()
		if err == nil && len(rest) == 0 {
			break
		}
		if now := Now(); now.Sub(moaned) >= stuckAfter {
			moaned = now
			c.moan(describe(rest))
		}
		c.await(func() { time.Sleep(lookAgain(began)) })
		c.kill()
	}
	if c.leader > 1 {
		if s, ok := reap(c.leader); ok && c.result.Status == nil {
			c.result.Status = &s
		}
	}
}

// await does something slow while callers are not held up: what they want is of no
// interest any more.
func (c *Command) await(f func()) {
	ended := make(chan struct{})
	go func() { defer close(ended); f() }()
	for {
		select {
		case <-ended:
			return
		case <-c.calls:
		}
	}
}
