package config

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"incumbent/election"
	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
	"incumbent/internal/simnet"
)

// simulated runs f with the clients of a configuration, in virtual time, for one
// master and for three that have been up for a while.
func simulated(t *testing.T, uptime time.Duration, change func(*Config), f func(t *testing.T, cl *Client, masters []*simnet.Master, out *logs)) {
	t.Helper()
	for mode, n := range map[Mode]int{ModeSingle: 1, ModeQuorum: 3} {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, err := simnet.New(1, simnet.Options{Uptime: uptime})
				noErr(t, err)
				defer w.Close()
				var masters []*simnet.Master
				var addresses []string
				for i := range n {
					masters = append(masters, w.AddMaster(fmt.Sprint("m", i+1)))
					addresses = append(addresses, masters[i].Addr())
				}
				out := &logs{}
				c := fast(mode, addresses...)
				c.AssumeNew, c.Logger, c.Dialer = false, logTo(out), w.Dialer("a")
				if change != nil {
					change(c)
				}
				cl, err := c.Open(t.Context())
				noErr(t, err)
				defer func() { noErr(t, cl.Close()) }()
				f(t, cl, masters, out)
			})
		})
	}
}

// first is how long the first campaign takes, in virtual time.
func first(t *testing.T, cl *Client, change ...func(*election.Options)) time.Duration {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	e, err := cl.Elector("job", append(change, func(o *election.Options) { o.Clock = election.RuntimeClock() })...)
	noErr(t, err)
	start := time.Now()
	term, err := e.Campaign(ctx)
	took := time.Since(start)
	noErr(t, err)
	noErr(t, term.Resign(ctx))
	noErr(t, e.Close(ctx))
	return took
}

// TestFirstCampaign: what changes how long it takes. With another clock than the
// elector's the store would take virtual time for clocks that jump.
func TestFirstCampaign(t *testing.T) {
	const atOnce = 50 * time.Millisecond
	for _, tt := range []struct {
		name     string
		uptime   time.Duration
		change   func(*Config)
		init     bool
		from, to time.Duration
	}{
		{"after Init", 0, nil, true, 0, atOnce},
		{"servers that have just started", 0, nil, false, 4 * time.Second, 6 * time.Second},
		{"no record", time.Hour, nil, false, 4 * time.Second, 4*time.Second + atOnce},
		{"max_ttl", time.Hour, func(c *Config) { c.MaxTTL = 10 * time.Second }, false, 10 * time.Second, 10*time.Second + atOnce},
		{"assume_new", time.Hour, func(c *Config) { c.AssumeNew = true }, false, 0, atOnce},
		{"assume_new at servers that have just started", 0, func(c *Config) { c.AssumeNew = true }, false, 4 * time.Second, 6 * time.Second},
		{"no-record off", time.Hour, func(c *Config) { c.GuardsOff = election.NoRecordGuard }, false, 0, atOnce},
		{"all off", 0, func(c *Config) { c.GuardsOff = election.AllGuards }, false, 0, atOnce},
		{"another one off", time.Hour, func(c *Config) { c.GuardsOff = election.ExpiryGuard }, false, 4 * time.Second, 4*time.Second + atOnce},
	} {
		t.Run(tt.name, func(t *testing.T) {
			simulated(t, tt.uptime, tt.change, func(t *testing.T, cl *Client, _ []*simnet.Master, out *logs) {
				if tt.init {
					noErr(t, cl.Init(t.Context(), "job"))
				}
				if took := first(t, cl); took < tt.from || took > tt.to {
					t.Errorf("took %s, want %s to %s", took, tt.from, tt.to)
				}
				waits := strings.Count(out.String(), `msg="nobody can lead yet: waiting for a guard"`)
				if waits > 2 || (waits > 0) != (tt.from > 0) {
					t.Errorf("%d lines about guards: %s", waits, out)
				}
			})
		})
	}
}

// The wait is logged with what waits, where and for how long, and what ends it. Where a
// server has just started it may have forgotten a lease: there init is no way out.
func TestWaitIsLogged(t *testing.T) {
	for uptime, want := range map[time.Duration]string{0: "guards=restart,failover,no-record masters=", time.Hour: "guards=failover,no-record masters="} {
		simulated(t, uptime, nil, func(t *testing.T, cl *Client, _ []*simnet.Master, out *logs) {
			first(t, cl)
			for _, want := range []string{want, ":6379", "left="} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("log lacks %q: %s", want, out)
				}
			}
			if got := strings.Contains(out.String(), "incumbent init, says that nobody can be leading"); got != (uptime > 0) {
				t.Errorf("up for %s, the log names init: %t: %s", uptime, got, out)
			}
		})
	}
}

