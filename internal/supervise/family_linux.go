package supervise

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// inherit makes the kernel give descendants of this process that lose their parent to
// it, and not to process 1.
func inherit() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("%w: PR_SET_CHILD_SUBREAPER: %w", ErrUnsupported, err)
	}
	if _, err := readMember(os.Getpid()); err != nil {
		return fmt.Errorf("%w: /proc is needed: %w", ErrUnsupported, err)
	}
	if _, listed := ownChildren(); !listed {
		mounts, err := os.ReadFile("/proc/self/mountinfo")
		if err != nil || bytes.Contains(mounts, []byte("hidepid=")) {
			return fmt.Errorf("%w: /proc hides processes (hidepid), and the kernel lists no children", ErrUnsupported)
		}
	}
	return nil
}

// childAttr is for the command: a group of its own, and death with its watchdog.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// rename gives this process a short name, which tools like killall match.
func rename(name string) { _ = os.WriteFile("/proc/self/comm", []byte(name), 0) } // for people only

// self is the path of the running program, also when its file was replaced meanwhile.
func self() (string, error) { return "/proc/self/exe", nil }

// children lists the direct children of this process.
func children() map[int]bool {
	found := map[int]bool{}
	kids, _ := scan() // without /proc nothing is supervised
	for _, m := range kids[os.Getpid()] {
		found[m.pid] = true
	}
	own, _ := ownChildren()
	for _, pid := range own {
		found[pid] = true
	}
	return found
}

// left lists living members. Those that are dead it reaps, if they are this process's own
// children, but for the leader.
//
// An empty list proves that nothing is left: a child of root that is there when the look
// at all processes begins is seen, since nobody but the caller reaps it; without children
// of root there are no descendants; and what was reaped makes the look be repeated. /proc
// may hide processes (hidepid, ProtectProc=), but not from the list of a process's own
// children.
func (f *family) left() ([]member, error) {
	if some, _ := f.sort(f.walk()); len(some) > 0 {
		return some, nil
	}
	for {
		kids, err := scan()
		if err != nil {
			return nil, err
		}
		if alive, again := f.sort(f.unseen(f.below(kids))); !again {
			return alive, nil
		}
	}
}

// unseen adds to a list the children of this process that it lacks, if that is root.
func (f *family) unseen(list []member) []member {
	if !f.owned() {
		return list
	}
	seen := map[int]bool{}
	for _, m := range list {
		seen[m.pid] = true
	}
	// Asked before the kernel's list is read: once the leader is dead, its children are
	// in that list.
	ended := f.leader > 1 && hasEnded(f.leader)
	own, _ := ownChildren()
	for _, pid := range own {
		if seen[pid] || f.spare[pid] {
			continue
		}
		m := f.child(pid)
		if pid == f.leader {
			m.dead = ended
		}
		list = append(list, m)
	}
	return list
}

// child is a child of this process. It is there, also if /proc does not show it: only
// this process reaps it.
func (f *family) child(pid int) member {
	if m, err := readMember(pid); err == nil {
		return m
	}
	group, _ := syscall.Getpgid(pid) // 0 is no group
	return member{pid: pid, parent: os.Getpid(), group: group, dead: hasEnded(pid), state: "?", name: "(hidden)"}
}

// hasEnded reports whether a child of this process waits to be reaped.
func hasEnded(pid int) bool {
	ended, _, err := peek(pid)
	return err == nil && ended == pid
}

// sort reaps the dead members of a list. It reports whether there were any.
func (f *family) sort(list []member) (alive []member, reaped bool) {
	for _, m := range list {
		switch {
		case m.pid == f.leader && m.dead:
		case m.parent == f.root && f.owned() && m.dead:
			if _, ok := reap(m.pid); ok {
				reaped = true
			}
		case !m.dead:
			alive = append(alive, m)
		}
	}
	return alive, reaped
}

// walk lists the descendants of root, parents first. It costs as much as there are of them,
// and not as there are processes: signals that are due must not wait. The kernel's lists
// may lack some while others end; where it has no such lists, all processes are looked at.
func (f *family) walk() (list []member) {
	list = f.add(list, f.root)
	for i := 0; i < len(list); i++ {
		list = f.add(list, list[i].pid)
	}
	if len(list) == 0 { // none, or no lists
		kids, _ := scan() // what is not seen is seen by left
		return f.below(kids)
	}
	return list
}

// add adds the children of a process to a list.
func (f *family) add(list []member, parent int) []member {
	kids, _ := listed(parent)
	for _, pid := range kids {
		if parent == f.root && f.spare[pid] {
			continue
		}
		if parent == os.Getpid() {
			list = append(list, f.child(pid))
		} else if m, err := readMember(pid); err == nil && m.parent == parent {
			list = append(list, m)
		}
	}
	return list
}

