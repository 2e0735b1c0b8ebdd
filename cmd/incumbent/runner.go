package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"incumbent/config"
	"incumbent/election"
	"incumbent/internal/supervise"
)

// closing is how long a process that holds nothing may take to clean up behind itself
// before it exits.
const closing = 300 * time.Millisecond

// runner is one call of "incumbent run".
type runner struct {
	k      *runCommand
	cfg    *config.Config
	log    *slog.Logger
	ttl    time.Duration
	timing supervise.Timing

	stdin, stdout, stderr *os.File
	stop                  context.CancelFunc
	http                  *runHTTP
	refused               atomic.Pointer[context.CancelFunc] // called when one try to lead has failed
	trouble               trouble
	terms                 backoff // used by the campaign alone, and by the work that it calls

	mu      sync.Mutex
	command *supervise.Command // that runs; nil if none does
	term    *election.Term     // in which it runs
	signal  syscall.Signal     // the first that told this process to end; 0 if none did
	started bool               // a command was started at least once
	lost    bool               // it was stopped because its term was lost
	ended   *int               // the exit code, when the command has ended for good
}

func newRunner(a *app, k *runCommand, cfg *config.Config) *runner {
	r := &runner{k: k, cfg: cfg, log: cfg.Logger}
	r.ttl, r.timing = timing(cfg)
	r.terms.ttl = r.ttl
	r.stdin, r.stdout, r.stderr = file(a.in), file(a.out), file(a.err)
	if r.stdin != nil && fromTerminal(r.stdin) {
		r.stdin = nil
	}
	cfg.Metadata = maps.Clone(cfg.Metadata)
	if cfg.Metadata == nil {
		cfg.Metadata = map[string]string{}
	}
	nameCommand(cfg.Metadata, filepath.Base(k.argv[0]))
	return r
}

// metadataLimit is how much the store takes, as package election counts it.
const metadataLimit = 4096

// nameCommand adds the command's name to metadata, where there is room for it: not its
// arguments, which may hold secrets.
func nameCommand(metadata map[string]string, name string) {
	size := len("command") + len(name)
	for k, v := range metadata {
		size += len(k) + len(v)
	}
	if metadata["command"] == "" && len(name) <= 256 && size <= metadataLimit {
		metadata["command"] = name
	}
}

// file is v if that is an open file, which a command can have.
func file(v any) *os.File {
	f, _ := v.(*os.File)
	return f
}

// run campaigns and runs the command until one of them is over for good, and returns the
// exit code.
func (r *runner) run(ctx context.Context) int {
	ctx, r.stop = context.WithCancel(ctx)
	defer r.stop()
	var err error
	if r.http, err = r.listen(); err != nil {
		return r.failed(exitRunFailed, err)
	}
	defer r.heed()() // last of all: until then a further signal ends nothing by itself
	defer r.http.close()
	client, err := r.cfg.Open(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return r.code(nil)
		}
		return r.failed(exitRunConfig, err)
	}
	defer r.close(client)
	r.http.client.Store(client)
	e, err := client.Elector(r.k.election, func(o *election.Options) { o.Observer = r.http.observers(r.observe) })
	if err != nil {
		return r.failed(exitRunConfig, err)
	}
	err = r.campaign(ctx, e)
	r.http.stopped(err)
	r.http.end() // while the client is closed
	return r.code(err)
}

// campaign leads again and again, until an error says why not.
func (r *runner) campaign(ctx context.Context, e election.Elector) (err error) {
	c := &candidate{Elector: e, r: r}
	r.log.Info("campaigning", "election", r.k.election, "command", r.k.argv[0])
	for ctx.Err() == nil && err == nil {
		err = election.Run(ctx, c, r.lead)
	}
	return err
}

// close gives the rest back. The lease was given back before; what a bid has left behind
// is undone in the background, for which a moment is enough while the servers answer.
func (r *runner) close(client *config.Client) {
	closed := make(chan error, 1)
	go func() { closed <- client.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			r.log.Debug("closing", "error", err)
		}
	case <-time.After(closing):
		r.log.Debug("closing takes too long")
	}
}

// code is the exit code, after the last campaign ended with err.
func (r *runner) code(err error) int {
	r.mu.Lock()
	ended, sig := r.ended, r.signal
	r.mu.Unlock()
	switch {
	case ended != nil:
		return *ended
	case sig != 0:
		return exitRunSignal + int(sig)
	case errors.Is(err, errRunLost):
		return r.failed(exitRunLost, err)
	case errors.Is(err, errRunNotAcquired):
		return r.notAcquired(err)
	case err != nil:
		return r.failed(exitRunFailed, err)
	}
	return exitInterrupted // whoever called this has ended its context
}

// failed logs why the program ends.
func (r *runner) failed(code int, err error) int {
	r.log.Error("giving up", "election", r.k.election, "code", code, "error", err)
	return code
}

// notAcquired logs that --wait is over while the store serves. That another host has the
// lease, or takes it right now, is what a job on several hosts expects.
func (r *runner) notAcquired(err error) int {
	level := slog.LevelInfo
	if errors.Is(err, election.ErrGuarded) {
		level = slog.LevelWarn // nobody leads
	}
	r.log.Log(context.Background(), level, "the command is not run here", "election", r.k.election, "code", exitRunNotAcquired, "reason", err)
	return exitRunNotAcquired
}

// done says why there is no more reason to campaign; nil if there is one.
func (r *runner) done() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.ended != nil:
		return errRunDone
	case r.lost && r.onlyOnce():
		return errRunLost
	}
	return nil
}