// Grants count only with so many replicas, which is said when the process starts.
func TestReplicaAcks(t *testing.T) {
	simulated(t, time.Hour, func(c *Config) { c.ReplicaAcks = 1 }, func(t *testing.T, cl *Client, _ []*simnet.Master, out *logs) {
		if want := "0 of 1 replicas are connected (connect replicas, or lower replica_acks)"; !strings.Contains(out.String(), want) {
			t.Errorf("log lacks %q: %s", want, out)
		}
		if err := cl.Check(t.Context(), "job"); !errors.Is(err, election.ErrNotReplicated) {
			t.Errorf("Check gives %v", err)
		}
		noErr(t, cl.Init(t.Context(), "job"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		e, err := cl.Elector("job", func(o *election.Options) { o.Clock = election.RuntimeClock() })
		noErr(t, err)
		if _, err := e.Campaign(ctx); !errors.Is(err, election.ErrNotReplicated) {
			t.Errorf("the campaign ended with %v", err)
		}
	})
}

func TestInitWhileLed(t *testing.T) {
	simulated(t, time.Hour, nil, func(t *testing.T, cl *Client, _ []*simnet.Master, _ *logs) {
		noErr(t, cl.Init(t.Context(), "job"))
		e, err := cl.Elector("job", func(o *election.Options) { o.ID, o.Clock = "me", election.RuntimeClock() })
		noErr(t, err)
		term, err := e.Campaign(t.Context())
		noErr(t, err)
		var held *election.HeldError
		if err := cl.Init(t.Context(), "job"); !errors.As(err, &held) || held.Holder.ID != "me" || held.Left <= 0 || held.Left > 4*time.Second {
			t.Errorf("got %v", err)
		}
		noErr(t, term.Resign(t.Context()))
		noErr(t, cl.Init(t.Context(), "job"))
		noErr(t, cl.Init(t.Context(), "job"))
	})
}

// Init says which masters did not take it; those that did will not wait.
func TestInitWithMastersDown(t *testing.T) {
	simulated(t, 0, nil, func(t *testing.T, cl *Client, masters []*simnet.Master, _ *logs) {
		down := masters[len(masters)-1]
		down.Crash()
		var m *election.MasterError
		if err := cl.Init(t.Context(), "job"); !errors.As(err, &m) || m.Master != down.Addr() || !errors.Is(err, election.ErrUnreachable) {
			t.Errorf("got %v", err)
		}
		if len(masters) == 3 {
			if took := first(t, cl); took > 2*time.Second {
				t.Errorf("with two masters ready it took %s", took)
			}
		}
		down.Restart(false)
		noErr(t, cl.Init(t.Context(), "job"))
	})
}

func TestInitNamesAndClosing(t *testing.T) {
	simulated(t, time.Hour, nil, func(t *testing.T, cl *Client, _ []*simnet.Master, _ *logs) {
		if err := cl.Init(t.Context(), "no name"); err == nil || !strings.Contains(err.Error(), "election name") {
			t.Errorf("a bad name gives %v", err)
		}
		noErr(t, cl.Close())
		if err := cl.Init(t.Context(), "job"); !errors.Is(err, election.ErrClientClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

// trio starts three servers, and gives a configuration of them with the default
// lease, so that a guard would outlast the test.
func trio(t *testing.T) *Config {
	c := fast(ModeQuorum)
	c.TTL, c.AssumeNew = 0, false
	for range 3 {
		c.Quorum.Masters = append(c.Quorum.Masters, Master{Address: redistest.StartT(t, redisproc.Options{}).Addr()})
	}
	return c
}

// TestInitOnServers that have just started: the first election does not wait, and
// without Init it does.
func TestInitOnServers(t *testing.T) {
	c := trio(t)
	out := &logs{}
	c.Logger = logTo(out)
	cl := open(t, c)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	e, err := cl.Elector("job", func(o *election.Options) {
		o.Observer = func(ev election.Event) {
			if errors.Is(ev.Err, election.ErrGuarded) {
				cancel() // the wait has begun, and would take longer than the test
			}
		}
	})
	noErr(t, err)
	if _, err := e.Campaign(ctx); !errors.Is(err, election.ErrGuarded) {
		t.Errorf("without Init: %v", err)
	}
	if !strings.Contains(out.String(), "guards=restart,") {
		t.Errorf("logged %s", out)
	}
	noErr(t, e.Close(t.Context()))
	start := time.Now()
	noErr(t, cl.Init(t.Context(), "job"))
	win(t, cl, "job")
	took := time.Since(start)
	t.Logf("Init and the first term took %s", took)
	if took > 10*time.Second { // less than the TTL, which a guard would have waited for
		t.Errorf("took %s", took)
	}
}
