package quorum_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
	"incumbent/internal/simnet"
	"incumbent/single"
)

// defaults undoes what the simulated network's clients set for leases.
func defaults(o *redis.Options) { o.MaxRetries, o.ContextTimeoutEnabled = 3, false }

// All masters hang: no call outlives its context by more than 50 ms, with the
// options of a lease and with go-redis' defaults alike; nor does one whose
// context is cancelled in quorum mode.
func TestD01_CallsKeepToTheirContext(t *testing.T) {
	for name, change := range map[string]func(*redis.Options){"strict": func(*redis.Options) {}, "defaults": defaults} {
		t.Run(name, func(t *testing.T) {
			eachMode(t, func(t *testing.T, w *world) {
				st := w.store("a", change)
				g := win(t, st, bid("a", time.Minute))
				settle(t, st)
				for _, m := range w.masters {
					m.Hang()
				}
				hangs(t, st, g, false)
				if len(w.masters) > 1 {
					hangs(t, st, g, true)
				}
				for _, m := range w.masters {
					m.Resume()
				}
				settle(t, st)
			})
		})
	}
}

// hangs makes each call with a context of 100 ms.
func hangs(t *testing.T, st election.Store, g election.Grant, cancelled bool) {
	t.Helper()
	for op, call := range map[string]func(context.Context) error{
		"acquire": func(ctx context.Context) error { _, err := st.Acquire(ctx, bid("b", time.Minute)); return err },
		"renew":   func(ctx context.Context) error { _, err := st.Renew(ctx, g); return err },
		"release": func(ctx context.Context) error { _, err := st.Release(ctx, g); return err },
		"inspect": func(ctx context.Context) error {
			state, err := st.Inspect(ctx)
			for _, m := range state.Masters {
				err = errors.Join(err, m.Err)
			}
			return err
		},
	} {
		if cancelled && op == "inspect" {
			continue // it waits for the timeout of each master
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		want := context.DeadlineExceeded
		if cancelled {
			cancel()
			ctx, cancel = context.WithCancel(t.Context())
			want = context.Canceled
			time.AfterFunc(100*time.Millisecond, cancel)
		}
		start := time.Now()
		err := call(ctx)
		took := time.Since(start)
		cancel()
		if err == nil || heldByOther(err) || errors.Is(err, election.ErrExpired) || took > 150*time.Millisecond {
			t.Errorf("%s, cancelled %t: after %s %v", op, cancelled, took, err)
		}
		if !errors.Is(err, want) || !errors.Is(err, election.ErrUnreachable) {
			t.Errorf("%s, cancelled %t: does not match %v and unreachable: %v", op, cancelled, want, err)
		}
	}
}

// The caller sets no deadline and a master is slow: the error names master,
// operation, and whose time ran out.
func TestD02_ErrorNamesTheTimeout(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		w.opt.Timeout = 300 * time.Millisecond
		st := w.store("a")
		g := win(t, st, bid("a", 8*time.Second))
		settle(t, st)
		for _, m := range w.masters {
			w.Slow("a", m, 250*time.Millisecond)
		}
		_, err := st.Renew(context.Background(), g)
		for _, want := range []string{w.masters[0].Addr(), "renew", "300ms", "timeout per master", "unreachable"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the error lacks %q: %v", want, err)
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		_, err = st.Renew(ctx, g)
		for _, want := range []string{w.masters[0].Addr(), "renew", "the caller's deadline", "unreachable"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the error lacks %q: %v", want, err)
			}
		}
		g.TTL = time.Second // a quarter of it is less than the timeout
		_, err = st.Renew(context.Background(), g)
		for _, want := range []string{"renew", "250ms", "time of one try"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the error lacks %q: %v", want, err)
			}
		}
		settle(t, st)
	})
}

