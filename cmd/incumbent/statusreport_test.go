package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"incumbent/config"
	"incumbent/election"
)

// addressed gives masters the addresses of a trio.
func addressed(m []election.MasterState) {
	for i := range m {
		m[i].Name = []string{"redis-a:6379", "redis-b:6379", "redis-c:6379"}[i]
	}
}

// statusTexts are what status writes, as it is seen.
var statusTexts = map[string]struct {
	set  func(m []election.MasterState)
	want string
}{
	"led": {func(m []election.MasterState) {
		for i := range m {
			held(&m[i], "web-7", 1764504000123, 12340*time.Millisecond)
			m[i].Holder.Metadata = map[string]string{"zone": "eu", "addr": "10.0.0.7:80"}
		}
	}, `
web-7 leads, with token 1764504000123, at 3 of 3 masters; its lease runs for another 13s
  host host-web-7, process 7, TTL 15s, addr=10.0.0.7:80, zone=eu

MASTER        ROLE    VERSION  HOLDER  HOST        TOKEN          LEFT   GUARD
redis-a:6379  master  7.0.15   web-7   host-web-7  1764504000123  12.3s  -
redis-b:6379  master  7.0.15   web-7   host-web-7  1764504000123  12.3s  -
redis-c:6379  master  7.0.15   web-7   host-web-7  1764504000123  12.3s  -
`},
	"one dead": {func(m []election.MasterState) {
		held(&m[0], "web-7", 1764504000123, 12*time.Second)
		held(&m[1], "web-7", 1764504000123, 12*time.Second)
		m[2] = election.MasterState{Name: m[2].Name, Err: &election.MasterError{
			Master: m[2].Name, Op: "inspect", Kind: election.ErrUnreachable, Err: errors.New("dial tcp 10.0.0.3:6379: connect: connection refused"),
		}}
	}, `
web-7 leads, with token 1764504000123, at 2 of 3 masters; its lease runs for another 12s
  host host-web-7, process 7, TTL 15s

MASTER        ROLE    VERSION  HOLDER         HOST        TOKEN          LEFT  GUARD
redis-a:6379  master  7.0.15   web-7          host-web-7  1764504000123  12s   -
redis-b:6379  master  7.0.15   web-7          host-web-7  1764504000123  12s   -
redis-c:6379  -       -        (unreachable)  -           -              -     -

unreachable: master redis-c:6379: inspect: unreachable: dial tcp 10.0.0.3:6379: connect: connection refused
warning: bare-majority: the lease does not count at redis-c:6379: one more fault ends the term
`},
	"no expiry": {func(m []election.MasterState) {
		held(&m[0], "web-7", 7, 0)
		held(&m[1], "web-7", 7, 0)
	}, `
nobody can lead: the lease at redis-a:6379, redis-b:6379 has no expiry, so it never becomes free: delete it if nobody works by it

MASTER        ROLE    VERSION  HOLDER  HOST        TOKEN  LEFT      GUARD
redis-a:6379  master  7.0.15   web-7   host-web-7  7      for ever  -
redis-b:6379  master  7.0.15   web-7   host-web-7  7      for ever  -
redis-c:6379  master  7.0.15   -       -           -      -         -

warning: no-expiry: redis-a:6379: the lease has no expiry, so it never becomes free: delete it if nobody leads
warning: no-expiry: redis-b:6379: the lease has no expiry, so it never becomes free: delete it if nobody leads
`},
	"guards wait": {func(m []election.MasterState) {
		for i := range 2 {
			guard(&m[i], election.RestartGuard|election.FailoverGuard, 9300*time.Millisecond)
		}
		was(&m[2], "web-7", 1764504000123)
	}, `
nobody leads: guards wait for another 10s at redis-a:6379, redis-b:6379: restart,failover (the server has just started, and may have forgotten a lease; another server answers than the one that granted last, and may lack its lease)

MASTER        ROLE    VERSION  HOLDER  HOST  TOKEN  LEFT  GUARD
redis-a:6379  master  7.0.15   -       -     -      -     restart,failover 9.3s
redis-b:6379  master  7.0.15   -       -     -      -     restart,failover 9.3s
redis-c:6379  master  7.0.15   -       -     -      -     -
`},
	"odd names": {func(m []election.MasterState) {
		for i := range m {
			held(&m[i], "a-candidate-with-a-very-long-name\n", 7, time.Hour)
		}
		m[1].Role = "slave"
	}, `
"a-candidate-with-a-very-long-name\n" leads, with token 7, at 2 of 3 masters; its lease runs for another 1h0m0s
  host "host-a-candidate-with-a-very-long-name\n", process 7, TTL 15s

MASTER        ROLE     VERSION  HOLDER              HOST            TOKEN  LEFT    GUARD
redis-a:6379  master   7.0.15   "a-candidate-with…  "host-a-candi…  7      1h0m0s  -
redis-b:6379  replica  7.0.15   "a-candidate-with…  "host-a-candi…  7      1h0m0s  -
redis-c:6379  master   7.0.15   "a-candidate-with…  "host-a-candi…  7      1h0m0s  -

warning: bare-majority: the lease does not count at redis-b:6379: one more fault ends the term
warning: read-only: redis-b:6379 is a replica, which cannot vote
`},
}

