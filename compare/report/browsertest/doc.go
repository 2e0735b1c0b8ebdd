// Package browsertest opens report.html in a real browser. It does not judge whether a
// page looks well: for that it writes pictures.
//
// Its tests need Chromium, which they look for under its usual names, and which may
// reach nothing: without it they are skipped, unless INCUMBENT_REQUIRE_CHROMIUM=1 is
// set. They are a module of their own, so that nobody else has to have what drives a
// browser.
//
//	go test ./... -screenshots /tmp/pictures
package browsertest
