package timeline

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"incumbent/compare/fault"
	"incumbent/compare/history"
	"incumbent/compare/measure"
)

// Width is how many columns a line has at most.
const Width = 100

// Write writes the timeline of a run, then its figures and the rules that it broke.
// The same run gives the same text. The error is that of w.
func Write(w io.Writer, run history.Run) error {
	t := &teller{run: run, terms: map[string]*term{}, idle: map[string]*idle{}}
	t.head()
	events := slices.Clone(run.Events)
	history.Sort(events)
	for _, ev := range events {
		t.event(ev)
	}
	t.flush()
	t.figures()
	_, err := w.Write(t.out.Bytes())
	return err
}

// teller writes a run.
type teller struct {
	run   history.Run
	out   bytes.Buffer
	terms map[string]*term // by actor, the latest
	begun uint64           // token of the term that began last
	since time.Duration    // and when
	idle  map[string]*idle // by actor, what is not yet said
}

// term is what is known of an actor's latest term.
type term struct {
	token    uint64
	deadline time.Duration
	ended    bool
}

// idle is what an actor did that is no news.
type idle struct {
	token         uint64
	acts, renewed int
	fenced        int // of the acts, those that a fence refuses
	refused       []refusal
	last          time.Duration // when it did so last
}

// refusal is why bids were refused, and how many.
type refusal struct {
	why string
	n   int
}

// head says what was played.
func (t *teller) head() {
	r := t.run
	mode := r.Mode
	if r.Mode != "single" {
		mode = fmt.Sprintf("%s%d", r.Mode, r.Masters)
	}
	parts := []string{mode, r.Fault, "guards " + r.Guards, "TTL " + r.TTL.String()}
	add := func(show bool, format string, args ...any) {
		if show {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(r.Candidates > 0, "%d candidates", r.Candidates)
	add(r.Renew > 0, "renewed every %s", r.Renew)
	add(r.Link != "", "%s links", r.Link)
	add(r.Loss > 0, "loss %v", r.Loss)
	add(r.Drift > 0, "drift %v %%", r.Drift)
	add(true, "seed %d, %s lab", r.Seed, r.Lab)
	t.wrap("", strings.Join(parts, ", "))
	if len(r.Steps) > 0 {
		t.wrap("", "steps: "+strings.Join(r.Steps, ", ")+" (failover is from the first one on)")
	}
	if f, err := fault.ByName(r.Fault); err == nil && f.Store {
		t.wrap("", "what befalls masters before the first FAULT prepares for it")
	}
	fmt.Fprintf(&t.out, "\n%10s  %-*s %s\n", "ms", whoWidth, "who", "what")
}

const whoWidth = 13

// line writes one line of the timeline, or as many as the text needs. mark makes it
// stand out: one column before who.
func (t *teller) line(at time.Duration, mark, who, format string, args ...any) {
	begin := fmt.Sprintf("%10s %1s%-*s ", column(at), mark, whoWidth, who)
	t.wrap(begin, fmt.Sprintf(format, args...))
}

// wrap writes a text after a beginning, below which it goes on.
func (t *teller) wrap(begin, text string) {
	indent := utf8.RuneCountInString(begin)
	t.out.WriteString(begin)
	column := indent
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n > Width:
			t.out.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			t.out.WriteByte(' ')
			column++
		}
		t.out.WriteString(word)
		column += n
	}
	t.out.WriteByte('\n')
}

