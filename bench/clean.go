package bench

// A CleanError says that keys or servers of a run may be left.
type CleanError struct {
	// Err is why they could not be removed.
	Err error
}

// Error implements error.
func (e *CleanError) Error() string { return "clean up: " + e.Err.Error() }

// Unwrap returns Err.
func (e *CleanError) Unwrap() error { return e.Err }

// cleaned makes the error of cleaning up a *CleanError. nil stays nil.
func cleaned(err error) error {
	if err == nil {
		return nil
	}
	return &CleanError{err}
}