// kinds are what a master may answer instead of a vote.
var kinds = []struct {
	name, text string
	want       error
	remedy     bool
	permanent  bool
}{
	{"readonly", "READONLY You can't write against a read only replica.", election.ErrReadOnly, true, false},
	{"readonly in a script", "READONLY You can't write against a read only replica. script: f3a2, on @user_script:1.", election.ErrReadOnly, true, false},
	{"loading", "LOADING Redis is loading the dataset in memory", election.ErrLoading, false, false},
	{"oom", "OOM command not allowed when used memory > 'maxmemory'.", election.ErrOutOfMemory, true, false},
	{"misconf", "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. Commands that may modify the data set are disabled, because this instance is configured to report errors during writes if RDB snapshotting fails (stop-writes-on-bgsave-error option). Please check the Redis logs for details about the RDB error.", election.ErrMisconfigured, true, false},
	{"noreplicas", "NOREPLICAS Not enough good replicas to write.", election.ErrNoReplicas, true, false},
	{"noperm", "NOPERM this user has no permissions to access one of the keys used as arguments", election.ErrNoPermission, true, false},
	{"noperm in a script", "ERR The user executing the script can't run this command or subcommand script: f3a2, on @user_script:20.", election.ErrNoPermission, true, false},
	{"noperm for keys in a script", "ERR The user executing the script can't access at least one of the keys mentioned in the command arguments", election.ErrNoPermission, true, false},
	{"eval denied", "NOPERM this user has no permissions to run the 'eval' command", election.ErrScriptsDisabled, true, true},
	{"evalsha denied", "NOPERM User app has no permissions to run the 'evalsha' command", election.ErrScriptsDisabled, true, true},
	{"eval renamed", "ERR unknown command 'EVALSHA', with args beginning with: ", election.ErrScriptsDisabled, true, true},
	{"noauth", "NOAUTH Authentication required.", election.ErrAuth, true, false},
	{"wrongtype", "WRONGTYPE Operation against a key holding the wrong kind of value", election.ErrForeignKey, true, false},
	{"crossslot", "CROSSSLOT Keys in request don't hash to the same slot", election.ErrCrossSlot, true, true},
	{"crossslot in a script", "ERR Script attempted to access a non local key in a cluster node script: f3a2", election.ErrCrossSlot, true, true},
	{"moved", "MOVED 866 127.0.0.1:7001", election.ErrWrongClient, true, true},
	{"select", "ERR SELECT is not allowed in cluster mode", election.ErrWrongClient, true, true},
	{"clusterdown", "CLUSTERDOWN Hash slot not served", election.ErrClusterDown, false, false},
	{"busy", "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.", election.ErrBusy, true, false},
	{"maxclients", "ERR max number of clients reached", election.ErrUnreachable, true, false},
	{"unknown", "ERR something else", election.ErrRejected, false, false},
}

// Each refusal of a master is a typed error of its own, which names master and
// remedy and never reads as held by another (D05, D06, D09, D12, D13).
func TestD_RefusalsAreTyped(t *testing.T) {
	for _, k := range kinds {
		t.Run(strings.ReplaceAll(k.name, " ", "-"), func(t *testing.T) {
			eachMode(t, func(t *testing.T, w *world) {
				st := w.store("a")
				g := win(t, st, bid("a", 10*time.Second))
				settle(t, st)
				for _, m := range w.masters {
					m.Intercept(answerScripts(k.text))
				}
				_, acquire := st.Acquire(t.Context(), bid("b", 10*time.Second))
				_, renew := st.Renew(t.Context(), g)
				_, release := st.Release(t.Context(), g)
				for op, err := range map[string]error{"acquire": acquire, "renew": renew, "release": release} {
					isTyped(t, w, op, err, k.want, k.remedy, k.permanent)
				}
				settle(t, st)
				for _, m := range w.masters {
					m.Intercept(nil)
				}
			})
		})
	}
}

// answerScripts gives the same answer to every script.
func answerScripts(text string) func(string, []string) (string, bool) {
	return func(_ string, args []string) (string, bool) {
		return text, strings.HasPrefix(strings.ToUpper(args[0]), "EVAL")
	}
}

func isTyped(t *testing.T, w *world, op string, err, want error, remedy, permanent bool) {
	t.Helper()
	if !errors.Is(err, want) || heldByOther(err) || errors.Is(err, election.ErrExpired) || errors.Is(err, election.ErrContended) {
		t.Errorf("%s: want %q: %v", op, want, err)
	}
	if election.Permanent(err) != permanent {
		t.Errorf("%s: permanent %t: %v", op, !permanent, err)
	}
	errs := masterErrors(err)
	if len(errs) < w.need() {
		t.Fatalf("%s: %d master errors in %v", op, len(errs), err)
	}
	for _, m := range errs {
		if m.Master == "" || m.Op != op || !errors.Is(m.Kind, want) || (m.Remedy != "") != remedy {
			t.Errorf("%s: master %q, op %q, kind %q, remedy %q", op, m.Master, m.Op, m.Kind, m.Remedy)
		}
	}
}

