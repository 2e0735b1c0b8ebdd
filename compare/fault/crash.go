package fault

// crash is a SIGKILL, an out-of-memory kill, a lost machine: nothing is said to
// anybody, and nobody comes back.
func crash() Fault {
	return Fault{
		Name:  "crash",
		Kills: 1,
		About: "the leader's process dies without a word",
		Strike: func(w World) (func() error, error) {
			return nil, w.Kill(w.Leader())
		},
	}
}