// ms is a time in milliseconds with three decimals, without the zeros at the end.
func ms(d time.Duration) string {
	s := fmt.Sprintf("%.3f", float64(d)/float64(time.Millisecond))
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// column is ms with all its decimals, so that points stand below each other.
func column(d time.Duration) string { return fmt.Sprintf("%.3f", float64(d)/float64(time.Millisecond)) }

// long is for how long something was.
func long(d time.Duration) string { return ms(d) + " ms" }

// event tells one event.
func (t *teller) event(ev history.Event) {
	switch ev.Kind {
	case history.Checked, history.MasterDown, history.MasterUp: // of masters the lab's notes tell
	case history.Acted:
		t.acted(ev)
	case history.Renewed:
		t.renewed(ev)
	case history.TermStarted:
		t.started(ev)
	case history.TermStopping:
		t.say(ev, "", "stops its work%s", because(ev.Err))
	case history.TermEnded:
		t.ended(ev)
	case history.Fault:
		t.fault(ev)
	case history.Healed:
		t.say(ev, "-", "HEALED: %s", ev.Name)
	case history.Note:
		t.note(ev)
	default:
		t.say(ev, "", "%s %s%s", string(ev.Kind), ev.Name, because(ev.Err))
	}
}

// say writes a line for an event, after all that was not said yet.
func (t *teller) say(ev history.Event, mark, format string, args ...any) {
	t.flush()
	t.line(ev.At, mark, ev.Actor, format, args...)
}

func because(err string) string {
	if err == "" {
		return ""
	}
	return ": " + err
}

// quiet are notes that nobody misses.
var quiet = []string{"campaign-started"}

// note tells what a lab or an elector had to say.
func (t *teller) note(ev history.Event) {
	switch {
	case slices.Contains(quiet, ev.Name):
	case ev.Name == "bid-refused":
		t.of(ev).refuse(ev.Err)
	case ev.Name == "term-released":
		t.say(ev, "", "gives its lease back%s", because(ev.Err))
	case ev.Name == "renew-failed":
		t.say(ev, "", "a renewal fails%s", because(ev.Err))
	default:
		t.say(ev, "", "%s%s", ev.Name, because(ev.Err))
	}
}

// fault tells of a fault.
func (t *teller) fault(ev history.Event) {
	text := "the lease had " + long(ev.Floor) + " left"
	if ev.Floor == 0 {
		text = "the lease is free"
	}
	t.say(ev, "*", "FAULT %s: %s", ev.Name, text)
}

// started tells of a term, and of all that are still valid.
func (t *teller) started(ev history.Event) {
	t.say(ev, "", "LEADS by token %d, until %s", ev.Token, ms(ev.Deadline))
	var rivals []string
	for actor, other := range t.terms {
		if actor != ev.Actor && !other.ended && other.deadline > ev.At {
			rivals = append(rivals, actor)
		}
	}
	slices.Sort(rivals)
	for _, actor := range rivals {
		other := t.terms[actor]
		t.line(ev.At, "!", ev.Actor, "OVERLAP: %s believes to lead as well, by token %d, until %s", actor, other.token, ms(other.deadline))
	}
	t.terms[ev.Actor] = &term{token: ev.Token, deadline: ev.Deadline}
	t.begun, t.since = ev.Token, ev.At
}

// renewed counts a renewal. Of one beside a later term it tells.
func (t *teller) renewed(ev history.Event) {
	own := t.terms[ev.Actor]
	if own != nil {
		own.deadline = max(own.deadline, ev.Deadline)
	}
	if ev.Token != t.begun {
		t.say(ev, "!", "RENEWS token %d until %s, though a later term began %s ago", ev.Token, ms(ev.Deadline), long(ev.At-t.since))
		return
	}
	t.of(ev).renewed++
}

// ended tells that a term is over.
func (t *teller) ended(ev history.Event) {
	if own := t.terms[ev.Actor]; own != nil && own.token == ev.Token {
		own.ended = true
	}
	t.say(ev, "", "leads no more%s", because(ev.Err))
}

// acted counts an act. Of one of an earlier term it tells.
func (t *teller) acted(ev history.Event) {
	if ev.Token == t.begun {
		i := t.of(ev)
		i.acts++
		if !ev.Fenced {
			i.fenced++ // a later leader than that of a larger token: see measure.Promise
		}
		return
	}
	verdict := "REFUSED BY THE FENCE"
	if ev.Fenced {
		verdict = "a fence takes it, too: it has seen nothing of the later term yet"
	}
	t.say(ev, "!", "STALE ACT by token %d arrives %s after a later term began: %s", ev.Token, long(ev.At-t.since), verdict)
}

// of is what an actor does that is no news.
func (t *teller) of(ev history.Event) *idle {
	i := t.idle[ev.Actor]
	if i == nil || i.token != ev.Token {
		i = &idle{token: ev.Token}
		t.idle[ev.Actor] = i
	}
	i.last = ev.At
	return i
}

// refuse counts a bid that was refused.
func (i *idle) refuse(why string) {
	for k := range i.refused {
		if i.refused[k].why == why {
			i.refused[k].n++
			return
		}
	}
	i.refused = append(i.refused, refusal{why, 1})
}

// flush tells what was no news so far, in order of time.
func (t *teller) flush() {
	var actors []string
	for actor, i := range t.idle {
		if i.acts+i.renewed+len(i.refused) > 0 {
			actors = append(actors, actor)
		}
	}
	slices.SortFunc(actors, func(a, b string) int { return cmp.Or(cmp.Compare(t.idle[a].last, t.idle[b].last), cmp.Compare(a, b)) })
	for _, actor := range actors {
		t.line(t.idle[actor].last, "", actor, "%s", t.idle[actor])
	}
	clear(t.idle)
}

// String says what was done.
func (i *idle) String() string {
	var parts []string
	if i.renewed > 0 {
		parts = append(parts, fmt.Sprintf("renewed %dx", i.renewed))
	}
	switch {
	case i.acts > 0 && i.fenced == 0:
		parts = append(parts, fmt.Sprintf("acts %dx, all taken", i.acts))
	case i.acts > 0:
		parts = append(parts, fmt.Sprintf("acts %dx, the fence refuses %d", i.acts, i.fenced))
	}
	for _, r := range i.refused {
		parts = append(parts, fmt.Sprintf("bids %dx: %s", r.n, r.why))
	}
	return strings.Join(parts, ", ")
}

// figures tells what was measured, and which rules were broken.
func (t *teller) figures() {
	f := measure.Of(t.run)
	fmt.Fprintf(&t.out, "\n%10s  end\n\n", column(t.run.Length))
	switch {
	case f.FailedOver:
		t.wrap("", fmt.Sprintf("failover %s, overshoot %s, leaderless %s", long(f.Failover), long(f.Overshoot), long(f.Leaderless)))
	case f.Kept:
		t.wrap("", "the leader outlived it")
	default:
		t.wrap("", fmt.Sprintf("no successor, leaderless %s", long(f.Leaderless)))
	}
	switch {
	case f.Elected:
		t.wrap("", fmt.Sprintf("store outage %s, election after it %s", long(f.Outage), long(f.Election)))
	case f.StoreOut:
		t.wrap("", "store outage "+long(f.Outage))
	}
	t.wrap("", fmt.Sprintf("overlap of beliefs %s, of acts %s", long(f.BeliefOverlap), long(f.ActOverlap)))
	t.wrap("", fmt.Sprintf("%d acts; %d stale, of which a resource without a fence took %d, one with a fence %d",
		f.Acts, f.StaleAttempted, f.StaleAcceptedUnfenced, f.StaleAcceptedFenced))
	if l := t.run.Load; l.Span > 0 {
		t.wrap("", fmt.Sprintf("in %s masters executed %d commands of the leader and %d of %d standbys", l.Span, l.Leader, l.Standby, l.Standbys))
	}
	broken := measure.Check(t.run)
	switch {
	case len(broken) > 0:
	case f.BeliefOverlap > 0 && !measure.Promises(t.run).Belief:
		t.wrap("", fmt.Sprintf("no rule is broken: nothing rules two leaders out under %s with guards %s", t.run.Fault, t.run.Guards))
	default:
		t.wrap("", "no rule is broken")
	}
	for _, v := range broken {
		t.wrap("BROKEN: ", v.String())
	}
}