// A term whose masters refuse from now on ends as refused, naming the reason,
// and a candidate goes on trying and recovers.
func TestD09_RefusedRenewalsEndTheTermAtItsDeadline(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		e := w.elector("a")
		term := lead(t, e)
		time.Sleep(time.Second)
		for _, m := range w.masters {
			m.Intercept(answerScripts("NOREPLICAS Not enough good replicas to write."))
		}
		err := lossOf(t, term, 3*time.Second)
		if !errors.Is(err, election.ErrRefused) || !errors.Is(err, election.ErrNoReplicas) || heldByOther(err) {
			t.Errorf("cause %v", err)
		}
		if err := term.Resign(t.Context()); !errors.Is(err, election.ErrNoReplicas) {
			t.Errorf("resign: %v", err)
		}
		c := campaign(t.Context(), e)
		time.Sleep(3 * time.Second)
		for _, m := range w.masters {
			m.Intercept(nil)
		}
		up := time.Now()
		if r := <-c; r.err != nil || r.at.Sub(up) > 4*time.Second {
			t.Errorf("leads again after %s: %v", r.at.Sub(up), r.err)
		}
		shut(t, e)
	})
}

// A permanent refusal ends a campaign at once with one clear line.
func TestD12_CampaignEndsWhereWaitingDoesNotHelp(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		for _, m := range w.masters {
			m.Intercept(answerScripts("ERR unknown command 'EVALSHA', with args beginning with: "))
		}
		e := w.elector("a")
		start := time.Now()
		_, err := e.Campaign(t.Context())
		if !errors.Is(err, election.ErrScriptsDisabled) || !errors.Is(err, election.ErrNotAcquired) || time.Since(start) > time.Second {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("more than one line: %v", err)
		}
		shut(t, e)
	})
}

// A master that is down or refuses does not vote, and does not stop a majority.
func TestD06_OneLoadingMasterDoesNotVote(t *testing.T) {
	inWorld(t, 1, 3, func(t *testing.T, w *world) {
		w.masters[2].Intercept(answerScripts("LOADING Redis is loading the dataset in memory"))
		st := w.store("a")
		g := win(t, st, bid("a", 3*time.Second))
		settle(t, st)
		if g.Held != 2 {
			t.Errorf("held by %d masters", g.Held)
		}
		_, err := w.store("b").Acquire(t.Context(), bid("b", 3*time.Second))
		if !heldByOther(err) {
			t.Errorf("the lease of two masters: %v", err)
		}
	})
}

// Evicted leases are noticed within a renewal interval, as expired; a server that
// may evict is warned of once.
func TestD08_EvictionIsNoticed(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		var log safeBuffer
		w.opt.Logger = logTo(&log)
		for _, m := range w.masters {
			m.RewriteInfo(func(info string) string {
				return info + "# Memory\r\nmaxmemory:1000000\r\nmaxmemory_policy:allkeys-lru\r\n"
			})
		}
		e := w.elector("a")
		term := lead(t, e)
		for _, m := range w.masters {
			m.FlushAll()
		}
		if err := lossOf(t, term, time.Second); !errors.Is(err, election.ErrExpired) {
			t.Errorf("cause %v", err)
		}
		if next := lead(t, e); next.Token() <= term.Token() {
			t.Errorf("token %d after %d", next.Token(), term.Token())
		}
		shut(t, e)
		if n := strings.Count(log.String(), "may evict leases"); n != len(w.masters) {
			t.Errorf("warned %d times of %d masters", n, len(w.masters))
		}
	})
}

// The scripts vanish between two renewals, also where the answer has words before
// the code: the next renewal works.
func TestD10_ForgottenScripts(t *testing.T) {
	for _, text := range []string{"", "ERR (error) NOSCRIPT No matching script. Please use EVAL."} {
		eachMode(t, func(t *testing.T, w *world) {
			var rec recorder
			e := w.elector("a", rec.on)
			term := lead(t, e)
			for range 5 {
				for _, m := range w.masters {
					m.ScriptFlush()
					if text != "" {
						m.Intercept(func(_ string, args []string) (string, bool) {
							return text, strings.EqualFold(args[0], "EVALSHA")
						})
					}
				}
				time.Sleep(time.Second)
			}
			if !term.Valid() || len(rec.of(election.RenewFailed)) != 0 || len(rec.of(election.Renewed)) < 4 {
				t.Errorf("valid %t, %d renewals, %d failed", term.Valid(), len(rec.of(election.Renewed)), len(rec.of(election.RenewFailed)))
			}
			if err := term.Resign(t.Context()); err != nil {
				t.Errorf("resign: %v", err)
			}
			shut(t, e)
		})
	}
}

