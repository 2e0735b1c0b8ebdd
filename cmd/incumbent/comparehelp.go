package main

import (
	"fmt"
	"strings"

	"incumbent/compare/decide"
	"incumbent/compare/fault"
)

const compareExample = `  incumbent compare --quick
  incumbent compare --out results                              then open results/report.html
  incumbent compare --slo 'failover=10s,overlap=0,fence=yes' --ttl 9s
  incumbent compare --faults pause-write --runs 1000 --table
  incumbent compare --modes single,quorum3 --link zone --loss 0.01 --drift 0.5
  incumbent compare --faults store --guards on --runs 2000     evidence for the guards
  incumbent compare --faults random --runs 5000                schedules of 3 to 8 faults
  incumbent compare --schedule docs/examples/restart-during-pause.yaml
  incumbent compare --lab local --ttl 1s --faults crash,pause --runs 5 --runs-of crash=50
  incumbent compare --lab sentinel --ttl 1s                    promotions by real Sentinels
  incumbent compare --lab remote --config incumbent.yaml --dry-run
  incumbent compare --lab remote --config incumbent.yaml --ttl 2s --out results
  incumbent report results/results.txt                         medians and p-values`

// aboutCompare is the long help of "incumbent compare".
func aboutCompare() string {
	return aboutFaults() + `
Which lab plays what: virtual all of them; local all but suspend, and clock-back and clock-jump only
where libfaketime is installed; sentinel, in mode single, failover, failover-twice, failover-acks,
old-primary and old-primary-acks; remote those that strike candidates and their connections, never a
server: calm, resign, crash, pause, pause-write, partition, slow-link, lossy-link, master-partition,
partition-majority, lost-reply. See docs/remote.md.

Limits for --slo, separated by commas:
` + decide.About() + `
Exit code: 0 all is well; 1 a rule was broken or a run failed (the seed and the command that
replays it are printed); 2 wrong usage; 3 no mode keeps the limits of --slo; 4 too little was played
to tell; 130 interrupted, after what there was has been written.`
}

// aboutFaults lists all faults, and what they do.
func aboutFaults() string {
	var b strings.Builder
	for _, group := range []string{fault.Leader, fault.Store} {
		fmt.Fprintf(&b, "\nFaults of the %s:\n", group)
		for _, f := range fault.All() {
			if f.Store == (group == fault.Store) {
				fmt.Fprintf(&b, "  %-18s %s\n", f.Name, f.About)
			}
		}
	}
	return b.String()
}
