package supervise

import "os"

// WatchdogPID is the number of the watchdog.
func (c *Command) WatchdogPID() int { return c.proc.Process.Pid }

// IsDead reports whether a process has ended, be it reaped or not.
func IsDead(pid int) bool {
	m, err := readMember(pid)
	return os.IsNotExist(err) || err == nil && m.dead
}

// Children are the direct children of a process.
func Children(pid int) (list []int) {
	kids, _ := scan()
	for _, m := range kids[pid] {
		list = append(list, m.pid)
	}
	return list
}