func TestD18_ServerTooOld(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		for _, m := range w.masters {
			m.RewriteInfo(func(info string) string { return strings.ReplaceAll(info, "7.0.15", "2.6.0") })
		}
		e := w.elector("a")
		_, err := e.Campaign(t.Context())
		if !errors.Is(err, election.ErrServerTooOld) || heldByOther(err) {
			t.Fatalf("campaign on an old server: %v", err)
		}
		for _, want := range []string{"2.6.0", "5.0.0", w.masters[0].Addr()} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("the error lacks %q: %v", want, err)
			}
		}
		if w.holders("") != len(w.masters) {
			t.Error("something was acquired")
		}
		shut(t, e)
	})
}

// A lease key that never expires would never become free: it has an error of its
// own, in every mode.
func TestD_LeaseWithoutExpiry(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		for _, m := range w.masters {
			if _, err := m.Do("SET", leaseKey, "somebody"); err != nil {
				t.Fatal(err)
			}
		}
		st := w.store("a")
		_, err := st.Acquire(t.Context(), bid("a", time.Second))
		isTyped(t, w, "acquire", err, election.ErrNoExpiry, true, false)
		settle(t, st)
		for i, m := range w.masters {
			if v, _ := m.Get(leaseKey); v != "somebody" {
				t.Errorf("master %d: the foreign key was touched: %q", i, v)
			}
		}
	})
}

// Keys of another type, and records that cannot be read.
func TestD_ForeignKeys(t *testing.T) {
	for _, plant := range [][]string{
		{"RPUSH", leaseKey, "x"},
		{"SET", recordKey, "x"},
		{"HSET", recordKey, "last", "many"},
		{"HSET", recordKey, "last", "-1"},
		{"HSET", recordKey, "last", "nan"},
		{"HSET", recordKey, "last", "1e300"},
	} {
		t.Run(strings.Join(plant[2:], "="), func(t *testing.T) {
			eachMode(t, func(t *testing.T, w *world) {
				for _, m := range w.masters {
					if _, err := m.Do(plant...); err != nil {
						t.Fatal(err)
					}
				}
				st := w.store("a")
				_, err := st.Acquire(t.Context(), bid("a", time.Second))
				isTyped(t, w, "acquire", err, election.ErrForeignKey, true, false)
				settle(t, st)
			})
		})
	}
}

// Without the permission to publish only the wake-up is lost.
func TestD_PublishDenied(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		for _, m := range w.masters {
			m.InterceptScript(func(args []string) (string, bool) {
				return "NOPERM this user has no permissions to access one of the channels used as arguments", strings.EqualFold(args[0], "PUBLISH")
			})
		}
		a, b := w.elector("a"), w.elector("b")
		term := lead(t, a)
		standby := campaign(t.Context(), b)
		time.Sleep(time.Second)
		if err := term.Resign(t.Context()); err != nil {
			t.Errorf("resign: %v", err)
		}
		freed := time.Now()
		time.Sleep(50 * time.Millisecond) // the slowest masters are released in the background
		if w.holders("") != len(w.masters) {
			t.Error("the lease was not given back")
		}
		if r := <-standby; r.err != nil || r.at.Sub(freed) > 3*time.Second {
			t.Errorf("the standby leads after %s: %v", r.at.Sub(freed), r.err)
		}
		shut(t, a, b)
	})
}

// The permission for one command in the middle of the script is missing: the
// half-done vote is taken back, so that the next try says so too.
func TestD_HalfPermitted(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		for _, m := range w.masters {
			m.InterceptScript(func(args []string) (string, bool) {
				return "ERR The user executing the script can't run this command or subcommand", strings.EqualFold(args[0], "HSET")
			})
		}
		st := w.store("a")
		for range 2 {
			_, err := st.Acquire(t.Context(), bid("a", time.Minute))
			isTyped(t, w, "acquire", err, election.ErrNoPermission, true, false)
			settle(t, st)
		}
		if w.holders("") != len(w.masters) {
			t.Error("a lease that nobody owns")
		}
	})
}

