// Package bench measures what the two stores cost on real servers, and what they
// are measured against, in one run: [Run], the program's "bench", and the
// benchmarks of `go test -bench . ./bench`.
//
// What the figures do not promise. A time is that of this machine, with what else
// ran on it, and of this network; on loopback both ends share its processors. Only
// ratios to a floor of the same run carry over to another machine, and those only
// roughly. A/A says how far two identical operations came out apart in this very
// run; two runs may differ by more, since memory is laid out anew. Counts are of an
// election without a fault or a rival, on connections that are open. On servers that
// others use as well, the server's counts include theirs.
//
// # How a run goes
//
// A plan is a list of operations: acquire, renew, release and acquire+release of each
// mode; floors, which do the same without this library; and redsync, for orientation.
// Each is prepared once. What it costs in commands, bytes and allocations is counted
// first, apart from the timing, so that no counter stands in the way of what is timed.
//
// Then come rounds. In each of them every operation has two short blocks, A and A',
// which are the same code on the same connections; all blocks of a round come in an
// order that is drawn anew from the seed. Garbage is collected between blocks, and in
// each of them the operation warms up first. So a machine that becomes slower is slower
// for all, and a floor is never further away than a round.
//
// # What a time is
//
// From the call to its return. A quorum returns with the majority; what the remaining
// masters answer is waited for before the next call, outside the time, as a leader
// that renews every third of a TTL does.
//
// # What is counted
//
// Commands that the client sent are counted where they leave it, by reading the
// requests. A server counts in "INFO commandstats" what it executed, and that includes
// what scripts call: the renewal of a lease is one EVALSHA that was sent, and a few
// commands more inside it. What the server counted less what was sent is therefore what
// ran inside scripts, as long as nobody else uses the server. Whether anybody does can
// be seen from the bytes: those of "INFO stats", less those of asking, are equal to
// those of the client's connections to the byte, or others were there too.
//
// # Benchmarks of go test
//
// The embedded server that serves them by default interprets Lua in Go and is an order
// of magnitude slower than Redis, so its times say nothing about a real server; compare
// modes within one run, by ratio. [ServersEnv] names real servers, or starts them.
// Failover and SplitBrain run in the virtual lab unless servers are named or started:
// their figures are simulated time, and do not depend on this machine.
//
// Sub-benchmarks are named key=value, so that benchstat puts modes side by side:
//
//	go test -run '^$' -bench . -count 10 ./bench | tee new.txt
//	go tool -modfile=tools/go.mod benchstat -col /mode new.txt
package bench

// ServersEnv lists real servers for the benchmarks, separated by commas: the first
// serves mode single, the first three and five serve the quorums, where there are so
// many; modes with too few servers are left out. [StartServers] instead of a list
// starts servers on loopback, and ends them. The benchmarks write under the key prefix
// [Prefix] and remove what they wrote.
const ServersEnv = "INCUMBENT_BENCH_REDIS"

// StartServers is the value of ServersEnv that starts servers.
const StartServers = "start"

// Prefix is what all keys start with.
const Prefix = "incumbent-bench"

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
	// UnitCommands is how many commands were sent to one master.
	UnitCommands = "commands/op"
	// UnitReceived and UnitSent are the bytes that one master received and sent.
	UnitReceived = "received-B/op"
	UnitSent     = "sent-B/op"
	// UnitFloor is how many times the time of the floor an operation took.
	UnitFloor = "x-floor"
	// UnitP50, UnitP90 and UnitP99 are quantiles of the time of an operation.
	UnitP50 = "p50-sec"
	UnitP90 = "p90-sec"
	UnitP99 = "p99-sec"
)
