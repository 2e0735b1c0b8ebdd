// Package supervise runs a command that must be gone before a deadline which moves,
// whatever happens to the process that moves it.
//
// What it does not promise:
//
//   - Anything while the machine or its hypervisor is paused: the deadline passes and
//     nothing here runs. Only a fence at the resource helps.
//   - An end of what the kernel will not end: a process in uninterruptible sleep (a dead
//     NFS server, a broken disk), or one that has become another user's and may not be
//     signalled. It is reported, and the command counts as running until it is gone.
//   - An end of grandchildren when the agent and the watchdog are killed in the same
//     moment. On Linux the command itself goes; on macOS nothing does.
//   - Anything while agent and watchdog are both stopped, or one of them is and the other
//     was killed.
//   - To spare, should the watchdog die, orphans of children which the agent had before
//     (daemon & exec agent): they become its own like those of the command, and are killed.
//   - On macOS, an end of processes that left the command's process group.
//
// Three processes take part:
//
//	agent      knows the deadline, and starts
//	watchdog   in a session of its own, which starts
//	command    in a process group of its own, with whatever it starts
//
// The agent tells the watchdog each new deadline through a pipe. The watchdog alone
// signals the command: it asks it to end (SIGTERM) StepDown before the deadline, and
// ends it (SIGKILL) Margin before it, the group and on Linux every descendant, those too
// that have a session of their own. So the command is gone before the deadline
//
//   - when the agent is stopped, or hangs, or tells nothing: by the last deadline told;
//   - when the agent is killed: the pipe closes, SIGTERM follows at once;
//   - when the watchdog is killed: the kernel kills the command with it (Linux), the
//     agent sees the pipe close and kills the rest, which the kernel made its children;
//   - when the watchdog is stopped, or hangs: the agent does the same by itself half a
//     Margin later. It counts on no deadline that the watchdog has not confirmed, so a
//     watchdog that does not answer costs the command, and not the safety.
//
// # Numbers of processes
//
// A number may be another's once its process was reaped. So none is used after that:
//
//   - The command is not reaped before the agent has closed the pipe, which it does when
//     it will send no more signals. Until then the number of the group cannot be given
//     to others. Should the watchdog die, the agent inherits the command (Linux), and
//     reaps it last.
//   - Any other descendant is signalled through a pidfd which was opened before the
//     descent was looked up: descent from a parent that is still not reaped, which was
//     verified in the same way, up to a process whose only reaper is the caller. Where
//     the kernel has no pidfd, children of the caller alone are signalled: it alone
//     reaps them, and those below become its children as it goes on.
package supervise