// ownChildren is the kernel's list of this process's children. It lacks none, since
// nobody else reaps any. ok is false where the kernel has no such lists.
func ownChildren() (pids []int, ok bool) { return listed(os.Getpid()) }

// listed is the kernel's list of a process's children. ok is false if there is none.
func listed(parent int) (pids []int, ok bool) {
	dir := "/proc/" + strconv.Itoa(parent) + "/task/"
	threads, _ := os.ReadDir(dir) // the process may have ended
	for _, t := range threads {
		text, err := os.ReadFile(dir + t.Name() + "/children")
		ok = ok || err == nil // a thread may have ended
		for _, word := range bytes.Fields(text) {
			if pid, err := strconv.Atoi(string(word)); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids, ok
}

// below lists the descendants of root, parents first.
func (f *family) below(kids map[int][]member) []member {
	var list []member
	for _, m := range kids[f.root] {
		if !f.spare[m.pid] {
			list = append(list, m)
		}
	}
	for i := 0; i < len(list); i++ {
		list = append(list, kids[list[i].pid]...)
	}
	return list
}

// signalBelow sends signals, one after the other, to every descendant of root, but for
// those to skip or to whom they were sent before.
func (f *family) signalBelow(sent map[int]bool, skip func(member) bool, signals ...syscall.Signal) {
	for range 5 { // while some have got another parent between two looks
		if f.signalSure(skip, sent, signals) {
			return
		}
	}
}

// signalSure sends signals to those whose descent can be proved, once. It reports whether
// that was all of them.
func (f *family) signalSure(skip func(member) bool, sent map[int]bool, signals []syscall.Signal) (all bool) {
	sure := pins{f.root: -1}
	defer sure.close()
	list := f.walk()
	for _, m := range list { // before any of them ends and its children have another parent
		sure.pin(m)
	}
	all = true
	for _, m := range list {
		fd, pinned := sure[m.pid]
		if skip(m) || m.dead || sent[m.pid] {
			continue
		}
		own := m.parent == os.Getpid() // nobody else reaps it: it needs no pidfd
		if all = all && (pinned || own); !pinned && !own {
			continue
		}
		for _, sig := range signals { // whoever has ended needs none
			if pinned {
				_ = unix.PidfdSendSignal(fd, sig, nil, 0)
			} else {
				_ = syscall.Kill(m.pid, sig)
			}
		}
		sent[m.pid] = true
	}
	return all
}

// pins are file descriptors of processes which are proved to descend from a root. The
// root has -1: the caller sees to it that it is not reaped.
type pins map[int]int

// pin proves that m is a child of a process that is pinned already. The order matters:
// its pidfd is opened before its parent is looked up, and the parent is there after
// that, so the number meant that parent at the time. Should m itself have been another
// process before, then the pidfd is that one's, which is gone: nobody gets the signal.
func (p pins) pin(m member) {
	parent, ok := p[m.parent]
	if !ok {
		return
	}
	fd, err := unix.PidfdOpen(m.pid, 0)
	if err != nil {
		return
	}
	now, err := readMember(m.pid)
	if err != nil || now.parent != m.parent || parent >= 0 && unix.PidfdSendSignal(parent, 0, nil, 0) != nil {
		_ = unix.Close(fd) // read only
		return
	}
	p[m.pid] = fd
}

func (p pins) close() {
	for _, fd := range p {
		if fd >= 0 {
			_ = unix.Close(fd) // read only
		}
	}
}

// scan lists all processes by the number of their parent.
func scan() (map[int][]member, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }() // read only
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	kids := map[int][]member{}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if m, err := readMember(pid); err == nil { // else it has been reaped, or is hidden
			kids[m.parent] = append(kids[m.parent], m)
		}
	}
	return kids, nil
}

var errFormat = errors.New("unexpected format")

// readMember reads /proc/PID/stat: number, name in brackets, which may contain any byte,
// state, parent, group; the 20th field is how many threads there are.
func readMember(pid int) (member, error) {
	name := "/proc/" + strconv.Itoa(pid) + "/stat"
	text, err := os.ReadFile(name)
	if err != nil {
		return member{}, err
	}
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return member{}, fmt.Errorf("%s: %w", name, errFormat)
	}
	fields := bytes.Fields(text[end+1:])
	if len(fields) < 18 {
		return member{}, fmt.Errorf("%s: %w", name, errFormat)
	}
	m := member{pid: pid, name: string(text[open+1 : end]), state: string(fields[0])}
	var errs [3]error
	var threads int
	m.parent, errs[0] = strconv.Atoi(string(fields[1]))
	m.group, errs[1] = strconv.Atoi(string(fields[2]))
	threads, errs[2] = strconv.Atoi(string(fields[17]))
	if err := errors.Join(errs[:]...); err != nil {
		return member{}, fmt.Errorf("%s: %w", name, err)
	}
	// A process whose first thread has ended looks dead while others run.
	m.dead = (m.state == "Z" || m.state == "X") && threads <= 1
	return m, nil
}
