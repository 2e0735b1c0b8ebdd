package quorum_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/internal/simnet"
	"incumbent/quorum"
	"incumbent/single"
)

func ask(t *testing.T, st election.Store, h election.HandOver) (election.Leader, error) {
	t.Helper()
	return st.(election.Asker).Ask(t.Context(), h)
}

// A request reaches the leader as long as most of the masters that may hold its lease
// have taken it, whichever majority answers the next renewal.
func TestAskNeedsMostOfTheHolders(t *testing.T) {
	for _, c := range []struct {
		name         string
		down         int  // masters that cannot be reached
		free, stolen int  // masters without the lease, and with that of another
		bare         bool // that was so before the leader won
		want         error
		others       int // errors of masters
	}{
		{name: "all"},
		{name: "two down", down: 2},
		{name: "three down", down: 3, want: election.ErrUnreachable, others: 3},
		{name: "two lost it", free: 2},
		{name: "two lost it, one down", free: 2, down: 1},
		{name: "three lost it", free: 3, want: election.ErrNoLeader},
		{name: "another has three", stolen: 3, want: election.ErrTaken},
		{name: "another has two", stolen: 2},
		{name: "another has two, one down", stolen: 2, down: 1},
		{name: "another has two, two down", stolen: 2, down: 2, want: election.ErrUnreachable, others: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, 1, 5, func(t *testing.T, w *world) {
				g := win(t, w.store("a"), bid("a", 5*time.Second))
				time.Sleep(100 * time.Millisecond)
				w.deleteLease(c.free)
				for _, m := range w.masters[:c.stolen] {
					m.Evict(leaseKey)
					mustDo(t, m, "SET", leaseKey, "theirs", "PX", "4000")
					mustDo(t, m, "HSET", recordKey, "token", "99", "holder", `{"id":"thief"}`)
				}
				for _, m := range w.masters[5-c.down:] {
					m.Hang()
				}
				asker := w.store("b")
				start := time.Now()
				l, err := ask(t, asker, election.HandOver{Token: g.Token, By: "me"})
				if took := time.Since(start); took > 1100*time.Millisecond {
					t.Errorf("it took %s", took)
				}
				if !errors.Is(err, c.want) {
					t.Fatalf("got %v, want %v", err, c.want)
				}
				if got := masterErrors(err); len(got) != c.others {
					t.Errorf("it names %d masters, want %d: %v", len(got), c.others, err)
				}
				if c.want == nil && (l.ID != "a" || l.Token != g.Token || l.Left <= 0 || l.Left > 5*time.Second) {
					t.Errorf("asked is %+v", l)
				}
				for _, m := range w.masters {
					m.Resume()
				}
				settle(t, asker)
			})
		})
	}
}

func mustDo(t *testing.T, m *simnet.Master, args ...string) {
	t.Helper()
	if _, err := m.Do(args...); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
}

// A renewal prefers the request that is for its term to one that is stale, at whichever
// master it is, and takes what nobody can read for none.
func TestRenewalFindsTheRequestForItsTerm(t *testing.T) {
	for name, c := range map[string]struct {
		asks [3]string // %d is the term's token
		want bool
		by   string
	}{
		"none":            {[3]string{}, false, ""},
		"stale first":     {[3]string{`{"token":5,"by":"stale"}`, `{"token":%d,"by":"ours"}`, ""}, true, "ours"},
		"ours first":      {[3]string{`{"token":%d,"by":"ours"}`, `{"token":5,"by":"stale"}`, ""}, true, "ours"},
		"only stale":      {[3]string{`{"token":5,"by":"stale"}`, `{"token":5,"by":"stale"}`, `{"token":5,"by":"stale"}`}, true, "stale"},
		"unreadable":      {[3]string{"give it to me", `{"token":"x"}`, `[]`}, false, ""},
		"no token":        {[3]string{`{"by":"me"}`, `{"token":0}`, `{"token":-1}`}, false, ""},
		"unreadable, too": {[3]string{"{", `{"token":%d,"by":"ours"}`, "\x00"}, true, "ours"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 1, 3, func(t *testing.T, w *world) {
				st := w.store("a")
				g := win(t, st, bid("a", 5*time.Second))
				settle(t, st)
				for i, text := range c.asks {
					mustDo(t, w.masters[i], "HSET", recordKey, "ask", strings.ReplaceAll(text, "%d", strconv.FormatUint(uint64(g.Token), 10)))
				}
				w.masters[2].Hang() // so that the first two are the majority that answers
				again, err := st.Renew(t.Context(), g)
				if err != nil {
					t.Fatal(err)
				}
				if (again.Asked != nil) != c.want || c.want && again.Asked.By != c.by {
					t.Errorf("the renewal brings %+v", again.Asked)
				}
				w.masters[2].Resume()
				settle(t, st)
			})
		})
	}
}

