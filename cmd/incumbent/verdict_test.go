package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"incumbent/election"
)

// serverTime is what all masters of these tests show.
var serverTime = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// mastersOf are n masters that know nothing.
func mastersOf(n int) []election.MasterState {
	var list []election.MasterState
	for i := range n {
		name := string(rune('A' + i))
		list = append(list, election.MasterState{
			Name: name, Reachable: true, Role: "master", RunID: "run-" + name, Version: "7.0.15", Now: serverTime,
		})
	}
	return list
}

// held gives a master's lease to a candidate.
func held(m *election.MasterState, id string, token election.Token, left time.Duration) {
	l := election.Leader{Candidate: election.Candidate{ID: id, Instance: "i-" + id, Host: "host-" + id, PID: 7}, Token: token, TTL: 15 * time.Second, Left: left}
	m.Holder, m.Value, m.Last = &l, "i-"+id+"-1-0", token
}

// was says who had a master's lease last.
func was(m *election.MasterState, id string, token election.Token) {
	m.Last = token
	m.Latest = &election.Leader{Candidate: election.Candidate{ID: id}, Token: token}
}

// dead makes a master unreachable, or fail otherwise.
func dead(m *election.MasterState, kind error) {
	*m = election.MasterState{Name: m.Name, Err: &election.MasterError{Master: m.Name, Op: "inspect", Kind: kind, Err: errors.New("so it is")}}
}

func guard(m *election.MasterState, g election.StoreGuards, left time.Duration) {
	m.Guards |= g
	m.GuardUntil = m.Now.Add(left)
}

