//go:build !unix

package main

import "os"

// heed does nothing: no command is run here.
func (r *runner) heed() (stop func()) { return func() {} }

// fromTerminal is not asked here.
func fromTerminal(*os.File) bool { return false }
