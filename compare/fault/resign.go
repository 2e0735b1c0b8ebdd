package fault

// resign is no fault but the best case: a deployment that stops its leader
// politely.
func resign() Fault {
	return Fault{
		Name:     "resign",
		About:    "the leader ends its work and gives its lease back",
		Releases: true,
		Strike: func(w World) (func() error, error) {
			return nil, w.Resign(w.Leader())
		},
	}
}
