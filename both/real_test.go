package both_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/both"
	"incumbent/election"
	"incumbent/election/electiontest"
	"incumbent/fence"
	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
	"incumbent/internal/vote"
	"incumbent/quorum"
	"incumbent/single"
)

// servers are real ones, in the places that a layout gives them.
type servers struct {
	t      *testing.T
	layout layout
	all    []*redisproc.Server
	admin  []*redis.Client
	opt    vote.Options
}

func startServers(t *testing.T, l layout) *servers {
	t.Helper()
	s := &servers{t: t, layout: l, opt: vote.Options{Logger: quiet, GuardsOff: election.AllGuards}}
	for range l.servers() {
		srv := redistest.StartT(t, redisproc.Options{})
		s.all = append(s.all, srv)
		s.admin = append(s.admin, s.client(srv))
	}
	return s
}

// client is closed when the test ends.
func (s *servers) client(srv *redisproc.Server) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: srv.Addr(), ContextTimeoutEnabled: true, MaxRetries: -1})
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

func (s *servers) on(masters []int) election.Store {
	s.t.Helper()
	var clients []redis.UniversalClient
	for _, i := range masters {
		clients = append(clients, s.client(s.all[i]))
	}
	var st election.Store
	var err error
	if len(clients) == 1 {
		st, err = single.New(clients[0], "job", s.opt)
	} else {
		st, err = quorum.New(clients, "job", s.opt)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return st
}

func (s *servers) one() election.Store { return s.on(s.layout.one) }
func (s *servers) two() election.Store { return s.on(s.layout.two) }
func (s *servers) both() *both.Store   { return join(s.t, s.one(), s.two()) }

// setup is a fresh election on these servers for the conformance suite.
func (s *servers) setup(t *testing.T, ttl time.Duration) *electiontest.Setup {
	own := *s
	own.t = t
	for _, c := range s.admin {
		if err := c.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
	}
	all := s.layout.all
	return &electiontest.Setup{
		Masters: len(all), Listeners: s.layout.listeners(), TTL: ttl,
		Options: election.Options{Logger: quiet},
		Open:    func() election.Store { return own.both() },
		Lease: func(i int) (string, time.Duration) {
			v, _ := s.admin[all[i]].Get(context.Background(), leaseKey).Result()
			left, _ := s.admin[all[i]].PTTL(context.Background(), leaseKey).Result()
			return v, left
		},
		Delete: func(i int) { s.admin[all[i]].Del(context.Background(), leaseKey) },
		Wipe:   func(i int) { s.admin[all[i]].FlushAll(context.Background()) },
		Wait:   func(d time.Duration) { <-time.After(d) },
	}
}

func onServers(s *servers, ttl time.Duration) electiontest.Factory {
	return func(t *testing.T, test func(*testing.T, *electiontest.Setup)) { test(t, s.setup(t, ttl)) }
}

var everywhere = flag.Bool("everywhere", false, "check the stores on real servers in all layouts")

// onEach is the layouts for the suites on servers: in virtual time all are played.
func onEach() []layout {
	if *everywhere {
		return layouts
	}
	return []layout{sharing} // where a lease serves two stores
}

func TestStoreOnServers(t *testing.T) {
	t.Parallel()
	for _, l := range onEach() {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			electiontest.RunStore(t, onServers(startServers(t, l), 4*time.Second))
		})
	}
}

func TestElectorOnServers(t *testing.T) {
	t.Parallel()
	for _, l := range onEach() {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			electiontest.RunElector(t, onServers(startServers(t, l), 4*time.Second))
		})
	}
}

// realMove is a move between real servers under load.
type realMove struct {
	*servers
	register *fence.Redis
	late     sync.WaitGroup // writes that come after their term

	mu      sync.Mutex
	terms   []*led
	acts    int
	refused int
	wrong   []error
}

const (
	realTTL    = 2 * time.Second
	historyKey = "history"
)

// append adds the token to a list, in which they must never fall.
var appendToken = fence.NewScript(`return redis.call('RPUSH', KEYS[1], ARGV[1])`)

// candidate campaigns and writes until stop is called, which waits for its end.
func (m *realMove) candidate(name string, st election.Store) (stop func()) {
	e, err := election.New(st, election.Options{ID: name, TTL: realTTL, Logger: quiet, Observer: m.observe(name)})
	if err != nil {
		m.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.note(election.Run(ctx, e, m.work, m.register))
	}()
	return func() {
		cancel()
		<-done
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		m.note(e.Close(ctx))
	}
}

