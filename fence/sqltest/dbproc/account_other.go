//go:build !unix

package dbproc

import "syscall"

// account is whom a server runs as: always whoever this process runs as.
type account struct{}

func findAccount(...string) (*account, error) { return nil, nil }
func (a *account) own(string) error           { return nil }
func (a *account) attr() *syscall.SysProcAttr { return nil }
