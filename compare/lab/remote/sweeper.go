package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"incumbent/config"
)

// A sweeper is a process that does nothing but wait, and removes all keys of a
// comparison should the program be killed before it has.
type sweeper struct {
	cmd *exec.Cmd
	in  *os.File // closed with the program, however it ends
}

// sweeperEnv makes a process a sweeper. What it has to do is the first line of its
// input, where nobody else can read it.
const sweeperEnv = "INCUMBENT_LAB_SWEEPER"

// sweeperDone is the line that lets it go.
const sweeperDone = "done"

// sweeperOrder is what a sweeper has to do.
type sweeperOrder struct {
	ID      string           `json:"id"`
	Sources []config.Sources `json:"sources"` // of each mode
}

// sweep starts a sweeper.
func (s *Set) sweep(id ID) (*sweeper, error) {
	order := sweeperOrder{ID: id.String()}
	for _, t := range s.targets {
		order.Sources = append(order.Sources, t.sources)
	}
	text, err := json.Marshal(order)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer childIn.Close()
	cmd := exec.Command(self)
	environ := slices.DeleteFunc(os.Environ(), isSetting)
	cmd.Env = append(environ, sweeperEnv+"=yes")
	cmd.Stdin, cmd.Stderr = childIn, os.Stderr            // where it says what it could not remove
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // ^C at a terminal is for the program
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	w := &sweeper{cmd, in}
	if _, err := in.Write(append(text, '\n')); err != nil {
		return nil, errors.Join(err, w.dismiss())
	}
	return w, nil
}

// isSetting reports whether package config reads a variable, which may be a password.
func isSetting(kv string) bool { return strings.HasPrefix(kv, "INCUMBENT_") }

// dismiss ends a sweeper that is not needed any more, and waits for it.
func (w *sweeper) dismiss() error {
	_, err := io.WriteString(w.in, sweeperDone+"\n")
	return errors.Join(err, w.in.Close(), w.cmd.Wait())
}

// ChildMain turns the process into a sweeper if a player started it as one: it then
// never returns. Call it first in main or TestMain, after local.ChildMain. In any other
// process it returns at once.
func ChildMain() {
	if os.Getenv(sweeperEnv) == "" {
		return
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	var order sweeperOrder
	if !in.Scan() || json.Unmarshal(in.Bytes(), &order) != nil {
		os.Exit(2)
	}
	if in.Scan() && in.Text() == sweeperDone {
		os.Exit(0)
	}
	if err := order.obey(); err != nil {
		fmt.Fprintf(os.Stderr, "incumbent: keys may be left: %v\n", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Candidates end with the program, and what they sent last takes a moment to arrive.
const (
	sweepTries = 3
	sweepEvery = 500 * time.Millisecond
)

// obey removes the keys.
func (o sweeperOrder) obey() error {
	id, err := ParseID(o.ID)
	if err != nil {
		return err
	}
	s := &Set{}
	for _, src := range o.Sources {
		cfg, err := config.LoadFrom(src)
		if err != nil {
			return err
		}
		cfg.Logger = slog.New(slog.DiscardHandler)
		s.targets = append(s.targets, &target{mode: cfg.Mode, cfg: cfg, sources: src})
		s.Prefix = cfg.Prefix
	}
	ctx := context.Background()
	if err := s.Open(ctx); err != nil {
		return errors.Join(err, s.Close())
	}
	var r Removed
	for range sweepTries {
		time.Sleep(sweepEvery)
		r = s.Remove(ctx, id.Names(id.Elections()))
	}
	if len(r.Missed) > 0 {
		err = errors.New(strings.Join(r.Missed, "; "))
	}
	return errors.Join(err, s.Close())
}
