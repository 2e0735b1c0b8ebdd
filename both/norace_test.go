//go:build !race

package both_test

// fewer is 1 without the race detector, which slows a simulation.
const fewer = 1