// What is wrong with a request is said before anything is sent.
func TestAskThatMakesNoSense(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st := w.store("a")
		for name, h := range map[string]election.HandOver{
			"no token":         {},
			"a huge token":     {Token: election.MaxToken + 1},
			"negative reserve": {Token: 1, To: "b", Reserve: -time.Second},
			"part of a ms":     {Token: 1, To: "b", Reserve: time.Millisecond / 2},
			"reserve for all":  {Token: 1, Reserve: time.Second},
			"a long name":      {Token: 1, To: strings.Repeat("x", 1001)},
			"a long reason":    {Token: 1, By: strings.Repeat("x", 1001)},
		} {
			if _, err := ask(t, st, h); err == nil || errors.Is(err, election.ErrNoLeader) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if n := w.commands(""); n != 0 {
			t.Errorf("%d commands were sent", n)
		}
	})
}

// Content of other programs is a typed error, and is left as it is.
func TestAskMeetsForeignContent(t *testing.T) {
	for name, foul := range map[string][]string{
		"lease is a list":    {"RPUSH", leaseKey, "x"},
		"record is a string": {"SET", recordKey, "x"},
	} {
		t.Run(name, func(t *testing.T) {
			eachMode(t, func(t *testing.T, w *world) {
				for _, m := range w.masters {
					mustDo(t, m, foul...)
					if foul[1] == recordKey {
						mustDo(t, m, "SET", leaseKey, "theirs", "PX", "5000")
					}
				}
				st := w.store("a")
				_, err := ask(t, st, election.HandOver{Token: 1})
				if !errors.Is(err, election.ErrForeignKey) || len(masterErrors(err)) != len(w.masters) {
					t.Errorf("got %v", err)
				}
				// A lease without a record of ours gets none.
				for _, m := range w.masters {
					mustDo(t, m, "DEL", leaseKey, recordKey)
					mustDo(t, m, "SET", leaseKey, "theirs", "PX", "5000")
				}
				if _, err := ask(t, st, election.HandOver{Token: 1}); !errors.Is(err, election.ErrTaken) && !errors.Is(err, election.ErrNoLeader) {
					t.Errorf("a lease without a record: %v", err)
				}
				for _, m := range w.masters {
					if slices.Contains(m.Keys(), recordKey) {
						t.Errorf("a record was begun: %v", m.HGetAll(recordKey))
					}
				}
			})
		})
	}
}

