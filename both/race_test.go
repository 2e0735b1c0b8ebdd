//go:build race

package both_test

// fewer is by how much the race detector slows a simulation.
const fewer = 10
