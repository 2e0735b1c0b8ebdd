package config

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"incumbent/election"
	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

// TestBothLoads: mode both needs what both modes need, or two lists of masters.
func TestBothLoads(t *testing.T) {
	const trio = "quorum: {masters: [a, b, c]}\n"
	for _, c := range []struct{ name, text, want string }{
		{"single and quorum", "mode: Both\nsingle: {address: s}\n" + trio, ""},
		{"a shared server", "mode: both\nsingle: {address: a}\n" + trio, ""},
		{"two quorums", "mode: both\nquorum: {masters: [a, b, c], new_masters: [a, b, d]}\n", ""},
		{"not in use", "mode: quorum\nquorum: {masters: [a, b, c], new_masters: [a, b, d]}\nsingle: {address: s}\n", ""},
		{"no single", "mode: both\n" + trio, "single: is missing: mode both needs single.address, single.sentinel or single.cluster"},
		{"no quorum", "mode: both\nsingle: {address: s}\n", "quorum.masters: is missing: mode both needs at least 3 masters"},
		{"no old quorum", "mode: both\nquorum: {new_masters: [a, b, d]}\n", "quorum.masters (line 2): is missing: mode both needs at least 3 masters"},
		{"three stores", "mode: both\nsingle: {address: s}\nquorum: {masters: [a, b, c], new_masters: [a, b, d]}\n",
			"single (line 2): excludes quorum.new_masters in mode both, which is for a move between two stores: remove one of them"},
		{"two new masters", "mode: both\nquorum: {masters: [a, b, c], new_masters: [a, d]}\n",
			`quorum.new_masters "2" (line 2): must be at least 3, of which one may fail; for one server use mode single`},
		{"a new master twice", "mode: both\nquorum: {masters: [a, b, c], new_masters: [a, d, d]}\n",
			`quorum.new_masters[2] "d" (line 2): is the same server as quorum.new_masters[1] (d): each may be given once`},
		{"a file that is not there", "mode: both\nsingle: {address: s, password_file: /nowhere}\n" + trio, "single.password_file (line 2): the file cannot be read: no such file or directory"},
	} {
		_, err := LoadFrom(Sources{YAML: []byte(c.text), Environ: []string{}})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// TestBothServers: the first store's servers come first, and a server of both twice.
func TestBothServers(t *testing.T) {
	c := fast(ModeBoth, "a:1", "b:1", "c:1")
	c.Single.Address = "a:1"
	if got := c.ServerNames(); !slices.Equal(got, []string{"a:1", "a:1", "b:1", "c:1"}) {
		t.Errorf("servers are %q", got)
	}
	c.Single = Single{}
	c.Quorum.NewMasters = []Master{{Address: "a:1"}, {Address: "d:1"}, {Address: "c:1"}}
	if got := c.ServerNames(); !slices.Equal(got, []string{"a:1", "b:1", "c:1", "a:1", "d:1", "c:1"}) {
		t.Errorf("servers are %q", got)
	}
	if w := strings.Join(c.Warnings(), "\n"); !strings.Contains(w, "mode: both is for the time of a move") {
		t.Errorf("warnings are %q", w)
	}
}

// TestBothMoves leads in all modes in turn, each with a larger token, on real servers:
// one that serves both stores among them.
func TestBothMoves(t *testing.T) {
	var addresses []string
	for range 4 {
		addresses = append(addresses, redistest.StartT(t, redisproc.Options{}).Addr())
	}
	for name, primary := range map[string]string{"apart": addresses[3], "shared": addresses[0]} {
		t.Run(name, func(t *testing.T) {
			of := func(m Mode) *Config {
				c := fast(m, addresses[:3]...)
				c.Single.Address = primary
				if m == ModeSingle {
					c.Quorum = Quorum{}
				}
				return c
			}
			noErr(t, open(t, of(ModeBoth)).Init(t.Context(), name))
			var last election.Token
			for _, m := range []Mode{ModeSingle, ModeBoth, ModeQuorum, ModeBoth, ModeSingle} {
				cl := open(t, of(m))
				e, err := cl.Elector(name)
				noErr(t, err)
				term, err := e.Campaign(t.Context())
				noErr(t, err)
				if term.Token() <= last {
					t.Errorf("mode %s leads with token %d after %d", m, term.Token(), last)
				}
				last = term.Token()
				if m == ModeBoth {
					var held *election.HeldError
					if err := cl.Init(t.Context(), name); !errors.As(err, &held) {
						t.Errorf("init while somebody leads: %v", err)
					}
				}
				noErr(t, term.Resign(t.Context()))
			}
		})
	}
}

// TestBothReplacesAMaster by way of two lists.
func TestBothReplacesAMaster(t *testing.T) {
	var all []Master
	for range 4 {
		all = append(all, Master{Address: redistest.StartT(t, redisproc.Options{}).Addr()})
	}
	c := fast(ModeBoth)
	c.Quorum = Quorum{Masters: all[:3], NewMasters: []Master{all[0], all[1], all[3]}}
	cl := open(t, c)
	noErr(t, cl.Init(t.Context(), "job"))
	e, err := cl.Elector("job")
	noErr(t, err)
	term, err := e.Campaign(t.Context())
	noErr(t, err)
	st, err := cl.Store("job")
	noErr(t, err)
	state, err := st.Inspect(t.Context())
	noErr(t, err)
	for i, m := range state.Masters {
		if m.Holder == nil || m.Holder.Token != term.Token() {
			t.Errorf("master %s does not know term %d", m.Name, term.Token())
		}
		if want := []string{"masters/", "new_masters/"}[i/3]; !strings.HasPrefix(m.Name, want) {
			t.Errorf("master %d is called %q", i, m.Name)
		}
	}
	noErr(t, term.Resign(t.Context()))
}

// TestBothPreflight: one server in both stores is no fault, and it says who listens
// where.
func TestBothPreflight(t *testing.T) {
	a, b, c, d := redistest.StartT(t, keeps), redistest.StartT(t, keeps), redistest.StartT(t, keeps), redistest.StartT(t, keeps)
	of := func(m Mode, primary string) *Config {
		cfg := quiet(m, a.Addr(), b.Addr(), c.Addr())
		cfg.Single.Address = primary
		if m == ModeSingle {
			cfg.Quorum = Quorum{}
		}
		return cfg
	}
	for name, primary := range map[string]string{"shared": a.Addr(), "apart": d.Addr()} {
		var want []string
		if name == "shared" {
			want = append(want, "info "+primary+" shared-server")
		}
		cfg := of(ModeBoth, primary)
		found := notWarnings(preflight(t, cfg, name))
		wantFound(t, found, append(want, "info  standbys")...)
		wantStandbys(t, found, "0 listen in single, 0 in quorum: standbys, and each incumbent observe; who leads does not listen")
		noErr(t, open(t, cfg).Check(t.Context(), name))

		noErr(t, open(t, cfg).Init(t.Context(), name))
		leader, err := open(t, of(ModeSingle, primary)).Elector(name)
		noErr(t, err)
		term, err := leader.Campaign(t.Context())
		noErr(t, err)
		for _, m := range []Mode{ModeBoth, ModeBoth, ModeSingle} {
			e, err := open(t, of(m, primary)).Elector(name)
			noErr(t, err)
			go func() { _, _ = e.Campaign(t.Context()) }() // stands by until the test ends
		}
		text := "3 listen in single, 2 in quorum: standbys, and each incumbent observe; who leads does not listen; 1 or more listen in single alone"
		for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline) && !says(preflight(t, cfg, name), text); {
			<-time.After(50 * time.Millisecond)
		}
		wantStandbys(t, preflight(t, cfg, name), text)
		noErr(t, term.Resign(t.Context()))
	}
	if err := b.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, f := range preflight(t, of(ModeBoth, d.Addr()), "apart") {
		if f.Severity == Fault && (f.Server != b.Addr() || f.Permanent) {
			t.Errorf("with one master down: %s", f)
		}
	}
}

// says reports whether a finding about standbys has that text.
func says(found []Finding, text string) bool {
	return slices.ContainsFunc(found, func(f Finding) bool { return f.Code == "standbys" && f.Message == text })
}

func wantStandbys(t *testing.T, found []Finding, text string) {
	t.Helper()
	if !says(found, text) {
		t.Errorf("want %q, found:\n%s", text, full(found))
	}
}
