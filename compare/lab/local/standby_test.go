package local_test

import (
	"context"
	"flag"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/compare/history"
	"incumbent/compare/lab/local"
)

// notSent are commands that no candidate sends while nothing happens: those
// that scripts call, which commandstats counts too, and the test's own.
var notSent = map[string]bool{
	"time": true, "get": true, "hmget": true, "pttl": true, "set": true, "hset": true, "pexpire": true, "info": true,
	"publish": true, "del": true, "pubsub": true, "hello": true, "client": true,
}

var standbyTTL = flag.Duration("standby-ttl", time.Second, "the TTL at which a standby's commands are counted")

// TestStandbyCost counts what a standby sends, as the masters saw it.
func TestStandbyCost(t *testing.T) {
	t.Parallel() // nothing here is a matter of milliseconds
	const ttls = 12
	for _, m := range modes() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			o := m.options
			o.Candidates, o.TTL = 2, *standbyTTL
			l, ctx := open(t, o)
			sent, renewals := quietWindow(t, ctx, l, ttls*l.Options().TTL)
			for i, n := range sent {
				cost := float64(n-renewals) / ttls
				t.Logf("master %d: %d commands in %d TTLs, %d of them renewals: %.2f a TTL by the standby", i+1, n, ttls, renewals, cost)
				if cost > 1.4 || cost < 0.5 {
					t.Error("want at most 1.4, and not so few that nobody was standing by")
				}
			}
		})
	}
}

// quietWindow counts commands by master, and renewals by the leader, in a time
// in which the leader did not change: on a machine that is too busy for that
// nothing stands by for long.
func quietWindow(t *testing.T, ctx context.Context, l *local.Lab, length time.Duration) (sent []int, renewals int) {
	t.Helper()
	for range 3 {
		_, token, err := l.Settle(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Wait(ctx, l.Options().TTL); err != nil { // what follows a subscription is no standing by
			t.Fatal(err)
		}
		before, begin := commands(t, l), local.Now()
		if err := l.Wait(ctx, length); err != nil {
			t.Fatal(err)
		}
		sent, end := commands(t, l), local.Now()
		changed := false
		renewals = 0
		for _, line := range l.Lines(begin) {
			changed = changed || line.Token > token
			if line.Kind == history.Renewed && line.At < end {
				renewals++
			}
		}
		if !changed {
			for i := range sent {
				sent[i] -= before[i]
			}
			return sent, renewals
		}
		t.Log("the leader changed: counting once more")
	}
	t.Fatal("the leader changed in each of three windows")
	return nil, 0
}

// commands is how many commands each master got from candidates.
func commands(t *testing.T, l *local.Lab) []int {
	t.Helper()
	var out []int
	for _, s := range l.Servers() {
		c := redis.NewClient(&redis.Options{Addr: s.Addr(), Protocol: 2, DisableIdentity: true})
		text, err := c.Info(t.Context(), "commandstats").Result()
		_ = c.Close()
		if err != nil || !strings.Contains(text, "cmdstat_evalsha") {
			t.Fatalf("commandstats of %s: %q: %v", s.Addr(), text, err)
		}
		n := 0
		for line := range strings.Lines(text) {
			n += calls(t, strings.TrimSpace(line))
		}
		out = append(out, n)
	}
	return out
}

// calls reads "cmdstat_name:calls=12,usec=34,..." or "cmdstat_name|sub:calls=...".
func calls(t *testing.T, line string) int {
	t.Helper()
	name, values, ok := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":calls=")
	name, _, _ = strings.Cut(name, "|")
	if !ok || notSent[name] {
		return 0
	}
	first, _, _ := strings.Cut(values, ",")
	n, err := strconv.Atoi(first)
	if err != nil {
		t.Fatalf("commandstats: %q: %v", line, err)
	}
	return n
}
