package dbproc

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// RequireMariaDB names the environment variable that turns a skip for lack of
// MariaDB into a failure when it is "1".
const RequireMariaDB = "INCUMBENT_REQUIRE_MARIADB"

// StartMariaDB starts a MariaDB server with nothing in it, stops it when the test
// ends, and gives the path of its socket. Anybody may do anything there without
// a password; the mysql schema with the users is not there at all.
func StartMariaDB(tb testing.TB) (socket string) {
	tb.Helper()
	mariadbd := find(tb, "mariadbd", RequireMariaDB, "the package mariadb-server-core",
		"/usr/sbin", "/usr/libexec", "/usr/local/sbin", "/opt/homebrew/opt/mariadb*/bin")
	s := newServer(tb, "MariaDB", "mysql", "nobody", "postgres")
	data := filepath.Join(s.dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := s.user.own(data); err != nil {
		tb.Fatal(err)
	}
	socket = filepath.Join(s.dir, "sock")
	// The server greets whoever connects once it takes statements.
	ready := func(ctx context.Context) error {
		c, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
		if err != nil {
			return err
		}
		defer c.Close()
		_, err = c.Read(make([]byte, 1))
		return err
	}
	s.start(tb, syscall.SIGTERM, ready, mariadbd, "--no-defaults", "--datadir="+data, "--socket="+socket,
		"--pid-file="+filepath.Join(s.dir, "pid"), "--tmpdir="+s.dir, "--skip-networking", "--skip-grant-tables",
		"--max-connections=300", "--back-log=300", "--character-set-server=utf8mb4", "--innodb-lock-wait-timeout=20",
		"--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0", "--innodb-buffer-pool-size=16M",
		"--innodb-log-file-size=8M", "--innodb-use-native-aio=0")
	return socket
}
