// Package sqltest runs the SQL guards of package fence on real databases:
// PostgreSQL, MariaDB and SQLite. It is a module of its own, so that drivers are
// no dependency of incumbent, and has nothing to import but its parts: dbproc
// starts the servers, mariadb connects to one.
//
// The tests skip a database whose server is not installed, unless
// INCUMBENT_REQUIRE_POSTGRES=1 or INCUMBENT_REQUIRE_MARIADB=1 forbids that.
package sqltest