// A reserve is never longer than a guard, whatever was asked for and wherever the clock
// has gone, and is cut once.
func TestReserveIsCutToAGuard(t *testing.T) {
	for name, c := range map[string]struct {
		reserve, jump time.Duration
	}{
		"asked for too long":  {time.Hour, 0},
		"the clock went back": {4 * time.Second, -time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			eachMode(t, func(t *testing.T, w *world) {
				w.opt.GuardsOff = election.AllGuards // and yet it works
				const lease = 5 * time.Second
				st, other := w.store("a"), w.store("b")
				g := win(t, st, bid("a", lease))
				settle(t, st)
				if _, err := ask(t, other, election.HandOver{Token: g.Token, To: "heir", Reserve: c.reserve}); err != nil {
					t.Fatal(err)
				}
				if _, err := st.Release(t.Context(), g); err != nil {
					t.Fatal(err)
				}
				settle(t, st)
				for _, m := range w.masters {
					m.JumpClock(c.jump)
				}
				for _, left := range []time.Duration{lease, lease - time.Second, lease - 2*time.Second} {
					var waits *election.GuardError
					_, err := other.Acquire(t.Context(), bid("b", lease))
					if !errors.As(err, &waits) || waits.Guards != election.HandOverGuard {
						t.Fatalf("after the release: %v", err)
					}
					if waits.Left > left || waits.Left < left-50*time.Millisecond {
						t.Errorf("waits for %s, want %s", waits.Left, left)
					}
					settle(t, other)
					time.Sleep(time.Second)
				}
				time.Sleep(lease)
				win(t, other, bid("b", lease))
				settle(t, other)
			})
		})
	}
}

// Init says that nobody leads, and nobody needs to wait for an heir.
func TestInitEndsAReserve(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		st := w.store("a")
		g := win(t, st, bid("a", 5*time.Second))
		settle(t, st)
		if _, err := ask(t, st, election.HandOver{Token: g.Token, To: "heir", Reserve: 4 * time.Second}); err != nil {
			t.Fatal(err)
		}
		if _, err := st.Release(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		settle(t, st)
		if err := st.(interface {
			Init(ctx context.Context) error
		}).Init(t.Context()); err != nil {
			t.Fatal(err)
		}
		win(t, st, bid("b", 5*time.Second))
		settle(t, st)
	})
}

// A master that the leader was given back has an old request, which is not its own: its
// release keeps the lease for nobody.
func TestStaleRequestReservesNothing(t *testing.T) {
	inWorld(t, 1, 3, func(t *testing.T, w *world) {
		st := w.store("a")
		first := win(t, st, bid("a", 5*time.Second))
		settle(t, st)
		if _, err := ask(t, st, election.HandOver{Token: first.Token, To: "heir", Reserve: 4 * time.Second}); err != nil {
			t.Fatal(err)
		}
		w.masters[0].Hang() // it keeps the old record
		if _, err := st.Release(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		settle(t, st)
		heir := win(t, st, bid("heir", 5*time.Second))
		w.masters[0].Resume()
		settle(t, st)
		time.Sleep(5 * time.Second / 2)
		w.masters[0].Evict(leaseKey)
		for range 3 { // the first renewal heals, and later ones count it
			again, err := st.Renew(t.Context(), heir)
			if err != nil {
				t.Fatal(err)
			}
			heir = again
			settle(t, st)
			time.Sleep(time.Second)
		}
		if w.holders(heir.Value) != 3 {
			t.Fatalf("%d of 3 masters hold the lease", w.holders(heir.Value))
		}
		if _, err := st.Release(t.Context(), heir); err != nil {
			t.Fatal(err)
		}
		settle(t, st)
		g := win(t, st, bid("other", 5*time.Second))
		settle(t, st)
		if w.holders(g.Value) != 3 {
			t.Errorf("%d of 3 masters voted for another", w.holders(g.Value))
		}
	})
}

// A guard that only keeps a turn cannot be switched off.
func TestHandOverGuardHasNoSwitch(t *testing.T) {
	c := redis.NewClient(&redis.Options{})
	defer c.Close()
	_, err := single.New(c, "job", single.Options{GuardsOff: election.HandOverGuard})
	if err == nil || !strings.Contains(err.Error(), "hand-over: cannot be switched off") {
		t.Errorf("got %v", err)
	}
	_, err = quorum.New(nil, "job", quorum.Options{GuardsOff: election.AllGuards | election.HandOverGuard})
	if err == nil || !strings.Contains(err.Error(), "hand-over: cannot be switched off") {
		t.Errorf("got %v", err)
	}
}
