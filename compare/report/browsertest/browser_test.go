package browsertest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var screenshots = flag.String("screenshots", "", "write pictures of all pages to this directory")

// require is the variable that makes a missing browser a failure.
const require = "INCUMBENT_REQUIRE_CHROMIUM"

// browsers are the names of programs that will do, and where macOS has one.
var browsers = []string{
	"chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
}

// chromium finds the browser.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range browsers {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv(require) == "1" {
		t.Fatal("Chromium is not in PATH, and " + require + "=1 is set")
	}
	t.Skip("Chromium is not in PATH: install it, as with apt-get install chromium")
	return ""
}

// start starts a browser with an empty profile, which ends with the test.
func start(t *testing.T) context.Context {
	t.Helper()
	var options []chromedp.ExecAllocatorOption
	options = append(options, chromedp.ExecPath(chromium(t)), chromedp.UserDataDir(t.TempDir()))
	for _, name := range []string{
		"headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking",
		"disable-component-update", "disable-sync", "hide-scrollbars", "disable-dev-shm-usage",
	} {
		options = append(options, chromedp.Flag(name, true))
	}
	// A browser that reached out would fail to: all names and addresses lead nowhere.
	options = append(options, chromedp.Flag("proxy-server", "127.0.0.1:9"), chromedp.Flag("proxy-bypass-list", "<-loopback>"))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("starting Chromium: %v", err)
	}
	return ctx
}

// A view is a way to look at a page.
type view struct {
	name          string
	width, height int64
	dark, print   bool
}

// views are all that are tried. A4 less its margins is 703 pixels wide.
var views = []view{
	{"1280-light", 1280, 800, false, false},
	{"1280-dark", 1280, 800, true, false},
	{"390-light", 390, 844, false, false},
	{"390-dark", 390, 844, true, false},
	{"print", 703, 1000, false, true},
}

// A tab is a page in a view, and what the browser said of it.
type tab struct {
	ctx  context.Context
	view view

	mu       sync.Mutex
	messages []string // of the console, warnings and worse
	requests []string
}

// open opens a file in a view.
func open(t *testing.T, browser context.Context, file string, v view) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	p := &tab{ctx: ctx, view: v}
	if err := chromedp.Listen(ctx, p.heard); err != nil {
		t.Fatal(err)
	}
	p.ctx, cancel = context.WithTimeout(ctx, time.Minute) // the tab was opened without one
	t.Cleanup(cancel)
	media := emulation.SetEmulatedMediaParams{Media: "screen", Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "light"}}}
	if v.dark {
		media.Features[0].Value = "dark"
	}
	if v.print {
		media.Media = "print"
	}
	_, err1 := chromedp.Call(p.ctx, network.Enable, network.EnableParams{})
	_, err2 := chromedp.Call(p.ctx, log.Enable, cdp.Empty{})
	_, err3 := chromedp.Call(p.ctx, runtime.Enable, cdp.Empty{})
	_, err4 := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, media)
	err := errors.Join(err1, err2, err3, err4, chromedp.Do(p.ctx, chromedp.EmulateViewport(v.width, v.height), chromedp.Navigate("file://"+file)))
	if err != nil {
		t.Fatalf("opening %s: %v", file, err)
	}
	return p
}

// heard notes what the browser says.
func (p *tab) heard(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			p.messages = append(p.messages, fmt.Sprintf("%s: %s", e.Entry.Level, e.Entry.Text))
		}
	case *runtime.EventConsoleAPICalled:
		p.messages = append(p.messages, fmt.Sprintf("console.%s", e.Type))
	case *runtime.EventExceptionThrown:
		p.messages = append(p.messages, "exception: "+e.ExceptionDetails.Text)
	}
}

// said returns what was noted.
func (p *tab) said() (messages, requests []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.messages...), append([]string(nil), p.requests...)
}

// list runs a script that returns a list of complaints.
func (p *tab) list(t *testing.T, script string) []string {
	t.Helper()
	list, err := chromedp.Run(p.ctx, chromedp.Evaluate[[]string]("(() => {"+helpers+"return "+script+"})()"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// picture writes what is seen to the directory of pictures, if there is one: all of the
// page, and what is on the screen at first.
func (p *tab) picture(t *testing.T, page string) {
	t.Helper()
	if *screenshots == "" {
		return
	}
	for name, take := range map[string]chromedp.Action[[]byte]{"first": chromedp.CaptureScreenshot(), "all": chromedp.FullScreenshot(100)} {
		png, err := chromedp.Run(p.ctx, take)
		if err != nil {
			t.Fatal(err)
		}
		save(t, strings.Join([]string{page, p.view.name, name}, "-")+".png", png)
	}
}
