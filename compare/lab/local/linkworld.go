package local

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"incumbent/compare/history"
	"incumbent/internal/blackhole"
)

// What the lab does to links and to replies.

// link is the proxy between a candidate and a master.
func (l *Lab) link(name string, master int) (*place, *blackhole.Proxy, error) {
	c, err := l.running(name)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case master < 0 || master >= len(l.places):
		return nil, nil, fmt.Errorf("local: master %d: there are %d, from 0 on", master, len(l.places))
	case !l.opt.Proxies:
		return nil, nil, errNoProxies
	}
	return l.places[master], l.proxies[c.slot][master], nil
}

// links are all proxies of a candidate.
func (l *Lab) links(name string) ([]*blackhole.Proxy, error) {
	c, err := l.running(name)
	switch {
	case err != nil:
		return nil, err
	case !l.opt.Proxies:
		return nil, errNoProxies
	}
	return l.proxies[c.slot], nil
}

// CutFrom implements fault.StoreWorld.
func (l *Lab) CutFrom(name string, master int) error {
	p, proxy, err := l.link(name, master)
	if err != nil {
		return err
	}
	l.note(p.name, "cut off from "+name)
	proxy.Cut()
	return nil
}

// HealFrom implements fault.StoreWorld. What was held up on the way is lost, and
// connections from before are reset.
func (l *Lab) HealFrom(name string, master int) error {
	p, proxy, err := l.link(name, master)
	if err != nil {
		return err
	}
	l.note(p.name, "within reach of "+name)
	if err := l.farReplies(name, cmdKeepReply, master); err != nil {
		return err
	}
	proxy.KeepReplies()
	proxy.Heal()
	return nil
}

// Slow implements fault.StoreWorld.
func (l *Lab) Slow(name string, ttls float64) error {
	links, err := l.links(name)
	if err != nil {
		return err
	}
	d := l.ttls(ttls)
	text := "its links are as fast as before"
	if d > 0 {
		text = "its links are slower by " + d.Round(time.Microsecond).String() + " each way"
	}
	l.note(name, text)
	for _, p := range links {
		p.Delay(blackhole.Requests, d)
		p.Delay(blackhole.Replies, d)
	}
	return nil
}

// Lose implements fault.StoreWorld. A proxy cannot lose what TCP carries: each
// chunk is late instead, by 200 ms, 400 ms and so on with that probability each, as
// if it had been sent again.
func (l *Lab) Lose(name string, share float64) error {
	links, err := l.links(name)
	if err != nil {
		return err
	}
	text := "its links are as good as before"
	if share > 0 {
		text = fmt.Sprintf("its links lose %s %% of what they carry", strconv.FormatFloat(100*share, 'f', 0, 64))
	}
	l.note(name, text)
	for _, p := range links {
		p.Lose(share)
	}
	return nil
}

// LoseReply implements fault.StoreWorld.
func (l *Lab) LoseReply(name string, master int, reset bool) error {
	p, proxy, err := l.link(name, master)
	if err != nil {
		return err
	}
	l.note(p.name, "loses its next reply to "+name)
	switch {
	case l.opt.Far != nil && reset:
		return l.farReplies(name, cmdResetReply, master)
	case l.opt.Far != nil:
		return l.farReplies(name, cmdMuteReply, master)
	case reset:
		proxy.ResetReplyTo(isScript)
	default:
		proxy.MuteReplyTo(isScript)
	}
	return nil
}

// isScript reports whether bytes on their way to a master have it run a script.
func isScript(request []byte) bool {
	return bytes.Contains(request, []byte("evalsha")) || bytes.Contains(request, []byte("EVALSHA"))
}

// done does something to a master, and records it once it is done, with the time at which
// it began. What fails, or finds nobody to strike, is not recorded.
func (l *Lab) done(actor, text string, do func() error) error {
	at := monotonic()
	err := do()
	if err == nil {
		l.say(history.Event{At: at, Actor: actor, Kind: history.Note, Name: text})
	}
	return err
}

// note records what happens to a master or to a candidate.
func (l *Lab) note(actor, text string) {
	l.say(history.Event{Actor: actor, Kind: history.Note, Name: text})
}
