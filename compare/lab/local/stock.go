package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"incumbent/internal/redisproc"
)

// stock is where the servers of labs come from, and where they go to when a lab is
// closed: a server that lives on is old enough to be a replica without a restart
// guard, and costs no start. Its methods may be called from several goroutines.
type stock struct {
	binary   string
	fakeTime string // the library; "" where clocks are left alone
	folder   *folder
	patience time.Duration // for a server to start; 0: startPatience

	mu   sync.Mutex
	idle []*server
}

// newStock finds the programs, and makes a folder for all files.
func newStock(binary, fakeTime string, clocks bool) (*stock, error) {
	path, err := redisproc.LookPath(binary)
	if err != nil {
		return nil, err
	}
	st := &stock{binary: path}
	if clocks {
		if st.fakeTime, err = findFakeTime(fakeTime); err != nil {
			return nil, err
		}
	}
	if st.folder, err = newFolder(); err != nil {
		return nil, err
	}
	return st, nil
}

// take returns n servers: the oldest there are, or else the youngest, and new ones
// for those that are missing.
func (st *stock) take(ctx context.Context, n int, oldest bool) ([]*server, error) {
	st.mu.Lock()
	slices.SortFunc(st.idle, func(a, b *server) int {
		if !oldest {
			a, b = b, a
		}
		return cmp.Compare(a.born, b.born)
	})
	ready := min(n, len(st.idle))
	list := slices.Clone(st.idle[:ready])
	st.idle = slices.Delete(st.idle, 0, ready)
	st.mu.Unlock()
	fresh, err := st.start(ctx, n-ready)
	if list = append(list, fresh...); err != nil {
		stopAll(list)
		return nil, err
	}
	return list, nil
}

// start starts n servers side by side. With an error it returns those that run.
func (st *stock) start(ctx context.Context, n int) (list []*server, err error) {
	var wg sync.WaitGroup
	all, errs := make([]*server, n), make([]error, n)
	for i := range n {
		wg.Go(func() { all[i], errs[i] = st.startOne(ctx) })
	}
	wg.Wait()
	for _, s := range all {
		if s != nil {
			list = append(list, s)
		}
	}
	return list, errors.Join(errs...)
}

// startPatience is how long a server may take to start, on a machine that is busy.
const startPatience = 30 * time.Second

// prove starts the first server, so that a program that is none is one error and not
// that of each run.
func (st *stock) prove(ctx context.Context) error {
	list, err := st.take(ctx, 1, true)
	var cause *redisproc.Error
	switch {
	case errors.As(err, &cause):
		return fmt.Errorf("%s does not work: %w: it must be a redis-server or valkey-server", st.binary, cause.Err)
	case err != nil:
		return err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.idle = append(st.idle, list...)
	return nil
}

func (st *stock) startOne(ctx context.Context) (*server, error) {
	o := redisproc.Options{
		Binary: st.binary, Dir: st.folder.path,
		Args:         []string{"repl-diskless-sync-delay", "0"}, // a replica is not to wait for others
		ReadyTimeout: cmp.Or(st.patience, startPatience),
	}
	s := &server{}
	if st.fakeTime != "" {
		clock, err := newClockFile(st.folder.path)
		if err != nil {
			return nil, err
		}
		s.clock, o.Env = clock, clock.environ(st.fakeTime)
	}
	proc, err := redisproc.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	s.proc, s.addr, s.born = proc, proc.Addr(), monotonic()
	if err := errors.Join(s.connect(ctx), s.prepare(ctx)); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// give takes servers back. Those that cannot be made as new are ended.
func (st *stock) give(ctx context.Context, list []*server) {
	var wg sync.WaitGroup
	for _, s := range list {
		wg.Go(func() {
			if s.recycle(ctx) != nil {
				s.stop()
				return
			}
			st.mu.Lock()
			defer st.mu.Unlock()
			st.idle = append(st.idle, s)
		})
	}
	wg.Wait()
}

// close ends all servers that are back, and removes all files.
func (st *stock) close() error {
	st.mu.Lock()
	defer st.mu.Unlock()
	stopAll(st.idle)
	st.idle = nil
	return st.folder.remove()
}

func stopAll(list []*server) {
	var wg sync.WaitGroup
	for _, s := range list {
		wg.Go(s.stop)
	}
	wg.Wait()
}
