package remote_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"incumbent/compare/history"
	"incumbent/compare/lab/local"
	"incumbent/compare/lab/remote"
	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

// TestSingle plays at one server, where somebody else has keys under the same prefix.
func TestSingle(t *testing.T) {
	t.Parallel()
	s := redistest.StartT(t, redisproc.Options{})
	c := admin(t, s.Addr())
	noErr(t, c.Set(t.Context(), "incumbent:{job}:lease", "somebody's", 0).Err())
	set := load(t, remote.Options{Path: file(t, "mode: single\nsingle:\n  address: %s\nttl: 500ms\n", s.Addr())})
	runs, p := play(t, set, "resign", "pause", "slow-link", "lossy-link", "lost-reply")
	judged(t, runs)
	if got := c.Get(t.Context(), "incumbent:{job}:lease").Val(); got != "somebody's" {
		t.Errorf("a key of somebody else is %q", got)
	}
	noErr(t, c.Del(t.Context(), "incumbent:{job}:lease").Err())
	empty(t, c)
	f := p.Figures()
	if len(f.RTT) != 1 || f.RTT[0].N != 10 || f.RTT[0].Min <= 0 || f.RTT[0].Max < f.RTT[0].P99 {
		t.Errorf("round trips are %+v", f.RTT)
	}
	if len(f.Renewal) != 1 || f.Renewal[0].Requests != 1 || f.Renewal[0].Sent < 100 || f.Renewal[0].Received < 10 {
		t.Errorf("renewals are %+v", f.Renewal)
	}
}

// TestBothModes: a file with both sections is played in both, each with its own
// masters. Faults of links to some of the masters are among them.
func TestBothModes(t *testing.T) {
	t.Parallel()
	var addrs []any
	for range 4 {
		addrs = append(addrs, redistest.StartT(t, redisproc.Options{}).Addr())
	}
	set := load(t, remote.Options{
		Path: file(t, "mode: quorum\nttl: 500ms\nprefix: mine\nsingle:\n  address: %s\nquorum:\n  masters:\n    - %s\n    - %s\n    - %s\n", addrs...),
	})
	if m := set.Modes(); len(m) != 2 || m[0].Kind != "single" || m[1].Kind != "quorum" || m[1].Masters != 3 || set.Prefix != "mine" {
		t.Fatalf("modes are %+v", m)
	}
	runs, p := play(t, set, "crash", "partition", "partition-majority", "master-partition")
	judged(t, runs)
	for _, a := range addrs {
		empty(t, admin(t, a.(string)))
	}
	if f := p.Figures(); len(f.RTT) != 4 || len(f.Renewal) != 2 || f.Renewal[1].Requests != 3 {
		t.Errorf("figures are %+v", f)
	}
}

// TestSentinel: a primary whose address Sentinels tell. A partition cuts a candidate off
// from all of them.
func TestSentinel(t *testing.T) {
	t.Parallel()
	primary := redistest.StartT(t, redisproc.Options{})
	sentinel := redistest.StartT(t, redisproc.Options{Sentinel: &redisproc.Sentinel{
		Name: "mine", Primary: primary.Addr(), Quorum: 1, DownAfter: 5 * time.Second, FailoverTimeout: time.Minute,
	}})
	set := load(t, remote.Options{
		Path: file(t, "mode: single\nsingle:\n  sentinel:\n    master: mine\n    addresses: [%s]\nttl: 500ms\n", sentinel.Addr()),
	})
	runs, _ := play(t, set, "resign", "partition")
	judged(t, runs)
	empty(t, admin(t, primary.Addr()))
}

// TestCluster: keys of an election share a slot, and nodes are found by asking.
func TestCluster(t *testing.T) {
	t.Parallel()
	s := redistest.StartT(t, redisproc.Options{Cluster: true})
	set := load(t, remote.Options{Path: file(t, "mode: single\nsingle:\n  cluster:\n    addresses: [%s]\nttl: 500ms\n", s.Addr())})
	runs, _ := play(t, set, "partition")
	judged(t, runs)
	empty(t, admin(t, s.Addr()))
}

// TestCalledOff: keys are removed when the context ends in the middle of a run.
func TestCalledOff(t *testing.T) {
	t.Parallel()
	s := redistest.StartT(t, redisproc.Options{})
	set := load(t, remote.Options{Path: file(t, "mode: single\nsingle:\n  address: %s\nttl: 2s\n", s.Addr())})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := admin(t, s.Addr())
	go func() {
		for ctx.Err() == nil { // until the second election, that of the run, has begun
			if keys, _ := c.Keys(ctx, "*-1}:lease").Result(); len(keys) > 0 {
				cancel()
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	p := &remote.Player{Set: set, ID: remote.NewID(set.Elections(1)), Samples: 2}
	spec := local.Spec{Mode: "single", Masters: 1, Fault: "pause", Guards: history.GuardsOn, TTL: set.TTL, Candidates: 2}
	err := p.Play(ctx, []local.Spec{spec}, func(int, history.Run, error) { t.Error("the run was finished") })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	empty(t, c)
}
