package bench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
)

// Counts is what an operation costs, as a mean of several, and of its masters.
type Counts struct {
	// Sent are the commands that the client sent to a master, by name.
	Sent map[string]float64 `json:"sent"`
	// Executed are those that a master executed, as its commandstats count: what was
	// sent, what scripts called, and what other clients sent.
	Executed map[string]float64 `json:"executed"`
	// ReceivedBytes and SentBytes are what a master received and sent on the client's
	// connections.
	ReceivedBytes float64 `json:"received_bytes"`
	SentBytes     float64 `json:"sent_bytes"`
	// ServerReceived and ServerSent are the same as the server counted it. They are
	// larger where other clients use the server.
	ServerReceived float64 `json:"server_received_bytes"`
	ServerSent     float64 `json:"server_sent_bytes"`
}

// Commands is how many commands were sent to a master.
func (c Counts) Commands() float64 { return sum(c.Sent) }

// Inside is how many commands scripts called at a master. It is known only if nobody
// else used the servers: see Alone.
func (c Counts) Inside() float64 { return sum(c.Executed) - sum(c.Sent) }

// Alone reports whether the servers and the client counted the same bytes: nobody else
// used the servers.
func (c Counts) Alone() bool {
	return c.ReceivedBytes == c.ServerReceived && c.SentBytes == c.ServerSent
}

func sum(m map[string]float64) (s float64) {
	for _, v := range m {
		s += v
	}
	return s
}

const (
	warmUps = 3  // that are not counted
	counted = 10 // operations that commands and bytes are counted of
	heaped  = 41 // operations that allocations are counted of
)

// count counts commands and bytes of an operation; meters are those of its masters.
func count(ctx context.Context, o *operation, meters []*meter) (Counts, error) {
	var total reading
	err := o.block(ctx, func() error {
		for i := range warmUps + counted {
			r, err := countOnce(ctx, o, meters)
			if err != nil {
				return err
			}
			if i >= warmUps {
				total.server.add(r.server)
				total.client.add(r.client)
			}
		}
		return nil
	})
	if err != nil {
		return Counts{}, fmt.Errorf("%s: %w", o, err)
	}
	n := float64(counted * len(meters))
	return Counts{
		Sent: means(total.client.commands, n), Executed: means(total.server.commands, n),
		ReceivedBytes: float64(total.client.received) / n, SentBytes: float64(total.client.sent) / n,
		ServerReceived: float64(total.server.received) / n, ServerSent: float64(total.server.sent) / n,
	}, nil
}

func means(counts map[string]int64, n float64) map[string]float64 {
	m := map[string]float64{}
	for name, k := range counts {
		m[name] = float64(k) / n
	}
	return m
}

// countOnce does the operation once, and says what all its masters counted together.
func countOnce(ctx context.Context, o *operation, meters []*meter) (total reading, err error) {
	if err := call(ctx, o.before); err != nil {
		return total, err
	}
	before, err := readAll(ctx, meters)
	if err != nil {
		return total, err
	}
	if err := o.do(ctx); err != nil {
		return total, err
	}
	if err := call(ctx, o.settle); err != nil {
		return total, err
	}
	after, err := readAll(ctx, meters)
	if err != nil {
		return total, err
	}
	for i := range meters {
		d := after[i].minus(before[i])
		total.server.add(d.server)
		total.client.add(d.client)
	}
	return total, call(ctx, o.after)
}

func readAll(ctx context.Context, meters []*meter) ([]reading, error) {
	var all []reading
	for _, m := range meters {
		r, err := m.read(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// Heap is what an operation allocates, as medians.
type Heap struct {
	Allocs uint64 `json:"allocs"`
	Bytes  uint64 `json:"bytes"`
}

// allocations counts what an operation allocates, what it leaves under way included.
func allocations(ctx context.Context, o *operation) (Heap, error) {
	var allocs, bytes []uint64
	err := o.block(ctx, func() error {
		for i := range warmUps + heaped {
			h, err := heapOnce(ctx, o)
			if err != nil {
				return err
			}
			if i >= warmUps {
				allocs, bytes = append(allocs, h.Allocs), append(bytes, h.Bytes)
			}
		}
		return nil
	})
	if err != nil {
		return Heap{}, fmt.Errorf("%s: %w", o, err)
	}
	slices.Sort(allocs)
	slices.Sort(bytes)
	return Heap{allocs[len(allocs)/2], bytes[len(bytes)/2]}, nil
}

// heapOnce does the operation once, and says what it allocated.
func heapOnce(ctx context.Context, o *operation) (Heap, error) {
	if err := call(ctx, o.before); err != nil {
		return Heap{}, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := o.do(ctx)
	if err == nil {
		err = call(ctx, o.settle)
	}
	runtime.ReadMemStats(&after)
	if err != nil {
		return Heap{}, err
	}
	return Heap{after.Mallocs - before.Mallocs, after.TotalAlloc - before.TotalAlloc}, call(ctx, o.after)
}
