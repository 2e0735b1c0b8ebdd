package browsertest

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// checks are scripts that return what is wrong with a page, in one view or in all.
var checks = []struct {
	name   string
	in     func(view) bool
	script string
}{
	{"nothing is wider than the page", always, overflow},
	{"the first screen is on the first screen", func(v view) bool { return v.width == 1280 }, firstScreen},
	{"text can be read on a phone", func(v view) bool { return v.width == 390 }, small},
	{"text stands out from what is behind it", func(v view) bool { return !v.print }, contrast},
	{"text in pictures is whole, and does not overlap", always, labels},
	{"pictures and tables say what they are", always, accessible},
}

func always(view) bool { return true }

// TestPages opens a page of a real comparison, and one full of hostile text, in all
// views, with everything that can be unfolded unfolded.
func TestPages(t *testing.T) {
	browser := start(t)
	for name, file := range map[string]string{"real": realPage(t), "hostile": hostilePage(t)} {
		for _, v := range views {
			t.Run(name+"/"+v.name, func(t *testing.T) { look(t, open(t, browser, file, v), name, file) })
		}
	}
}

// look checks a page that is open.
func look(t *testing.T, p *tab, name, file string) {
	p.picture(t, name)
	run := func() {
		for _, c := range checks {
			if !c.in(p.view) || name == "hostile" && c.script == firstScreen { // it has room for no novel
				continue
			}
			list := p.list(t, c.script)
			for i, complaint := range list {
				if i == 10 {
					t.Errorf("%s: and %d more", c.name, len(list)-i)
					break
				}
				t.Errorf("%s: %s", c.name, complaint)
			}
		}
	}
	run()
	if !p.view.print {
		p.list(t, unfold)
		p.picture(t, name+"-unfolded")
		run()
	}
	messages, requests := p.said()
	if len(messages) > 0 {
		t.Errorf("the browser says %q", messages)
	}
	for _, url := range requests {
		if url != "file://"+file && url != "data:," {
			t.Errorf("the page asks for %s", url)
		}
	}
	if len(requests) == 0 {
		t.Error("not even the page was asked for")
	}
}

// TestPrints makes a PDF, as a person would.
func TestPrints(t *testing.T) {
	p := open(t, start(t), realPage(t), views[0])
	pdf, err := chromedp.Run(p.ctx, chromedp.PrintToPDF(chromedp.PDFPaper(chromedp.PaperA4)))
	if err != nil || len(pdf) < 10_000 {
		t.Errorf("%d bytes, error %v", len(pdf), err)
	}
	save(t, "real.pdf", pdf)
}
