// Package proof pauses real leaders between a check and a write, and counts what
// a real PostgreSQL, a real Redis and a real HTTP service make of the writes that
// come late. It has nothing to import: all of it is tests.
//
// What it does not promise. A run cannot be replayed, since the operating system
// decides who runs when. No late write accepted in n tries says that their share
// is, with 95 % confidence, at most 1 - 0.05^(1/n), and no more. Stamps are
// CLOCK_MONOTONIC of one host. A candidate waits for one byte of the test where
// another program would run from its check into its write: that is where it is
// stopped, and any other program may be, only more rarely.
//
// One pause goes like this. Candidates are processes of their own. The leader
// asks its term, hears that it is valid, says so, and waits for its byte. The
// test stops it with SIGSTOP and puts the byte where it will find it. The other
// candidate wins the lease once that has run out, raises the guards, and writes.
// SIGCONT then lets the old leader go on, exactly between its check and its
// write: it writes to each resource once past the guard and once through it.
// Everything else (elector, guards, clients, servers) is what a service would
// run.
//
//	go test -run Pauses -v ./proof               # 24 pauses
//	go test -run Pauses -v ./proof -pauses=300   # with a table at the end
//	go test -run Pauses ./proof -timeline=testdata/pause.txt,testdata/pause.svg
//
// Other tests wake the old leader while the next one has written nothing yet,
// with and without raised guards, and stop a leader inside of a transaction.
//
// The tests skip without redis-server or postgres, unless
// INCUMBENT_REQUIRE_REDIS=1 or INCUMBENT_REQUIRE_POSTGRES=1 forbids that.
package proof
