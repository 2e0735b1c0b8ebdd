package config

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	stub "github.com/alicebob/miniredis/v2/server"

	"incumbent/election"
	"incumbent/internal/blackhole"
	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

// fast is a configuration with timings for tests that wait for timeouts.
func fast(mode Mode, addresses ...string) *Config {
	c := Default()
	c.Mode, c.TTL, c.Logger = mode, 4*time.Second, logTo(&logs{})
	c.AssumeNew = true // an embedded server has no uptime: this is the only guard that waits there
	if mode == ModeSingle {
		c.Single.Address = addresses[0]
		return c
	}
	for _, a := range addresses {
		c.Quorum.Masters = append(c.Quorum.Masters, Master{Address: a})
	}
	return c
}

func open(t *testing.T, c *Config) *Client {
	t.Helper()
	cl, err := c.Open(t.Context())
	noErr(t, err)
	t.Cleanup(func() { noErr(t, cl.Close()) })
	return cl
}

// lead wins the first of all elections and gives it back.
func lead(t *testing.T, cl *Client, name string) {
	t.Helper()
	noErr(t, cl.Init(t.Context(), name))
	win(t, cl, name)
}

// win wins an election and gives it back.
func win(t *testing.T, cl *Client, name string) {
	t.Helper()
	e, err := cl.Elector(name)
	noErr(t, err)
	led := false
	noErr(t, election.Run(t.Context(), e, func(_ context.Context, term *election.Term) error {
		led = term.Valid() && term.Token() > 0
		return nil
	}))
	if !led {
		t.Error("the work ran without a valid term")
	}
	noErr(t, e.Close(t.Context()))
}

// TestSwitch: the same file leads in both modes; only the word changes.
func TestSwitch(t *testing.T) {
	a, b, c := miniredis.RunT(t), miniredis.RunT(t), miniredis.RunT(t)
	file := "mode: single\nsingle: {address: '" + a.Addr() + "'}\nquorum:\n  masters:\n  - " + a.Addr() + "\n  - " + b.Addr() + "\n  - " + c.Addr() + "\nttl: 2s\n"
	for _, mode := range []string{"single", "quorum"} {
		cfg := mustLoad(t, Sources{YAML: []byte(strings.Replace(file, "single", mode, 1))})
		cfg.Logger = logTo(&logs{})
		cl := open(t, cfg)
		lead(t, cl, "job-"+mode)
		st, err := cl.Store("job-" + mode)
		noErr(t, err)
		state, err := st.Inspect(t.Context())
		noErr(t, err)
		if want := map[string]int{"single": 1, "quorum": 3}[mode]; len(state.Masters) != want || state.Last == 0 {
			t.Errorf("%s: %d masters, last token %d", mode, len(state.Masters), state.Last)
		}
	}
}

func TestElectorNames(t *testing.T) {
	cl := open(t, fast(ModeSingle, miniredis.RunT(t).Addr()))
	if _, err := cl.Elector(""); err == nil || err.Error() != "single: election name: must not be empty" {
		t.Errorf("no name gives %v", err)
	}
	e, err := cl.Elector("job")
	noErr(t, err)
	_, err = cl.Elector("job")
	if want := `election "job": this client has an elector for it already: close that one first, or use it`; err == nil || err.Error() != want {
		t.Errorf("the same name gives %v", err)
	}
	if _, err := cl.Elector("short", func(o *election.Options) { o.TTL = 300 * time.Millisecond }); err != nil {
		t.Errorf("a shorter lease does not bring its own timing: %v", err)
	}
	if _, err := cl.Elector("bad", func(o *election.Options) { o.TTL = time.Millisecond }); err == nil {
		t.Error("options are not checked")
	}
	if _, err := cl.Elector("bad"); err != nil {
		t.Errorf("a name that was refused is taken: %v", err)
	}
	noErr(t, e.Close(t.Context()))
	noErr(t, e.Close(t.Context()))
	if _, err := cl.Elector("job"); err != nil {
		t.Errorf("the name of a closed elector is still taken: %v", err)
	}
	noErr(t, e.Close(t.Context())) // must not free the name of its successor
	if _, err := cl.Elector("job"); err == nil {
		t.Error("closing an old elector freed the name of the new one")
	}
}