// onlyOnce reports whether a command that was stopped is not started again. r.mu is held.
func (r *runner) onlyOnce() bool { return r.k.onLost == exitOnLost || r.k.once && r.started }

// observe keeps the command's deadline as far ahead as the term's. What comes late stops
// the command too early, never too late.
func (r *runner) observe(ev election.Event) {
	switch ev.Kind {
	case election.BidRefused:
		if lasts, say := r.trouble.note(ev.Err, time.Now()); say {
			r.log.Warn("still cannot acquire, trying on", "election", r.k.election, "for", lasts.Round(time.Second), "error", ev.Err)
		}
		if cancel := r.refused.Load(); cancel != nil {
			(*cancel)()
		}
	case election.Renewed:
		if c := r.running(ev.Term); c != nil {
			c.Extend(deadline(ev.Term))
		}
	case election.TermEnded:
		if c := r.running(ev.Term); c != nil {
			c.Kill() // another may lead already
		}
	}
}

// running is the command that runs in a term; nil if none does.
func (r *runner) running(t *election.Term) *supervise.Command {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.term != t {
		return nil
	}
	return r.command
}

// deadline is that of a term, by the clock of commands. It is never late: that clock is
// read before the term's own.
func deadline(t *election.Term) supervise.Instant {
	now := supervise.Now()
	return now.Add(t.Remaining())
}

// lead is the work of a term: it returns when nothing of the command is left.
func (r *runner) lead(ctx context.Context, t *election.Term) error {
	if ctx.Err() != nil {
		r.noteLost()
		return nil
	}
	defer func() { r.terms.ended(t.Loss()) }() // before the lease is given back
	c, err := supervise.Start(supervise.Options{
		Path: r.k.path, Args: r.k.argv, Deadline: deadline(t), Timing: r.timing, Watchdog: []string{"watchdog"},
		Env:     []string{"INCUMBENT_ELECTION=" + r.k.election, fmt.Sprintf("INCUMBENT_TOKEN=%d", t.Token())},
		Without: secretVariables(), Stdin: r.stdin, Stdout: r.stdout, Stderr: r.stderr, Logger: r.log,
	})
	if err != nil {
		r.finish(r.failed(exitRunFailed, err))
		return nil
	}
	r.attach(c, t)
	defer r.attach(nil, nil)
	c.Extend(deadline(t)) // a renewal may have come before
	select {
	case <-c.Done():
	case <-ctx.Done():
		r.end(c, t)
		<-c.Done()
	}
	r.judge(c.Result(), t)
	return nil
}

// attach notes which command runs. One that starts as this process is told to end has
// missed the signal.
func (r *runner) attach(c *supervise.Command, t *election.Term) {
	r.mu.Lock()
	r.command, r.term = c, t
	sig := r.signal
	r.mu.Unlock()
	if c != nil && sig != 0 {
		c.Stop(sig)
	}
}

// end ends a command whose term is ending. If a signal is why, the command has it.
func (r *runner) end(c *supervise.Command, t *election.Term) {
	r.mu.Lock()
	sig := r.signal
	r.mu.Unlock()
	valid := t.Valid()
	switch loss := t.Loss(); { // asked after that: what is not valid has a reason
	case !valid:
		r.log.Warn("killing the command: leadership is lost", "reason", loss.Word())
		c.Kill()
	case sig == 0:
		why := "told to end"
		if loss != nil {
			why = loss.Error()
		}
		r.log.Info("ending the command", "reason", why, "left", t.Remaining().Round(time.Millisecond))
		c.Stop(syscall.SIGTERM)
	}
}

// judge says what the end of a command means.
func (r *runner) judge(res supervise.Result, t *election.Term) {
	r.mu.Lock()
	told := r.signal != 0
	r.started = r.started || !errors.Is(res.Err, supervise.ErrLate)
	onlyOnce := r.onlyOnce()
	r.mu.Unlock()
	var cannot *supervise.StartError
	switch {
	case errors.As(res.Err, &cannot):
		r.finish(r.failed(cannot.ExitCode(), res.Err))
	case res.Status != nil && (res.Asked == supervise.Itself || told):
		r.finish(res.Status.ExitCode())
	case told: // before it was started
	case onlyOnce && errors.Is(res.Err, supervise.ErrUnwatched) && t.Valid() && t.Loss() == nil:
		r.finish(r.failed(exitRunFailed, res.Err))
	default:
		r.noteLost()
	}
}

// noteLost notes that a term was lost before the command had ended by itself, unless this
// process was told to end.
func (r *runner) noteLost() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost = r.lost || r.signal == 0
}

// secretVariables are the variables with secrets of settings: whoever may have the lease's
// command run need not know the password of the store.
func secretVariables() (names []string) {
	for _, s := range config.Settings() {
		if s.Secret {
			names = append(names, s.Env)
		}
	}
	return names
}

// finish notes the exit code: nothing will be run any more.
func (r *runner) finish(code int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = &code
}

// told heeds a signal that asks for the end, or that is passed on only.
func (r *runner) told(sig syscall.Signal, toEnd bool) {
	r.mu.Lock()
	first := toEnd && r.signal == 0
	if first {
		r.signal = sig
	}
	c := r.command
	r.mu.Unlock()
	if c != nil {
		r.log.Info("passing on a signal", "signal", sig.String())
		if toEnd {
			c.Stop(sig)
		} else {
			c.Signal(sig)
		}
	}
	if first {
		r.http.shuttingDown()
		r.stop()
	}
}
