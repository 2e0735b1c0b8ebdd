package vote

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"incumbent/election"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name string
		raw  []any
		want Reply
		err  error
	}{
		{"granted", []any{"granted", int64(5), "7"}, Reply{Status: "granted", Now: ms(5), Token: 7}, nil},
		{"the largest token", []any{"granted", int64(5), "9007199254740991"}, Reply{Status: "granted", Now: ms(5), Token: election.MaxToken}, nil},
		{"granted without a token", []any{"granted", int64(5), "0"}, Reply{}, errReply},
		{"granted what is no number", []any{"granted", int64(5), "nan"}, Reply{}, errReply},
		{"granted too much", []any{"granted", int64(5), "9007199254740993"}, Reply{}, errReply},
		{"held", []any{"held", int64(5), "7", "v", int64(900), `{"id":"ann"}`, "6", "1000"}, Reply{
			Status: "held", Now: ms(5), Token: 7, Value: "v", Left: 900 * time.Millisecond,
			Holder: election.Leader{Candidate: election.Candidate{ID: "ann"}, Token: 6, TTL: time.Second, Left: 900 * time.Millisecond},
		}, nil},
		{"held in its last millisecond", []any{"held", int64(5), "7", "v", int64(0), "", "0", "0"}, Reply{
			Status: "held", Now: ms(5), Token: 7, Value: "v", Left: time.Millisecond, Holder: election.Leader{Left: time.Millisecond},
		}, nil},
		{"held for ever", []any{"held", int64(5), "7", "v", int64(-1), "", "0", "0"}, Reply{
			Status: "held", Now: ms(5), Token: 7, Value: "v", Left: NoExpiry,
		}, nil},
		{"a holder that nobody can read", []any{"held", int64(5), "7", "v", int64(1), `{"id":`, "-4", "x"}, Reply{
			Status: "held", Now: ms(5), Token: 7, Value: "v", Left: time.Millisecond, Holder: election.Leader{Left: time.Millisecond},
		}, nil},
		{"guarded for longer than a time can be", []any{"guarded", int64(5), "7", "", int64(9300000000000), "r", "0", "0"}, Reply{
			Status: "guarded", Now: ms(5), Token: 7, Guards: election.RestartGuard, Left: longestTime,
		}, nil},
		{"held by one with such a TTL", []any{"held", int64(5), "7", "v", int64(1), "", "0", "9300000000000"}, Reply{
			Status: "held", Now: ms(5), Token: 7, Value: "v", Left: time.Millisecond,
			Holder: election.Leader{TTL: longestTime, Left: time.Millisecond},
		}, nil},
		{"free", []any{"state", int64(5), "", "", int64(-2), "", "", "", "", "", "", "", ""}, Reply{Status: "state", Now: ms(5)}, nil},
		{"released", []any{"released", int64(5), int64(3)}, Reply{Status: "released", Now: ms(5), Waiting: 3}, nil},
		{"a negative record", []any{"expired", int64(5), "-1"}, Reply{Status: "expired", Now: ms(5)}, nil},
		{"corrupt", []any{"corrupt", int64(5)}, Reply{}, election.ErrForeignKey},
		{"spent", []any{"spent", int64(5)}, Reply{}, election.ErrTokenSpent},
		{"empty", nil, Reply{}, errReply},
		{"too short", []any{"granted"}, Reply{}, errReply},
		{"no status", []any{nil, int64(5), "7"}, Reply{}, errReply},
	} {
		got, err := parse(tt.raw)
		if !errors.Is(err, tt.err) || err == nil && !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, %v\nwant %+v, %v", tt.name, got, err, tt.want, tt.err)
		}
	}
}

func ms(n int64) time.Time { return time.UnixMilli(n) }

// Whatever a server answers: no panic, no token out of range, no time left that
// is negative but for the one that says never.
func FuzzParse(f *testing.F) {
	f.Add("granted", int64(1), "2", "", int64(0), "", "0", "0", 8)
	f.Add("held", int64(1), "nan", "v", int64(-1), `{"id":"a"}`, "-1", "1e300", 8)
	f.Add("released", int64(-1), "-1", "v", int64(-2), "", "inf", "", 3)
	f.Fuzz(func(t *testing.T, status string, now int64, last, value string, left int64, holder, own, ttl string, n int) {
		raw := []any{status, now, last, value, left, holder, own, ttl}
		if n >= 0 && n < len(raw) {
			raw = raw[:n]
		}
		r, err := parse(raw)
		if err != nil {
			return
		}
		if r.Token > election.MaxToken || r.Holder.Token > election.MaxToken || r.Waiting < 0 && status != "released" {
			t.Errorf("%+v", r)
		}
		if status == "granted" && r.Token == 0 {
			t.Error("granted token 0")
		}
		if r.Left < 0 && r.Left != NoExpiry || r.Holder.Left < 0 || r.Holder.TTL < 0 || r.Value != "" && r.Left == 0 {
			t.Errorf("left %s of %s", r.Left, r.Holder.TTL)
		}
	})
}

// Numbers of 53 bits survive; what is not one is 0, never something else.
func TestNumbersKeepTheirPrecision(t *testing.T) {
	for text, want := range map[string]int64{
		"9007199254740991": 1<<53 - 1, "9007199254740990": 1<<53 - 2, "9007199254740993": 0, "-1": -1, "-2": 0, "": 0,
		"nan": 0, "inf": 0, "1e300": 0, "x": 0, "1795963807406": 1795963807406,
	} {
		if got := (fields{text}).number(0); got != want {
			t.Errorf("number %q is %d, want %d", text, got, want)
		}
	}
	if got := (fields{float64(1)}).number(0); got != 0 {
		t.Errorf("a value of a foreign type is %d", got)
	}
	if math.MaxInt64 == (fields{int64(math.MaxInt64)}).number(0) {
		t.Error("a number above 53 bits is kept")
	}
}

// What Acquire writes about a candidate, a refusal gives back.
func TestHolderRoundTrip(t *testing.T) {
	want := election.Candidate{ID: "a\"b\n{}", Host: "h", PID: 3, Instance: "i", Metadata: map[string]string{"k": "ü"}}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if got := holder(string(text), 5, 1000, time.Second); !reflect.DeepEqual(got.Candidate, want) || got.Token != 5 || got.TTL != time.Second {
		t.Errorf("%+v", got)
	}
}
