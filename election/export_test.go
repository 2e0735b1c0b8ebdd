package election

// The arithmetic of time, for the tests in package election_test.
var (
	Drift      = drift
	DeadlineOf = deadline
	TryTimeout = tryTimeout
	RenewAfter = renewAfter
)

// Queue is an observer's queue, to be filled without an elector.
func Queue(f func(Event)) (send func(Event)) {
	e := &events{f: f}
	return e.send
}
