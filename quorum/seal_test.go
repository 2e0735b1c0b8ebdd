package quorum_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"incumbent/election"
	"incumbent/internal/simnet"
	"incumbent/internal/vote"
)

// isScript reports whether a command runs the script of that name.
func isScript(args []string, name string) bool {
	for _, s := range vote.Scripts() {
		if s.Name == name && len(args) > 1 && strings.HasPrefix(strings.ToUpper(args[0]), "EVAL") {
			return args[1] == s.SHA || args[1] == s.Source
		}
	}
	return false
}

// afterVotes calls f for each master right after it has given its vote.
func afterVotes(w *world, f func(m *simnet.Master)) {
	w.OnCommand(func(c simnet.Command) {
		if !isScript(c.Args, "acquire") || strings.HasPrefix(c.Reply, "-NOSCRIPT") {
			return
		}
		for _, m := range w.masters {
			if m.Name() == c.Master {
				f(m)
			}
		}
	})
}

// A term needs its token sealed at a majority (R11): masters that refuse, and
// masters that lost the vote meanwhile, do not count. A bid that fails so leaves
// nothing behind.
func TestSealNeedsAMajority(t *testing.T) {
	for _, n := range []int{3, 5} {
		need := n/2 + 1
		for bad := range n {
			for _, how := range []string{"refuses", "lost the vote"} {
				inWorld(t, 1, n, func(t *testing.T, w *world) {
					for _, m := range w.masters[:bad] {
						if how == "refuses" {
							m.Intercept(func(_ string, args []string) (string, bool) {
								return "LOADING Redis is loading the dataset in memory", isScript(args, "seal")
							})
						}
					}
					if how == "lost the vote" {
						afterVotes(w, func(m *simnet.Master) {
							for _, b := range w.masters[:bad] {
								if b == m {
									m.Evict(leaseKey)
								}
							}
						})
					}
					st := w.store("a")
					_, err := st.Acquire(t.Context(), bid("a", 3*time.Second))
					if ok := n-bad >= need; (err == nil) != ok {
						t.Errorf("%d of %d %s: %v", bad, n, how, err)
					}
					if heldByOther(err) {
						t.Errorf("%d of %d %s: %v", bad, n, how, err)
					}
					settle(t, st)
					if err != nil && w.holders("") != n {
						t.Errorf("%d of %d %s: votes were left behind", bad, n, how)
					}
				})
			}
		}
	}
}

// A majority's record is raised between vote and seal, above the token that the votes led
// to: no term with that token; the next bid is above it.
func TestSealSeesARaisedRecord(t *testing.T) {
	inWorld(t, 1, 3, func(t *testing.T, w *world) {
		const raised = 1 << 50
		afterVotes(w, func(m *simnet.Master) {
			if m != w.masters[2] { // a majority, so that every later bid meets one
				if _, err := m.Do("HSET", recordKey, "last", fmt.Sprint(raised)); err != nil {
					t.Error(err)
				}
			}
		})
		st := w.store("a")
		_, err := st.Acquire(t.Context(), bid("a", 3*time.Second))
		var back *election.RegressedError
		if !errors.Is(err, election.ErrTokenRegressed) || !errors.As(err, &back) || back.Known != raised {
			t.Errorf("acquire: %v", err)
		}
		settle(t, st)
		w.OnCommand(nil)
		e := w.elector("b")
		if term := lead(t, e); term.Token() <= raised {
			t.Errorf("token %d, the record has %d", term.Token(), raised)
		}
		shut(t, e)
	})
}

// Every master that gave a vote has the term's token, the largest of all votes,
// also those whose own vote was lower (by a clock that is behind).
func TestTheLargestVoteIsSealedEverywhere(t *testing.T) {
	inWorld(t, 1, 3, func(t *testing.T, w *world) {
		for i, m := range w.masters {
			m.SetClockOffset(time.Duration(i) * 20 * time.Second)
		}
		st := w.store("a")
		g := win(t, st, bid("a", 3*time.Second))
		settle(t, st)
		for i, m := range w.masters {
			if r := m.HGetAll(recordKey); r["last"] != fmt.Sprint(g.Token) || r["token"] != fmt.Sprint(g.Token) {
				t.Errorf("master %d: last %s, token %s; the term has %d", i, r["last"], r["token"], g.Token)
			}
		}
	})
}

// A master that missed the seal learns the term's token with the next renewal,
// and so does one that is held by somebody else.
func TestRenewalsCarryTheToken(t *testing.T) {
	inWorld(t, 1, 5, func(t *testing.T, w *world) {
		missed, foreign := w.masters[0], w.masters[1]
		missed.SetClockOffset(-time.Minute) // its own vote is lower
		missed.Intercept(func(_ string, args []string) (string, bool) {
			return "LOADING Redis is loading the dataset in memory", isScript(args, "seal")
		})
		if _, err := foreign.Do("SET", leaseKey, "somebody", "PX", "60000"); err != nil {
			t.Fatal(err)
		}
		st := w.store("a")
		g := win(t, st, bid("a", 3*time.Second))
		settle(t, st)
		token := fmt.Sprint(g.Token)
		if missed.HGetAll(recordKey)["token"] == token || foreign.HGetAll(recordKey)["last"] == token {
			t.Fatal("both know the token before the renewal")
		}
		if _, err := st.Renew(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		settle(t, st)
		if r := missed.HGetAll(recordKey); r["token"] != token || r["last"] != token {
			t.Errorf("the master that missed the seal has %v, the term %s", r, token)
		}
		if last := foreign.HGetAll(recordKey)["last"]; last != token {
			t.Errorf("the master that somebody else holds has %q, the term %s", last, token)
		}
	})
}