// All answers, by what masters show.
func TestVerdicts(t *testing.T) {
	s := time.Second
	for _, c := range []struct {
		name          string
		n             int
		set           func(m []election.MasterState)
		result, cause string
		text          []string // parts of it
		warnings      []string // codes
	}{
		{"single, led", 1, func(m []election.MasterState) { held(&m[0], "web-7", 5, 12*s) }, leads, "leads",
			[]string{"web-7 leads, with token 5; its lease runs for another 12s"}, nil},
		{"trio, led", 3, func(m []election.MasterState) {
			for i := range m {
				held(&m[i], "web-7", 5, 12*s)
			}
		}, leads, "leads", []string{"web-7 leads, with token 5, at 3 of 3 masters"}, nil},
		{"bare majority, one dead", 3, func(m []election.MasterState) {
			held(&m[0], "web-7", 5, 12*s)
			held(&m[1], "web-7", 5, 11*s)
			dead(&m[2], election.ErrUnreachable)
		}, leads, "leads", []string{"at 2 of 3 masters"}, []string{"bare-majority"}},
		{"four of five", 5, func(m []election.MasterState) {
			for i := range 4 {
				held(&m[i], "web-7", 5, 12*s)
			}
		}, leads, "leads", []string{"at 4 of 5 masters"}, []string{"masters-missing"}},
		{"masters disagree", 3, func(m []election.MasterState) {
			held(&m[0], "web-7", 5, 12*s)
			held(&m[1], "web-7", 5, 12*s)
			held(&m[2], "web-8", 4, 2*s)
		}, leads, "leads", []string{"web-7 leads"}, []string{"bare-majority", "masters-disagree"}},
		{"a guard beside a leader", 3, func(m []election.MasterState) {
			held(&m[0], "web-7", 5, 12*s)
			held(&m[1], "web-7", 5, 12*s)
			guard(&m[2], election.RestartGuard, 5*s)
		}, leads, "leads", []string{"web-7 leads"}, []string{"bare-majority", "guards-wait"}},
		{"a replica has the lease, too", 3, func(m []election.MasterState) {
			held(&m[0], "web-7", 5, 12*s)
			held(&m[1], "web-7", 5, 12*s)
			m[1].Role = "slave"
			dead(&m[2], election.ErrUnreachable)
		}, unknown, "too-few-answers", []string{"cannot tell: 1 of 3 masters answer as they should, 2 are needed: master C: "}, []string{"read-only"}},
		{"clocks differ", 3, func(m []election.MasterState) {
			for i := range m {
				held(&m[i], "web-7", 5, 12*s)
			}
			m[1].Now = serverTime.Add(3 * s)
		}, leads, "leads", []string{"web-7 leads"}, []string{"clock-difference"}},
		{"clocks differ no more than the answers took", 3, func(m []election.MasterState) {
			for i := range m {
				held(&m[i], "web-7", 5, 12*s)
			}
			m[1].Now = serverTime.Add(1400 * time.Millisecond)
		}, leads, "leads", []string{"web-7 leads"}, nil},
		{"a name that was not written by us", 1, func(m []election.MasterState) { held(&m[0], "a\x1b[2J\nb", 5, 12*s) }, leads, "leads",
			[]string{`"a\x1b[2J\nb" leads`}, nil},
		{"no name", 1, func(m []election.MasterState) { held(&m[0], "", 5, 12*s) }, leads, "leads", []string{"somebody unknown leads"}, nil},

		{"never", 3, func([]election.MasterState) {}, nobody, "never-elected",
			[]string{"nobody has ever led this election as far as the masters know", "prefix and name", "incumbent init"}, nil},
		{"init was called", 3, func(m []election.MasterState) { m[1].Initialised = true }, nobody, "never-elected", []string{"init was called, and no candidate has won yet"}, nil},
		{"released", 3, func(m []election.MasterState) {
			for i := range m {
				was(&m[i], "web-7", 5)
				m[i].ReleasedToken = 5
			}
		}, nobody, "released", []string{"web-7, with token 5, gave the lease back, and no candidate has taken the lease since"}, nil},
		{"released at a majority, one dead", 3, func(m []election.MasterState) {
			was(&m[0], "web-7", 5)
			was(&m[1], "web-7", 5)
			m[1].ReleasedToken = 5
			dead(&m[2], election.ErrUnreachable)
		}, nobody, "released", []string{"web-7, with token 5, gave the lease back"}, nil},
		{"ran out", 1, func(m []election.MasterState) {
			was(&m[0], "web-7", 5)
			m[0].ReleasedToken, m[0].Until = 4, serverTime.Add(-90*s)
		}, nobody, "expired", []string{"the lease of web-7, with token 5, ran out at 2026-11-30 11:58:30, 1m30s ago, and no candidate"}, nil},
		{"ran out, its holder is not known", 1, func(m []election.MasterState) {
			m[0].Last, m[0].Until = 5, serverTime.Add(-90*s)
		}, nobody, "expired", []string{"the lease of the term with token 5 ran out"}, nil},
		{"a vote that became no term does not hide the last one", 1, func(m []election.MasterState) {
			was(&m[0], "web-8", 6)
			m[0].Last, m[0].ReleasedToken = 5, 5
		}, nobody, "released", []string{"the term with token 5 gave the lease back"}, nil},
		{"gone, and nothing says how", 1, func(m []election.MasterState) { was(&m[0], "web-7", 5) }, nobody, "vacant",
			[]string{"the lease of web-7, with token 5, is gone"}, nil},

		{"a guard waits", 1, func(m []election.MasterState) { guard(&m[0], election.FailoverGuard, 12*s) }, nobody, "guards-wait",
			[]string{"nobody leads: guards wait for another 12s at A: failover (another server answers"}, nil},
		{"a new election", 1, func(m []election.MasterState) { guard(&m[0], election.FailoverGuard|election.NoRecordGuard, 12*s) }, nobody, "guards-wait",
			[]string{"at A: failover,no-record (the server knows nothing of the election"}, nil},
		{"guards at a majority", 3, func(m []election.MasterState) {
			guard(&m[0], election.RestartGuard|election.NoRecordGuard, 12*s)
			guard(&m[2], election.NoRecordGuard, 15*s)
			was(&m[1], "web-7", 5)
		}, nobody, "guards-wait", []string{"for another 15s at A, C: restart,no-record (the server has just started", "; the server knows nothing"}, nil},
		{"a guard at a minority keeps nobody out", 3, func(m []election.MasterState) {
			guard(&m[0], election.RestartGuard, 12*s)
			was(&m[1], "web-7", 5)
			m[1].ReleasedToken = 5
		}, nobody, "released", []string{"gave the lease back"}, nil},
		{"kept for an heir", 3, func(m []election.MasterState) {
			for i := range m {
				guard(&m[i], election.HandOverGuard, 4*s)
				m[i].Heir = "web-9"
			}
		}, nobody, "kept-for-heir", []string{"handed over and is kept for web-9 for another 4s"}, nil},
		{"votes split", 3, func(m []election.MasterState) {
			held(&m[0], "web-7", 5, 12*s)
			held(&m[1], "web-8", 6, 12*s)
		}, nobody, "votes-split", []string{"votes are split between 2 candidates; web-8 holds 1 of 3 masters, 2 are needed"}, nil},
		{"held by fewer than a majority", 3, func(m []election.MasterState) { held(&m[0], "web-7", 5, 12*s) }, nobody, "too-few-votes",
			[]string{"web-7 holds 1 of 3 masters, 2 are needed: B, C are free"}, nil},
		{"votes that are not sealed yet", 3, func(m []election.MasterState) {
			for i := range 2 {
				held(&m[i], "web-7", 5, 12*s)
				m[i].Last = 4
			}
		}, nobody, "not-sealed", []string{"web-7 has a majority of the votes, and seals them now"}, nil},
		{"one master missed the seal", 3, func(m []election.MasterState) {
			held(&m[0], "web-7", 5, 12*s)
			held(&m[1], "web-7", 9, 12*s)
			m[1].Last = 4
		}, leads, "leads", []string{"web-7 leads, with token 5"}, []string{"bare-majority"}},
		{"no expiry", 1, func(m []election.MasterState) { held(&m[0], "web-7", 5, 0) }, nobody, "no-expiry",
			[]string{"nobody can lead: the lease at A has no expiry"}, []string{"no-expiry"}},
		{"no expiry at one of three", 3, func(m []election.MasterState) {
			held(&m[0], "web-7", 5, 12*s)
			held(&m[1], "web-7", 5, 12*s)
			held(&m[2], "web-7", 5, 0)
		}, leads, "leads", []string{"at 2 of 3 masters"}, []string{"bare-majority", "no-expiry"}},
		{"foreign content without expiry", 1, func(m []election.MasterState) { held(&m[0], "web-7", 5, 0); m[0].Value = "bogus" }, nobody, "no-expiry", nil, []string{"no-expiry"}},
		{"foreign content", 1, func(m []election.MasterState) { held(&m[0], "web-7", 5, 9*s); m[0].Value = "bogus" }, nobody, "foreign-key",
			[]string{"nobody can lead: the lease at A has a value that no candidate wrote"}, []string{"foreign-key"}},
		{"back at a master whose guard runs", 3, func(m []election.MasterState) {
			for i := range m {
				held(&m[i], "web-7", 5, 12*s)
			}
			guard(&m[2], election.NoRecordGuard, 5*s)
		}, leads, "leads", []string{"at 3 of 3 masters"}, []string{"guards-wait"}},
		{"no expiry at two", 3, func(m []election.MasterState) {
			held(&m[0], "x", 1, 0)
			held(&m[1], "y", 2, 0)
		}, nobody, "no-expiry", []string{"the lease at A, B has no expiry"}, []string{"no-expiry", "no-expiry"}},

		{"two dead", 3, func(m []election.MasterState) {
			held(&m[0], "web-7", 5, 12*s)
			dead(&m[1], election.ErrUnreachable)
			dead(&m[2], election.ErrLoading)
		}, unknown, "too-few-answers", []string{"cannot tell: 1 of 3 masters answer as they should, 2 are needed: master B: inspect: unreachable: so it is; master C: inspect: store loading"}, nil},
		{"the dead one may decide", 3, func(m []election.MasterState) {
			held(&m[0], "web-7", 5, 12*s)
			dead(&m[1], election.ErrUnreachable)
		}, unknown, "too-few-answers", []string{"web-7 holds 1 of 3 masters, and may hold those that do not answer: master B"}, nil},
		{"single, dead", 1, func(m []election.MasterState) { dead(&m[0], election.ErrUnreachable) }, unknown, "too-few-answers",
			[]string{"cannot tell: master A: inspect: unreachable"}, nil},

		{"wrong password", 1, func(m []election.MasterState) { dead(&m[0], election.ErrAuth) }, misfit, "auth",
			[]string{"nobody can lead by these settings: master A: inspect: authentication failed"}, nil},
		{"two refuse for good", 3, func(m []election.MasterState) {
			dead(&m[0], election.ErrNoPermission)
			dead(&m[1], election.ErrNoPermission)
		}, misfit, "permission", []string{"(1 of 3 masters can serve, 2 are needed)"}, nil},
		{"one refuses for good", 3, func(m []election.MasterState) {
			dead(&m[0], election.ErrTLS)
			held(&m[1], "web-7", 5, 12*s)
			held(&m[2], "web-7", 5, 12*s)
		}, leads, "leads", nil, []string{"bare-majority"}},
		{"one refuses for good, one is dead", 3, func(m []election.MasterState) {
			dead(&m[0], election.ErrTLS)
			dead(&m[1], election.ErrUnreachable)
		}, unknown, "too-few-answers", []string{"master A: inspect: TLS failure", "master B: inspect: unreachable"}, nil},
		{"foreign key", 1, func(m []election.MasterState) { dead(&m[0], election.ErrForeignKey) }, misfit, "foreign-key", []string{"key has foreign content"}, nil},
		{"single, a replica", 1, func(m []election.MasterState) { m[0].Role = "slave" }, misfit, "read-only",
			[]string{"A is a replica: give the address of its primary"}, nil},
		{"one twice", 3, func(m []election.MasterState) { m[2].RunID = m[0].RunID }, misfit, "same-server",
			[]string{"A and C are one server, which has one vote"}, nil},
		{"one twice, and led by others' settings", 3, func(m []election.MasterState) {
			for i := range m {
				held(&m[i], "web-7", 5, 12*s)
			}
			m[2].RunID = m[0].RunID
		}, leads, "leads", []string{"at 2 of 3 masters"}, []string{"bare-majority", "same-server"}},
		{"identities are hidden", 3, func(m []election.MasterState) {
			for i := range m {
				m[i].RunID, m[i].Role = "", ""
				held(&m[i], "web-7", 5, 12*s)
			}
		}, leads, "leads", []string{"at 3 of 3 masters"}, nil},
	} {
		masters := mastersOf(c.n)
		c.set(masters)
		v := look{masters: masters, need: c.n/2 + 1, took: 500 * time.Millisecond}.judgement()
		var codes []string
		for _, w := range v.warnings {
			codes = append(codes, w.Code)
			if w.Message == "" || strings.Contains(w.Message, "\n") || strings.Contains(w.Message, "%!") {
				t.Errorf("%s: warning %q", c.name, w.Message)
			}
		}
		if v.result != c.result || v.cause != c.cause || !slices.Equal(codes, c.warnings) {
			t.Errorf("%s: result %s, cause %s, warnings %s\nwant %s, %s, %s\n%s", c.name, v.result, v.cause, codes, c.result, c.cause, c.warnings, v.text)
		}
		if v.text == "" || strings.ContainsAny(v.text, "\n\x1b") || strings.Contains(v.text, "%!") || (v.leader != nil) != (v.result == leads) {
			t.Errorf("%s: leader %+v, %q", c.name, v.leader, v.text)
		}
		for _, part := range c.text {
			if !strings.Contains(v.text, part) {
				t.Errorf("%s: lacks %q: %s", c.name, part, v.text)
			}
		}
	}
}