func TestElectorOptions(t *testing.T) {
	c := fast(ModeSingle, miniredis.RunT(t).Addr())
	c.ID, c.Metadata = "me", map[string]string{"zone": "x"}
	cl := open(t, c)
	started := make(chan election.Event, 1)
	e, err := cl.Elector("job", func(o *election.Options) {
		o.Observer = func(ev election.Event) {
			if ev.Kind == election.TermStarted {
				started <- ev
			}
		}
	})
	noErr(t, err)
	term, err := e.Campaign(t.Context())
	noErr(t, err)
	if ev := <-started; ev.Token != term.Token() {
		t.Errorf("observed token %d, want %d", ev.Token, term.Token())
	}
	l, err := e.Leader(t.Context())
	noErr(t, err)
	if l.ID != "me" || l.Metadata["zone"] != "x" || l.TTL != 4*time.Second {
		t.Errorf("the leader is %+v", l)
	}
	if left := term.Remaining(); left <= 0 || left > 4*time.Second {
		t.Errorf("remaining %s", left)
	}
}

// TestCloseReleases leases, and may be called twice and at once.
func TestCloseReleases(t *testing.T) {
	server := miniredis.RunT(t)
	cl := open(t, fast(ModeSingle, server.Addr()))
	e, err := cl.Elector("job")
	noErr(t, err)
	term, err := e.Campaign(t.Context())
	noErr(t, err)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if err := cl.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if term.Valid() || server.Exists("incumbent:{job}:lease") {
		t.Error("the lease outlives Close")
	}
	if _, err := cl.Elector("other"); !errors.Is(err, election.ErrClientClosed) {
		t.Errorf("after Close: %v", err)
	}
	if _, err := cl.Store("other"); !errors.Is(err, election.ErrClientClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestOpenRefusesBadConfig(t *testing.T) {
	c := fast(ModeQuorum, "a", "b")
	if _, err := c.Open(t.Context()); err == nil || !strings.Contains(err.Error(), "quorum.masters") {
		t.Errorf("got %v", err)
	}
}

// TestOpenWhileDown: a service must be able to start, and leads later (A18).
func TestOpenWhileDown(t *testing.T) {
	server := miniredis.RunT(t)
	address := server.Addr()
	server.Close()
	for _, c := range []*Config{fast(ModeSingle, address), fast(ModeQuorum, address, "127.0.0.1:1", "127.0.0.1:2")} {
		out := &logs{}
		c.Logger = logTo(out)
		cl := open(t, c)
		if n := strings.Count(out.String(), "servers cannot serve elections yet"); n != 1 || !strings.Contains(out.String(), address) {
			t.Errorf("logged %d times: %s", n, out)
		}
		if err := cl.Check(t.Context(), "job"); !errors.Is(err, election.ErrUnreachable) {
			t.Errorf("Check gives %v", err)
		}
	}
	cl := open(t, fast(ModeSingle, address))
	noErr(t, server.Restart())
	lead(t, cl, "job")
}

// TestOpenWithOneMasterDown is no trouble for a quorum beyond a warning.
func TestOpenWithOneMasterDown(t *testing.T) {
	a, b := miniredis.RunT(t), miniredis.RunT(t)
	cl := open(t, fast(ModeQuorum, a.Addr(), b.Addr(), "127.0.0.1:1"))
	win(t, cl, "job")
}

func TestAuth(t *testing.T) {
	acl := writeFile(t, "user default on >"+hunter+" ~* &* +@all\nuser elector on >ei"+hunter+" ~incumbent:* &incumbent:* +@all\nuser narrow on >"+hunter+" ~incumbent:{job}:* &* +@all\n")
	server := redistest.StartT(t, redisproc.Options{ACLFile: acl})
	file := writeFile(t, "ei"+hunter+"\n")
	for name, tt := range map[string]struct {
		access Access
		want   error
	}{
		"password":       {Access{Password: hunter}, nil},
		"ACL user":       {Access{Username: "elector", Password: "ei" + hunter}, nil},
		"password file":  {Access{Username: "elector", PasswordFile: file}, nil},
		"narrow":         {Access{Username: "narrow", Password: hunter}, nil},
		"wrong password": {Access{Password: "wrong" + hunter}, election.ErrAuth},
		"none":           {Access{}, election.ErrAuth},
		"wrong user":     {Access{Username: "nobody", Password: hunter}, election.ErrAuth},
	} {
		t.Run(name, func(t *testing.T) {
			c := fast(ModeSingle, server.Addr())
			out := &logs{}
			c.Access, c.Logger = tt.access, logTo(out)
			cl := open(t, c)
			err := cl.Check(t.Context(), "job")
			if tt.want == nil {
				noErr(t, err)
				lead(t, cl, "job")
			} else if !errors.Is(err, tt.want) || election.Permanent(err) || !strings.Contains(out.String(), tt.want.Error()) {
				t.Errorf("got %v, want %v; logged %s", err, tt.want, out)
			}
			if strings.Contains(errorText(err)+out.String(), hunter) {
				t.Errorf("the password shows: %v; logged %s", err, out)
			}
		})
	}
}

// TestPermissionOnKeys is checked for a name that is given, since a user may be
// allowed some elections only.
func TestPermissionOnKeys(t *testing.T) {
	acl := writeFile(t, "user default on nopass ~incumbent:{job}:* &* +@all\n")
	out := &logs{}
	c := fast(ModeSingle, redistest.StartT(t, redisproc.Options{ACLFile: acl}).Addr())
	c.Logger, c.AssumeNew = logTo(out), false
	cl := open(t, c)
	if out.String() != "" {
		t.Errorf("logged %s", out)
	}
	noErr(t, cl.Check(t.Context(), "job"))
	if err := cl.Check(t.Context(), "other"); !errors.Is(err, election.ErrNoPermission) {
		t.Errorf("got %v, want %v", err, election.ErrNoPermission)
	}
	if err := cl.Check(t.Context(), "no name"); err == nil || errors.Is(err, election.ErrNoPermission) {
		t.Errorf("a bad name gives %v", err)
	}
}

// TestRefusedServers are those that no waiting makes fit (D12, D15).
func TestRefusedServers(t *testing.T) {
	plain := redistest.StartT(t, redisproc.Options{})
	host, port, _ := strings.Cut(plain.Addr(), ":")
	noEval := redistest.StartT(t, redisproc.Options{Args: []string{"rename-command", `EVAL ""`, "rename-command", `EVALSHA ""`}})
	noACL := redistest.StartT(t, redisproc.Options{ACLFile: writeFile(t, "user default on nopass ~* &* +@all -eval -evalsha\n")})
	member, member2 := redistest.StartT(t, redisproc.Options{Cluster: true}), redistest.StartT(t, redisproc.Options{Cluster: true})
	replica := func() string {
		return redistest.StartT(t, redisproc.Options{Args: []string{"replicaof", host + " " + port}}).Addr()
	}
	r1, r2 := replica(), replica()
	cluster := fast(ModeSingle, "")
	cluster.Single.Cluster.Addresses = []string{plain.Addr()}
	for name, tt := range map[string]struct {
		cfg    *Config
		kind   error
		remedy string
	}{
		"EVAL renamed":        {fast(ModeSingle, noEval.Addr()), election.ErrScriptsDisabled, "must allow EVAL"},
		"EVAL not granted":    {fast(ModeSingle, noACL.Addr()), election.ErrScriptsDisabled, "EVAL"},
		"member of a Cluster": {fast(ModeSingle, member.Addr()), election.ErrWrongClient, "use single.cluster.addresses"},
		"no Cluster":          {cluster, election.ErrWrongClient, "use single.address"},
		"replicas":            {fast(ModeQuorum, plain.Addr(), r1, r2), election.ErrReadOnly, "primary"},
		"members in a quorum": {fast(ModeQuorum, plain.Addr(), member.Addr(), member2.Addr()), election.ErrWrongClient, "independent masters"},
	} {
		t.Run(name, func(t *testing.T) {
			cl, err := tt.cfg.Open(t.Context())
			if err == nil {
				noErr(t, cl.Close())
				t.Fatalf("opened, want %v", tt.kind)
			}
			var m *election.MasterError
			if !errors.Is(err, tt.kind) || !errors.As(err, &m) || m.Master == "" || !strings.Contains(err.Error(), tt.remedy) {
				t.Errorf("got %v, want %v (%s)", err, tt.kind, tt.remedy)
			}
		})
	}
	t.Run("a master with replicas", func(t *testing.T) {
		lead(t, open(t, fast(ModeSingle, plain.Addr())), "job")
		other := func() string { return redistest.StartT(t, redisproc.Options{}).Addr() }
		lead(t, open(t, fast(ModeQuorum, plain.Addr(), other(), other())), "job3")
	})
	t.Run("one replica of three is a warning", func(t *testing.T) {
		out := &logs{}
		c := fast(ModeQuorum, plain.Addr(), r1, redistest.StartT(t, redisproc.Options{}).Addr())
		c.Logger, c.GuardsOff = logTo(out), election.AllGuards
		win(t, open(t, c), "job2")
		if !strings.Contains(out.String(), "master "+r1+": check: "+election.ErrReadOnly.Error()) {
			t.Errorf("logged %s", out)
		}
	})
	t.Run("one server under two names", func(t *testing.T) {
		_, err := fast(ModeQuorum, plain.Addr(), "[::ffff:127.0.0.1]:"+port, noEval.Addr()).Open(t.Context())
		if err == nil || !strings.Contains(err.Error(), `"[::ffff:127.0.0.1]:`+port+`": is the same server as quorum.masters[0] (`+plain.Addr()+")") {
			t.Errorf("got %v", err)
		}
		_, err = fast(ModeQuorum, plain.Addr(), "localhost:"+port, noEval.Addr()).Open(t.Context())
		if err == nil || !strings.Contains(err.Error(), `"localhost:`+port+`": is the same server as quorum.masters[0] (`+plain.Addr()+")") {
			t.Errorf("got %v", err)
		}
		alias, err := blackhole.New(plain.Addr())
		noErr(t, err)
		defer alias.Close()
		_, err = fast(ModeQuorum, plain.Addr(), alias.Addr(), noEval.Addr()).Open(t.Context())
		if !errors.Is(err, election.ErrSameServer) || !strings.Contains(err.Error(), "quorum.masters: master "+plain.Addr()+" and "+alias.Addr()+": ") {
			t.Errorf("got %v", err)
		}
	})
}

// TestCluster leads through a Cluster client.
func TestCluster(t *testing.T) {
	c := fast(ModeSingle, "")
	c.Single.Cluster.Addresses = []string{redistest.StartT(t, redisproc.Options{Cluster: true}).Addr()}
	cl := open(t, c)
	noErr(t, cl.Check(t.Context(), "job"))
	lead(t, cl, "job{x}")
}

// TestServerTooOld is case D18: the message has the version that is needed.
func TestServerTooOld(t *testing.T) {
	old, err := stub.NewServer("127.0.0.1:0")
	noErr(t, err)
	defer old.Close()
	noErr(t, old.Register("INFO", func(c *stub.Peer, _ string, _ []string) { c.WriteBulk("redis_version:2.6.0\r\nrole:master\r\n") }))
	cl, err := fast(ModeSingle, old.Addr().String()).Open(t.Context())
	if err == nil {
		noErr(t, cl.Close())
	}
	if !errors.Is(err, election.ErrServerTooOld) || !strings.Contains(err.Error(), "2.6.0") || !strings.Contains(err.Error(), "5.0.0") {
		t.Errorf("got %v", err)
	}
}

// TestCloseIsBounded: work that does not stop cannot hold Close for ever.
func TestCloseIsBounded(t *testing.T) {
	c := fast(ModeSingle, miniredis.RunT(t).Addr())
	c.Grace, c.Timeout = -1, 20*time.Millisecond
	cl, err := c.Open(t.Context())
	noErr(t, err)
	e, err := cl.Elector("job")
	noErr(t, err)
	started, stop, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_ = election.Run(context.Background(), e, func(context.Context, *election.Term) error {
			close(started)
			<-stop
			return nil
		})
	}()
	<-started
	if err := cl.Close(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	close(stop)
	<-ended
}

// TestSentinelsDown is a store that cannot be reached, under its own name.
func TestSentinelsDown(t *testing.T) {
	c := fast(ModeSingle, "")
	c.Single.Sentinel = Sentinel{Master: "mymaster", Addresses: []string{"127.0.0.1:1", "127.0.0.1:2"}}
	err := open(t, c).Check(t.Context(), "job")
	var m *election.MasterError
	if !errors.Is(err, election.ErrUnreachable) || !errors.As(err, &m) || m.Master != "mymaster (by Sentinel)" {
		t.Errorf("got %v", err)
	}
}

// TestDialer is used for every connection.
func TestDialer(t *testing.T) {
	target := miniredis.RunT(t).Addr()
	c := fast(ModeQuorum, "a", "b", "c")
	var mu sync.Mutex
	asked := map[string]bool{}
	c.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
		mu.Lock()
		asked[address] = true
		mu.Unlock()
		if _, bounded := ctx.Deadline(); !bounded {
			t.Error("a dial without a deadline")
		}
		return new(net.Dialer).DialContext(ctx, network, target)
	}
	noErr(t, open(t, c).Check(t.Context(), "job"))
	if len(asked) != 3 || !asked["a:6379"] {
		t.Errorf("asked for %v", asked)
	}
}

// TestElectorLogsItsElection: a process may have many electors, and lines of each say
// whose they are, unless the caller says otherwise.
func TestElectorLogsItsElection(t *testing.T) {
	common, own := &logs{}, &logs{}
	c := fast(ModeSingle, miniredis.RunT(t).Addr())
	c.Logger = logTo(common)
	cl := open(t, c)
	win := func(name string, change ...func(*election.Options)) {
		e, err := cl.Elector(name, change...)
		noErr(t, err)
		noErr(t, cl.Init(t.Context(), name))
		noErr(t, election.Run(t.Context(), e, func(context.Context, *election.Term) error { return nil }))
	}
	win("bridge")
	win("tunnel", func(o *election.Options) { o.Logger = logTo(own) })
	if text := common.String(); !strings.Contains(text, "election=bridge") || strings.Contains(text, "tunnel") {
		t.Errorf("logged %s", text)
	}
	if text := own.String(); text == "" || strings.Contains(text, "election=") {
		t.Errorf("its own logger has %q", text)
	}
}
