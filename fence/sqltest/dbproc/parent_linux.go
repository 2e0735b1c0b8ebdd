package dbproc

import "syscall"

// dieWithParent lets the kernel kill the server with the test that started it.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
