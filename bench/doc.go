// Package bench holds benchmarks of the two stores and of what they are
// measured against, for `go test -bench . ./bench`.
//
// What the figures do not promise: the embedded server that serves by default
// interprets Lua in Go and is an order of magnitude slower than Redis, so its
// times say nothing about a real server; compare modes within one run, by
// ratio. List real servers in INCUMBENT_BENCH_REDIS for times that mean
// something on your network. Failover and SplitBrain run in the virtual lab:
// their figures are simulated time, and do not depend on this machine.
//
// Sub-benchmarks are named key=value, so that benchstat puts modes side by side:
//
//	go test -run '^$' -bench . -count 10 ./bench | tee new.txt
//	go tool -modfile=tools/go.mod benchstat -col /mode new.txt
package bench

// ServersEnv lists real servers, separated by commas: the first serves mode
// single, the first three and five serve the quorums, where there are so many;
// modes with too few servers are left out. The benchmarks write
// under the key prefix "incumbent-bench" and remove what they wrote.
const ServersEnv = "INCUMBENT_BENCH_REDIS"

// Units that the benchmarks report besides Go's own.
const (
	// UnitFailover is the time from the fault to the start of the next term.
	UnitFailover = "failover-sec"
	// UnitOvershoot is the failover less the time that the lease still ran.
	UnitOvershoot = "overshoot-sec"
	// UnitOverlap is the time in which an earlier leader still acted.
	UnitOverlap = "act-overlap-sec"
	// UnitStale is how many acts of an earlier term a run attempted.
	UnitStale = "stale-attempted/run"
	// UnitUnfenced and UnitFenced are how many of them were accepted.
	UnitUnfenced = "stale-accepted-unfenced/run"
	UnitFenced   = "stale-accepted-fenced/run"
	// UnitMasters is how many masters confirmed.
	UnitMasters = "masters/op"
)
