package main

import (
	"strings"

	"github.com/spf13/cobra"

	"incumbent/bench"
	"incumbent/compare/fault"
	"incumbent/compare/lab/local"
	"incumbent/compare/lab/remote"
	"incumbent/compare/lab/virtual"
	"incumbent/config"
	"incumbent/election"
)

// modesOfConfig are the modes that a file can name.
func modesOfConfig() []cobra.Completion {
	return []cobra.Completion{string(config.ModeSingle), string(config.ModeQuorum), string(config.ModeBoth)}
}

// guardsOfStores are the words of guards_off.
func guardsOfStores() []cobra.Completion {
	return append(strings.Split(election.AllGuards.String(), ","), "all")
}

// modesOfBench are those that can be measured.
func modesOfBench() (list []cobra.Completion) {
	for _, m := range bench.Modes() {
		list = append(list, m.Name)
	}
	return list
}

// modesOfCompare are those of a comparison that somebody is likely to want.
func modesOfCompare() []cobra.Completion {
	return []cobra.Completion{"single", "quorum3", "quorum5", "quorum7", "quorum9"}
}

// faultNames are all faults, with what they do.
func faultNames() (list []cobra.Completion) {
	for _, f := range fault.All() {
		list = append(list, cobra.CompletionWithDesc(f.Name, f.About))
	}
	return list
}

// faultWords are all faults, and what stands for several of them.
func faultWords() []cobra.Completion {
	return append([]cobra.Completion{
		cobra.CompletionWithDesc(fault.Every, "all faults"),
		cobra.CompletionWithDesc(fault.Leader, "faults of the leader"),
		cobra.CompletionWithDesc(fault.Store, "faults of the store"),
	}, faultNames()...)
}

// faultCounts are the beginnings of entries of --runs-of.
func faultCounts() (list []cobra.Completion) {
	for _, f := range fault.All() {
		list = append(list, cobra.CompletionWithDesc(f.Name+"=", f.About))
	}
	return list
}

// labNames are the labs of a comparison.
func labNames() []cobra.Completion {
	return []cobra.Completion{
		cobra.CompletionWithDesc(virtual.Lab, "simulated"),
		cobra.CompletionWithDesc(local.Name, "real servers and processes on this machine"),
		cobra.CompletionWithDesc(local.SentinelName, "one primary, and Sentinels that promote its replicas"),
		cobra.CompletionWithDesc(remote.Name, "endpoints of your own"),
	}
}

// linkNames are the links of simulated runs.
func linkNames() (list []cobra.Completion) {
	for _, l := range virtual.Links() {
		list = append(list, l.Name)
	}
	return list
}
