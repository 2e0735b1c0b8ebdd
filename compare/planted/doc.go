// Package planted breaks the protocol on purpose, to see that the harness notices.
//
// It does not show that there are no other bugs: only that checks which pass on the
// shipped code are able to fail, each for a reason that is known.
//
// Every file of bugs is one bug: which rule it breaks, where it was seen in a real
// library, which text of the source it replaces by which, and what is to find it: a
// check on runs of the virtual lab or, where no run of the lab can show it, a unit
// test. The source itself knows nothing of bugs. All of them are compiled into one
// program by way of an overlay of the go command, and one is switched on when that
// starts. A bug whose text is no longer found in the source fails a test: so none
// can rot.
//
// The same overlay counts rare branches. In the source they are comments, a line of
// its own each, "// rare: name". A run that reaches none of some name fails.
//
// docs/planted.md has the table. The package has no other use: it is all in its
// tests.
package planted
