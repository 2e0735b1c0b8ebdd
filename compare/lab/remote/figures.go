package remote

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"incumbent/election"
	"incumbent/internal/vote"
)

// Figures are what was measured beside the runs, while nothing was wrong. They are
// part of summary.json.
type Figures struct {
	RTT     []RTT     `json:"rtt"`
	Renewal []Renewal `json:"renewal"`
	// Floors says where the time that a struck leader's lease still had comes from:
	// PTTL, or Deadline.
	Floors string `json:"floors"`
	// Keys is the pattern of all keys that were written.
	Keys string `json:"keys"`
	// Removed is what became of them.
	Removed Removed `json:"removed"`
}

// Where floors come from.
const (
	FloorPTTL     = "PTTL at the masters"
	FloorDeadline = "the leader's own deadline, since a master does not permit PTTL"
)

// An RTT is how long a master takes for a PING, in milliseconds.
type RTT struct {
	Mode   string `json:"mode"`
	Master string `json:"master"`
	Times
}

// A Renewal is what it costs to renew a lease in one mode, at all masters together.
type Renewal struct {
	Mode    string `json:"mode"`
	Masters int    `json:"masters"`
	Times
	// Requests, and bytes each way as they pass on the network, TLS included.
	Requests float64 `json:"requests"`
	Sent     float64 `json:"bytes_sent"`
	Received float64 `json:"bytes_received"`
}

// Times are in milliseconds. Each is a value that occurred.
type Times struct {
	N   int     `json:"n"`
	Min float64 `json:"min_ms"`
	P50 float64 `json:"p50_ms"`
	P90 float64 `json:"p90_ms"`
	P99 float64 `json:"p99_ms"`
	Max float64 `json:"max_ms"`
}

// sample is a list of times in ascending order.
type sample []time.Duration

func rttOf(took []time.Duration) sample { return slices.Sorted(slices.Values(took)) }

// p is the smallest time that at least that share of all does not exceed; 0 of none.
func (s sample) p(share float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	return s[max(int(math.Ceil(share*float64(len(s))-1e-9)), 1)-1]
}

func (s sample) times() Times {
	ms := func(share float64) float64 { return float64(s.p(share)) / float64(time.Millisecond) }
	return Times{len(s), ms(0), ms(0.5), ms(0.9), ms(0.99), ms(1)}
}

const (
	// Samples is how many PINGs and renewals are measured, one every Pace.
	Samples = 200
	// Pace keeps what is measured from being a load.
	Pace   = 10 * time.Millisecond
	warmUp = 5
)

// rtt measures all masters at once.
func (s *Set) rtt(ctx context.Context, n int) (list []RTT, err error) {
	for _, t := range s.targets {
		servers := t.client.Servers()
		took := make([]sample, len(servers))
		var wg sync.WaitGroup
		for i, server := range servers {
			wg.Go(func() { took[i] = rttOf(pings(ctx, server, n, Pace)) })
		}
		wg.Wait()
		for i, server := range servers {
			if len(took[i]) == 0 && ctx.Err() == nil {
				err = errors.Join(err, fmt.Errorf("remote: %s answers no PING", server.Name))
			}
			list = append(list, RTT{string(t.mode), server.Name, took[i].times()})
		}
	}
	return list, errors.Join(err, ctx.Err())
}

// renewal measures renewals of the named election, which it initialises and gives
// back. It says whether floors can be asked for.
func (t *target) renewal(ctx context.Context, name string, n int) (r Renewal, floors string, err error) {
	if err := t.client.Init(ctx, name); err != nil {
		return r, "", err
	}
	store, err := t.client.Store(name)
	if err != nil {
		return r, "", err
	}
	g, err := store.Acquire(ctx, t.bid())
	if err != nil {
		return r, "", err
	}
	floors = t.floors(ctx, name)
	r = Renewal{Mode: string(t.mode), Masters: g.Masters}
	var took []time.Duration
	var before reading
	for i := range warmUp + n {
		if i == warmUp {
			before = t.meter.read()
		}
		begin := time.Now()
		if g, err = store.Renew(ctx, g); err != nil {
			return r, floors, fmt.Errorf("renewal: %w", err)
		}
		if i >= warmUp {
			took = append(took, time.Since(begin))
		}
		if !pause(ctx, begin.Add(Pace)) {
			return r, floors, ctx.Err()
		}
	}
	r.Times = rttOf(took).times()
	r.count(t.meter.read().since(before), n)
	_, err = store.Release(ctx, g)
	return r, floors, errors.Join(err, store.Settle(ctx))
}

// bid is one that nobody else makes.
func (t *target) bid() election.Bid {
	return election.Bid{
		Value: rand.Text(), TTL: t.cfg.TTL, MaxTTL: t.cfg.MaxTTL, Candidate: election.Candidate{ID: "compare", Instance: rand.Text()},
	}
}

// count shares what was counted out among n renewals.
func (r *Renewal) count(c reading, n int) {
	each := func(all int64) float64 { return float64(all) / float64(n) }
	r.Requests, r.Sent, r.Received = each(c.requests), each(c.sent), each(c.received)
}

// floors asks all masters for the time that a lease has left.
func (t *target) floors(ctx context.Context, name string) string {
	keys, err := vote.NewKeys(t.cfg.Prefix, name)
	if err != nil {
		return FloorDeadline
	}
	for _, s := range t.client.Servers() {
		if err := s.Client.PTTL(ctx, keys.Lease).Err(); err != nil {
			return FloorDeadline
		}
	}
	return FloorPTTL
}

// hear subscribes to wake-ups as a standby does, and returns once it stands.
func (t *target) hear(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, 4*t.timeout())
	defer cancel()
	store, err := t.client.Store(name)
	if err != nil {
		return err
	}
	hints, err := store.Released(ctx)
	if err != nil {
		return err
	}
	select {
	case <-hints:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: grant +subscribe and the channels &%s:{*}:released (see docs/remote.md)", ErrDeaf, t.cfg.Prefix)
	}
}

// ErrDeaf is the error of masters that let nobody subscribe to wake-ups.
var ErrDeaf = errors.New("standbys cannot subscribe to wake-ups")

// timeout is what a call may take.
func (t *target) timeout() time.Duration {
	if t.cfg.Timeout > 0 {
		return t.cfg.Timeout
	}
	return min(time.Second, t.cfg.TTL/4)
}
