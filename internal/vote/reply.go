package vote

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"incumbent/election"
)

// Reply is a script's answer.
type Reply struct {
	// Status is the script's own word: granted, held, guarded, sealed, lost,
	// regressed, renewed, taken, expired, reseated, released, state, ready, asked,
	// free, other.
	Status string
	// Now is the server's time.
	Now time.Time
	// Token is the granted token, or the record's highest one.
	Token election.Token
	// Value is the lease's content where it is not ours.
	Value string
	// Holder is who holds it.
	Holder election.Leader
	// Left is the lease's time left, NoExpiry if it would never expire; or the
	// time that guards still refuse.
	Left time.Duration
	// Guards are those that refused.
	Guards election.StoreGuards
	// Stands is true when a grant is not to be used, but stands at the master.
	Stands bool
	// RunID is the server's own, where its script looked; "" if hidden.
	RunID string
	// Note is what the script has to say about its guards: hidden, restless.
	Note string
	// Asked is the request to hand over that a renewal brought; nil if there is none.
	Asked *election.HandOver
	// Waiting is how many subscribers a release reached.
	Waiting int
}

// NoExpiry is the time left of a lease without one.
const NoExpiry = time.Duration(-1)

var errReply = errors.New("reply that no script of ours gives")

// parse reads the flat array that every script answers with.
func parse(raw []any) (Reply, error) {
	f := fields(raw)
	r := Reply{Status: f.text(0), Now: time.UnixMilli(f.number(1))}
	if r.Status == "" || len(raw) < 2 {
		return r, errReply
	}
	switch r.Status {
	case "corrupt":
		return r, fmt.Errorf("%w: the record holds no readable token", election.ErrForeignKey)
	case "spent":
		return r, fmt.Errorf("%w: the next token would not fit in 53 bits", election.ErrTokenSpent)
	case "released":
		r.Waiting = int(f.number(2))
		return r, nil
	case "renewed":
		r.Asked = asked(f.text(3))
		return r, nil
	}
	r.Token = f.token(2)
	if r.Status == "granted" && r.Token == 0 {
		return r, errReply
	}
	if len(raw) < 8 {
		return r, nil
	}
	r.RunID, r.Note = f.text(8), f.text(9)
	if r.Status == "guarded" {
		r.Guards, r.Left = guards(f.text(5)), millis(max(f.number(4), 1))
		return r, nil
	}
	r.Value = f.text(3)
	switch left := f.number(4); {
	case r.Value == "":
	case left < 0:
		r.Left = NoExpiry
	default:
		// A key is there until its last millisecond is over: 0 is not free yet.
		r.Left = millis(max(left, 1))
	}
	r.Holder = holder(f.text(5), f.number(6), f.number(7), r.Left)
	return r, nil
}

// holder reads who a record names. A record written by something else yields a
// leader without a name, never an error: it is for people to read.
func holder(text string, token, ttl int64, left time.Duration) election.Leader {
	l := election.Leader{
		Token: election.Token(max(token, 0)), TTL: millis(ttl), Left: max(left, 0),
	}
	if err := json.Unmarshal([]byte(text), &l.Candidate); err != nil {
		l.Candidate = election.Candidate{}
	}
	return l
}

// fields reads array elements that may be strings or integers, and may be missing.
type fields []any

func (f fields) text(i int) string {
	if i >= len(f) {
		return ""
	}
	switch v := f[i].(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return ""
}

func (f fields) number(i int) int64 {
	n, err := strconv.ParseFloat(f.text(i), 64)
	if err != nil || !(n >= -1 && n <= float64(election.MaxToken)) { // nor is NaN a number
		return 0
	}
	return int64(n)
}

// longestTime bounds a time that a master tells: a record written by something else may
// hold one that no Duration can, and which would come out negative.
const longestTime = 100 * 365 * 24 * time.Hour

// millis is so many milliseconds, at least none and at most longestTime.
func millis(n int64) time.Duration {
	return time.Duration(min(max(n, 0), int64(longestTime/time.Millisecond))) * time.Millisecond
}

// token is a number that is not negative: -1 would become the largest of all.
func (f fields) token(i int) election.Token { return election.Token(max(f.number(i), 0)) }
