// Package dbproc starts database servers for tests: each in a temporary folder,
// reached by a unix socket in it alone, with settings that keep nothing safe
// from a crash, and ended by its process id when the test ends.
//
// It does not make a missing server an error by default: such a test is skipped
// with one line. With RequirePostgres or RequireMariaDB set to 1 it fails.
//
// The binaries are looked for in PATH and where Debian and others put them. As
// root, which PostgreSQL refuses to run as, the servers run as the user
// postgres, mysql or nobody, whichever is there.
package dbproc