// Down at the start, quietly: one line on change.
func TestD_OneLineOnChange(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		var log safeBuffer
		for _, m := range w.masters {
			m.Crash()
		}
		e := w.elector("a", func(o *election.Options) { o.Logger = logTo(&log) })
		c := campaign(t.Context(), e)
		time.Sleep(time.Minute)
		if n := strings.Count(log.String(), "\n"); n != 1 {
			t.Errorf("%d lines in a minute without a store:\n%s", n, log.String())
		}
		for _, m := range w.masters {
			m.Restart(true)
		}
		if r := <-c; r.err != nil {
			t.Error(r.err)
		}
		shut(t, e)
	})
}

// A client that its owner has closed is told apart.
func TestD_ClosedClient(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		clients := w.clients("a")
		st := newStore(t, clients, "job", single.Options{Logger: quiet, GuardsOff: election.AllGuards})
		for _, c := range clients {
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
		_, err := st.Acquire(t.Context(), bid("a", time.Second))
		isTyped(t, w, "check", err, election.ErrClientClosed, true, false)
		settle(t, st)
	})
}

// Names with braces, and keys that share a slot.
func TestD13_KeysShareATag(t *testing.T) {
	for _, name := range []string{"plain", "{braced}", "a{b}c", "}{", "%7B", "ünï"} {
		eachMode(t, func(t *testing.T, w *world) {
			w.OnCommand(func(c simnet.Command) {
				if !strings.HasPrefix(strings.ToUpper(c.Args[0]), "EVAL") {
					return
				}
				tags := map[string]bool{}
				for _, k := range c.Args[3:5] {
					_, rest, _ := strings.Cut(k, "{")
					tag, _, ok := strings.Cut(rest, "}")
					if !ok || tag == "" {
						t.Errorf("key %q has no hash tag", k)
					}
					tags[tag] = true
				}
				if len(tags) != 1 || c.Args[2] != "2" {
					t.Errorf("keys %q", c.Args[2:5])
				}
			})
			st := newStore(t, w.clients("a"), name, w.opt)
			g := win(t, st, bid("a", time.Second))
			if _, err := st.Release(t.Context(), g); err != nil {
				t.Error(err)
			}
			settle(t, st)
		})
	}
	c := redis.NewClient(&redis.Options{})
	defer c.Close()
	for _, name := range []string{"", "a b", "a\nb", "\x00", "\xff", strings.Repeat("x", 201)} {
		if _, err := single.New(c, name, single.Options{}); err == nil {
			t.Errorf("name %q is accepted", name)
		} else if !strings.Contains(err.Error(), "election name") {
			t.Errorf("name %q: %v", name, fmt.Sprint(err))
		}
	}
}

// Replicas have no vote: a master and its two replicas are no quorum, one replica
// of three costs its vote.
func TestD15_ReplicasHaveNoVote(t *testing.T) {
	for replicas := 1; replicas <= 2; replicas++ {
		inWorld(t, 1, 3, func(t *testing.T, w *world) {
			for _, m := range w.masters[:replicas] {
				m.RewriteInfo(func(info string) string { return strings.ReplaceAll(info, "role:master", "role:slave") })
			}
			st := w.store("a")
			_, err := st.Acquire(t.Context(), bid("a", time.Second))
			if replicas == 1 && err != nil {
				t.Errorf("with one replica: %v", err)
			}
			if replicas == 2 {
				isTyped(t, w, "check", err, election.ErrReadOnly, true, false)
			}
			settle(t, st)
			if w.holders("") < replicas {
				t.Error("a replica was asked for a vote")
			}
		})
	}
}

// With a client of default options, which would send a script again by itself,
// each script is sent once: a lost reply is an unknown outcome.
func TestA12_NothingIsSentTwice(t *testing.T) {
	inWorld(t, 1, 1, func(t *testing.T, w *world) {
		st := w.store("a", defaults)
		g := win(t, st, bid("a", time.Minute))
		var sent int
		w.OnCommand(func(c simnet.Command) {
			if isScript(c.Args, "renew") && !strings.HasPrefix(c.Reply, "-NOSCRIPT") {
				sent++
			}
		})
		if _, err := st.Renew(t.Context(), g); err != nil || sent != 1 {
			t.Fatalf("%d renewals sent, %v", sent, err)
		}
		w.masters[0].DropReply("a", "EVALSHA", 1, simnet.Reset)
		if _, err := st.Renew(t.Context(), g); !errors.Is(err, election.ErrUnreachable) || sent != 2 {
			t.Errorf("%d renewals sent, %v", sent, err)
		}
	})
}
