//go:build unix

package dbproc

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// account is whom a server runs as. nil is whoever this process runs as.
type account struct{ uid, gid int }

// findAccount gives the first user of names that there is, if this process is
// root's, and nil else.
func findAccount(names ...string) (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range names {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(u.Uid)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.Atoi(u.Gid)
		return &account{uid, gid}, err
	}
	return nil, fmt.Errorf("as root it needs another user to run a server as: one of %q", names)
}

func (a *account) own(dir string) error {
	if a == nil {
		return nil
	}
	return os.Chown(dir, a.uid, a.gid)
}

func (a *account) attr() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true} // ^C at a terminal does not reach it
	dieWithParent(attr)
	if a != nil {
		attr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	return attr
}
