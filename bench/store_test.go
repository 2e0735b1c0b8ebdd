package bench_test

import (
	"context"
	"testing"

	"incumbent/bench"
	"incumbent/election"
)

// each runs a benchmark of an operation in every mode. On real servers it reports what
// one of them costs a master besides.
func each(b *testing.B, op string, f func(b *testing.B, s election.Store)) {
	for _, m := range modes(b) {
		b.Run("mode="+m.Name, func(b *testing.B) {
			b.ReportAllocs()
			f(b, store(b, m.Masters))
			if onReal() {
				reportCounts(b, m, op)
			}
		})
	}
}

func reportCounts(b *testing.B, m bench.Mode, op string) {
	b.Helper()
	c, err := bench.CountOne(context.Background(), addresses(b, m.Masters), m, op)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(c.Commands(), bench.UnitCommands)
	b.ReportMetric(c.ReceivedBytes, bench.UnitReceived)
	b.ReportMetric(c.SentBytes, bench.UnitSent)
}

func acquire(b *testing.B, s election.Store, bid election.Bid) election.Grant {
	b.Helper()
	g, err := s.Acquire(context.Background(), bid)
	if err != nil {
		b.Fatal(err)
	}
	return g
}

func release(b *testing.B, s election.Store, g election.Grant) {
	b.Helper()
	if _, err := s.Release(context.Background(), g); err != nil {
		b.Fatal(err)
	}
	settle(b, s)
}

// BenchmarkAcquire times winning a free lease; in quorum that is votes and seal.
func BenchmarkAcquire(b *testing.B) {
	each(b, bench.OpAcquire, func(b *testing.B, s election.Store) {
		var bids bidder
		release(b, s, acquire(b, s, bids.next())) // connects, checks and loads scripts
		for b.Loop() {
			g := acquire(b, s, bids.next())
			b.StopTimer()
			release(b, s, g)
			b.StartTimer()
		}
	})
}

// BenchmarkRenew times what a leader pays for each renewal.
func BenchmarkRenew(b *testing.B) {
	each(b, bench.OpRenew, func(b *testing.B, s election.Store) {
		var bids bidder
		g := acquire(b, s, bids.next())
		held := 0
		for b.Loop() {
			renewed, err := s.Renew(context.Background(), g)
			if err != nil {
				b.Fatal(err)
			}
			g = renewed
			held += g.Held
		}
		b.ReportMetric(float64(held)/float64(b.N), bench.UnitMasters)
		release(b, s, g)
	})
}

// BenchmarkRelease times giving a held lease back.
func BenchmarkRelease(b *testing.B) {
	each(b, bench.OpRelease, func(b *testing.B, s election.Store) {
		var bids bidder
		release(b, s, acquire(b, s, bids.next()))
		for b.Loop() {
			b.StopTimer()
			g := acquire(b, s, bids.next())
			settle(b, s)
			b.StartTimer()
			if _, err := s.Release(context.Background(), g); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			settle(b, s)
			b.StartTimer()
		}
	})
}

// BenchmarkFloor times what a renewal of one lease costs at least: a PING, and
// the script that people write by hand, with go-redis and without this library.
func BenchmarkFloor(b *testing.B) {
	addr := addresses(b, 1)[0]
	b.Run("op=ping", func(b *testing.B) {
		c := connect(b, addr)
		b.ReportAllocs()
		for b.Loop() {
			if err := c.Ping(context.Background()).Err(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("op=evalsha", func(b *testing.B) { floorRenewal(b, connect(b, addr)) })
}