func TestStatusText(t *testing.T) {
	for name, c := range statusTexts {
		masters := mastersOf(3)
		addressed(masters)
		c.set(masters)
		var out bytes.Buffer
		r := newStatusReport("job", &config.Config{Mode: config.ModeQuorum}, election.State{Masters: masters}, 0)
		must(t, r.print(&out))
		if got := withoutSpaces(out.String()); got != strings.TrimPrefix(c.want, "\n") {
			t.Errorf("%s:\n%s\nwant%s", name, got, c.want)
		}
	}
}

// withoutSpaces is text without those at the end of lines.
func withoutSpaces(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

// The names of the JSON are promised.
func TestStatusJSON(t *testing.T) {
	masters := mastersOf(1)
	addressed(masters)
	held(&masters[0], "web-7", 5, 1500*time.Millisecond)
	guard(&masters[0], election.ClockGuard, 2*time.Second)
	masters[0].ReleasedToken, masters[0].Heir = 4, "web-8"
	r := newStatusReport("job", &config.Config{Mode: config.ModeSingle}, election.State{Masters: masters, Last: 5}, 0)
	got, err := json.Marshal(r)
	must(t, err)
	const want = `{"election":"job","mode":"single","need":1,"result":"leads","cause":"leads",` +
		`"text":"web-7 leads, with token 5; its lease runs for another 2s",` +
		`"leader":{"id":"web-7","host":"host-web-7","pid":7,"instance":"i-web-7","token":5,"ttl_ms":15000,"left_ms":1500},"last_token":5,` +
		`"masters":[{"master":"redis-a:6379","reachable":true,"role":"master","version":"7.0.15","run_id":"run-A",` +
		`"holder":{"id":"web-7","host":"host-web-7","pid":7,"instance":"i-web-7","token":5,"ttl_ms":15000,"left_ms":1500},` +
		`"last_token":5,"released_token":4,"guards":"clock","guard_left_ms":2000,"heir":"web-8"}],` +
		`"warnings":[{"code":"guards-wait","message":"redis-a:6379 has the lease, and would grant no other one for another 2s: clock: wait that long before another master stops"}]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Lines of observe, as they are seen.
func TestObserveText(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 123e6, time.UTC)
	l := election.Leader{Candidate: election.Candidate{ID: "web-7", Host: "h7", PID: 7}, Token: 5, TTL: 15 * time.Second}
	var last change
	for _, c := range []struct {
		after time.Duration
		l     election.Leader
		err   error
		want  string
	}{
		{0, l, nil, "2026-11-30T12:00:00.123Z  web-7 leads, with token 5 (host h7, process 7, TTL 15s)"},
		{90 * time.Minute, election.Leader{}, election.ErrNoLeader, "2026-11-30T13:30:00.123Z  nobody leads; before, web-7 led for 1h30m0s"},
		{12 * time.Millisecond, election.Leader{Candidate: election.Candidate{ID: "a\nb"}, Token: 6}, nil, `2026-11-30T13:30:00.135Z  "a\nb" leads, with token 6; before, nobody led for at most 12ms`},
		{5 * time.Second, election.Leader{}, errors.Join(errors.New("one"), errors.New("two")), `2026-11-30T13:30:05.135Z  cannot tell who leads: one; two; before, "a\nb" led for 5s`},
		{time.Second, l, nil, "2026-11-30T13:30:06.135Z  web-7 leads, with token 5 (host h7, process 7, TTL 15s); before, it could not be told for 1s"},
	} {
		at = at.Add(c.after)
		now := newChange("job", at, c.l, c.err)
		now.after(last)
		if last = now; now.String() != c.want {
			t.Errorf("got  %s\nwant %s", now, c.want)
		}
	}
}
