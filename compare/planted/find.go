package planted

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"incumbent/compare/history"
	"incumbent/compare/lab/virtual"
)

// program is what was built with all bugs in it.
type program struct {
	root   string
	worker string            // plays runs
	tests  map[string]string // test binaries by package
	marks  []mark            // rare branches
}

// build builds the worker, and the test binary of each package that bugs name.
func build(ctx context.Context, root, dir string, o *overlay, list []bug) (*program, error) {
	flag, err := o.write(dir)
	if err != nil {
		return nil, err
	}
	p := &program{root, filepath.Join(dir, "worker"), map[string]string{}, o.marks}
	if err := p.compile(ctx, "build", flag, "-o", p.worker, "./compare/planted/testdata/worker"); err != nil {
		return nil, err
	}
	for _, b := range list {
		for _, u := range b.tests {
			if p.tests[u.pkg] != "" {
				continue
			}
			p.tests[u.pkg] = filepath.Join(dir, strings.ReplaceAll(u.pkg, "/", "-")+".test")
			if err := p.compile(ctx, "test", "-c", "-vet=off", flag, "-o", p.tests[u.pkg], "./"+u.pkg); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

func (p *program) compile(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = p.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// environment switches a bug on; "" is none. What rare branches are reached goes to
// the file, if there is one.
func environment(bug, reached string) []string {
	return append(os.Environ(), "INCUMBENT_PLANTED="+bug, "INCUMBENT_REACHED="+reached)
}

// pool plays runs with that bug.
func (p *program) pool(bug, reached string) *virtual.Pool {
	return &virtual.Pool{Workers: 1, Command: func() *exec.Cmd {
		cmd := exec.Command(p.worker)
		cmd.Env = environment(bug, reached)
		return cmd
	}}
}

// catch is how a bug was found.
type catch struct {
	finding
	play string // in which cell, or by which test
	seed uint64 // 0 for a test
	runs int
}

// errFound ends a search.
var errFound = errors.New("found")

// find looks for a bug until it is found, and at most through all its plays. The
// same runs are tried in the same order on any machine.
func (p *program) find(ctx context.Context, b bug) (c catch, ok bool, err error) {
	if len(b.tests) > 0 {
		return p.findByTests(ctx, b)
	}
	var specs []virtual.Spec
	for seed := range b.seeds {
		for _, s := range b.plays {
			s.Seed = uint64(seed + 1)
			specs = append(specs, s)
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err = p.pool(b.name, "").Play(ctx, specs, func(i int, run history.Run, err error) {
		if ok {
			return
		}
		if c.finding = first(judge(run, err), b.by); c.check != "" {
			c.play, c.seed, c.runs, ok = playName(specs[i]), specs[i].Seed, i+1, true
			cancel(errFound)
		}
	})
	if ok {
		err = nil
	}
	return c, ok, err
}

// findByTests runs the unit tests of a bug until one fails.
func (p *program) findByTests(ctx context.Context, b bug) (c catch, ok bool, err error) {
	for i, u := range b.tests {
		failed, text, err := p.test(ctx, u, b.name, "")
		if err != nil {
			return c, false, err
		}
		if failed {
			return catch{finding{"go test", text}, u.pkg + " " + u.run, 0, i + 1}, true, nil
		}
	}
	return c, false, nil
}

// test runs unit tests with a bug; "" is none. What rare branches they reach goes to the
// file, if there is one. It fails when there are none of that name.
func (p *program) test(ctx context.Context, u unit, bug, reached string) (failed bool, text string, err error) {
	cmd := exec.CommandContext(ctx, p.tests[u.pkg], "-test.run=^("+u.run+")$", "-test.count=1", "-test.timeout=60s", "-test.v")
	cmd.Dir = filepath.Join(p.root, u.pkg)
	cmd.Env = environment(bug, reached)
	out, err := cmd.CombinedOutput()
	text = string(out)
	var exit *exec.ExitError
	switch {
	case !strings.Contains(text, "=== RUN"):
		return false, text, fmt.Errorf("%s: no test is called %s\n%s", u.pkg, u.run, text)
	case errors.As(err, &exit):
		return true, text, nil
	}
	return false, text, err
}