// work writes every few milliseconds while its term is valid, and once more when the
// next one has begun: what was under way for long.
func (m *realMove) work(ctx context.Context, t *election.Term) error {
	for {
		if t.Valid() {
			m.write(t.Token())
		}
		select {
		case <-time.After(writeEvery):
		case <-ctx.Done():
			m.late.Go(func() {
				<-time.After(realTTL / 4)
				m.write(t.Token())
			})
			return nil
		}
	}
}

// write is one act on the register.
func (m *realMove) write(token election.Token) {
	ctx, cancel := context.WithTimeout(context.Background(), realTTL)
	defer cancel()
	_, err := m.register.Do(ctx, token, appendToken, []string{historyKey}, uint64(token))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.acts++
	var fenced *election.FencedError
	switch {
	case errors.As(err, &fenced):
		m.refused++
	case err != nil:
		m.wrong = append(m.wrong, err)
	}
}

func (m *realMove) note(err error) {
	if err == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wrong = append(m.wrong, err)
}

func (m *realMove) observe(name string) func(election.Event) {
	var now *led
	return func(ev election.Event) {
		m.mu.Lock()
		defer m.mu.Unlock()
		switch {
		case ev.Kind == election.TermStarted:
			now = &led{by: name, token: ev.Token, start: ev.At, end: ev.Deadline}
			m.terms = append(m.terms, now)
		case ev.Kind == election.Renewed:
			now.end = ev.Deadline
		case ev.Kind == election.TermEnded && ev.At.Before(now.end):
			now.end = ev.At
		}
	}
}

// await waits until a candidate of that round leads.
func (m *realMove) await(t *testing.T, round string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-time.After(10 * time.Millisecond) {
		m.mu.Lock()
		n := len(m.terms)
		led := n > 0 && strings.HasSuffix(m.terms[n-1].by, round)
		m.mu.Unlock()
		if led {
			return
		}
	}
	t.Fatalf("no candidate of round %s leads", round)
}

// judge looks at the history of terms, and at that of the register.
func (m *realMove) judge(t *testing.T) {
	m.late.Wait()
	for _, err := range m.wrong {
		t.Error(err)
	}
	r := rig{terms: m.terms}
	terms, wrong := r.history()
	for _, text := range wrong { // overlaps, and tokens that fall
		t.Error(text)
	}
	written, err := m.admin[0].LRange(t.Context(), historyKey, 0, -1).Result()
	if err != nil {
		t.Fatal(err)
	}
	last := 0
	for _, text := range written {
		n, err := strconv.Atoi(text)
		if err != nil || n < last {
			t.Fatalf("the register has %s after %d, %v", text, last, err)
		}
		last = n
	}
	t.Logf("%d terms, %d acts: %d accepted, %d stale ones refused; %d overlaps; longest time without a leader %s",
		len(terms), m.acts, len(written), m.refused, len(wrong), slices.Max(append(gaps(terms), 0)).Round(100*time.Microsecond))
	if m.refused == 0 {
		t.Error("no stale act was tried")
	}
}

// TestMoveOnServers moves an election to and fro between real servers, by rolling
// deploys under load.
func TestMoveOnServers(t *testing.T) {
	t.Parallel()
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			s := startServers(t, l)
			s.opt = vote.Options{Logger: quiet, AssumeNew: true, GuardsOff: election.RestartGuard} // they have just started
			register, err := fence.NewRedis(s.client(s.all[0]), "register")
			if err != nil {
				t.Fatal(err)
			}
			m := &realMove{servers: s, register: register}
			const candidates, rounds = 3, 2
			slots := make([]func(), candidates)
			kinds := []func() election.Store{s.one}
			joint := func() election.Store { return s.both() }
			for range rounds {
				kinds = append(kinds, joint, s.two, joint, s.one)
			}
			for round, open := range kinds {
				for i := range slots {
					fresh := m.candidate(fmt.Sprintf("c%d-%d", i, round), open())
					<-time.After(realTTL / 10) // it stands by
					if round == 1 && i == 0 {
						<-time.After(realTTL) // masters without a record wait from its first look on
					}
					if slots[i] != nil {
						slots[i]()
					}
					slots[i] = fresh
				}
				m.await(t, fmt.Sprintf("-%d", round))
			}
			for _, stop := range slots {
				stop()
			}
			m.judge(t)
		})
	}
}