// A Cluster's client asks any node for its role: that says nothing.
func TestVerdictOfACluster(t *testing.T) {
	masters := mastersOf(1)
	masters[0].Role = "slave"
	held(&masters[0], "web-7", 5, time.Second)
	if v := (look{masters: masters, need: 1, anyNode: true}).judgement(); v.result != leads || v.warnings != nil {
		t.Errorf("got %+v", v)
	}
}

// An election that is moving from one store to another has a verdict for each.
func TestVerdictOfTwoStores(t *testing.T) {
	for name, c := range map[string]struct {
		single, quorum string // who leads there; "" is nobody
		result         string
		leader         string
		warnings       []string
	}{
		"both have the leader":  {"a", "a", leads, "a", nil},
		"only the first":        {"a", "", leads, "a", []string{"one-store"}},
		"only the second":       {"", "a", leads, "a", []string{"one-store"}},
		"one each":              {"a", "b", twofold, "", nil},
		"nobody in either":      {"", "", nobody, "", nil},
		"the other way, larger": {"z", "b", twofold, "", nil},
		"the other is silent":   {"a", "?", leads, "a", nil},
		"the first is silent":   {"?", "a", leads, "a", nil},
	} {
		masters := mastersOf(4)
		for i := range masters {
			where, id := "quorum/", c.quorum
			if i == 0 {
				where, id = "single/", c.single
			}
			masters[i].Name = where + masters[i].Name
			if id == "?" {
				dead(&masters[i], election.ErrUnreachable)
			} else if id != "" {
				held(&masters[i], id, election.Token(id[0]), time.Second)
			}
		}
		groups := storesOf(election.State{Masters: masters, Parts: []election.State{{Masters: masters[:1]}, {Masters: masters[1:]}}})
		if len(groups) != 2 || len(groups[0].masters) != 1 || len(groups[1].masters) != 3 {
			t.Fatalf("groups %+v", groups)
		}
		v := merge(groups, []verdict{
			look{masters: groups[0].masters, need: 1}.judgement(), look{masters: groups[1].masters, need: 2}.judgement(),
		})
		var codes []string
		for _, w := range v.warnings {
			codes = append(codes, w.Code)
		}
		leader := ""
		if v.leader != nil {
			leader = v.leader.ID
		}
		if v.result != c.result || leader != c.leader || fmt.Sprint(codes) != fmt.Sprint(c.warnings) {
			t.Errorf("%s: %s, %q, %s: %s", name, v.result, leader, codes, v.text)
		}
		text := v.text
		if c.result == twofold {
			text = strings.TrimPrefix(text, "TWO LEADERS: ")
			if r := (statusReport{Result: v.result}); v.cause != "two-leaders" || text == v.text || r.code() != exitFailed {
				t.Errorf("%s: cause %s, exit code %d: %s", name, v.cause, r.code(), v.text)
			}
		}
		if !strings.HasPrefix(text, "single: ") || !strings.Contains(v.text, "; quorum: ") {
			t.Errorf("%s: %s", name, v.text)
		}
	}
}
