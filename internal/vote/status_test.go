package vote

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
)

// inOrder is the order of calls in the table below.
var inOrder = []string{
	"acquire", "vote", "acquire the last", "acquire above the top", "seal", "seal above",
	"renew", "renew above", "reseat", "reseat above", "release", "undo",
}

// statuses are what each call answers in each state of states.
var statuses = map[string]string{
	"empty":                  "granted granted granted spent lost lost expired expired reseated reseated expired expired",
	"ours":                   "granted granted granted granted sealed sealed renewed renewed taken taken released released",
	"ours, not sealed":       "granted granted granted granted sealed sealed renewed renewed taken taken released released",
	"ours, raised by others": "granted granted granted granted regressed regressed renewed renewed regressed taken released released",
	"ours, sealed, raised":   "granted granted granted granted sealed regressed renewed renewed regressed taken released released",
	"ours, no record":        "granted granted granted spent sealed sealed renewed renewed taken taken released released",
	"ours, no expiry":        "granted granted granted granted sealed sealed renewed renewed taken taken released released",
	"theirs":                 "held held held held lost lost taken taken taken taken taken taken",
	"theirs, no record":      "held held held held lost lost taken taken taken taken taken taken",
	"theirs, no expiry":      "held held held held lost lost taken taken taken taken taken taken",
	"released":               "granted granted granted spent lost lost expired expired reseated reseated expired expired",
	"until far ahead":        "granted granted granted spent lost lost expired expired reseated reseated expired expired",
	"until is a word":        "granted granted granted spent lost lost expired expired reseated reseated expired expired",
	"last is a word":         "corrupt corrupt corrupt corrupt corrupt corrupt corrupt corrupt corrupt corrupt expired expired",
	"last is not a number":   "corrupt corrupt corrupt corrupt corrupt corrupt corrupt corrupt corrupt corrupt expired expired",
	"last is infinite":       "corrupt corrupt corrupt corrupt corrupt corrupt corrupt corrupt corrupt corrupt expired expired",
	"last is too large":      "corrupt corrupt corrupt corrupt corrupt corrupt corrupt corrupt corrupt corrupt expired expired",
	"last is huge":           "corrupt corrupt corrupt corrupt corrupt corrupt corrupt corrupt corrupt corrupt expired expired",
	"last is negative":       "corrupt corrupt corrupt corrupt corrupt corrupt corrupt corrupt corrupt corrupt expired expired",
	"last is empty":          "corrupt corrupt corrupt corrupt corrupt corrupt corrupt corrupt corrupt corrupt expired expired",
	"last is a fraction":     "granted granted granted spent lost lost expired expired reseated reseated expired expired",
	"last is the top":        "spent spent spent spent lost lost expired expired regressed regressed expired expired",
	"last is below the top":  "granted granted granted spent lost lost expired expired regressed regressed expired expired",
	"token is a word":        "corrupt corrupt corrupt corrupt corrupt corrupt renewed renewed taken taken released released",
}

func TestScriptStatuses(t *testing.T) {
	mini := miniredis.RunT(t)
	c := plain(t, mini.Addr())
	for state, want := range statuses {
		var got []string
		for _, name := range inOrder {
			mini.FlushAll()
			for _, cmd := range states[state] {
				if err := c.Do(t.Context(), cmd...).Err(); err != nil {
					t.Fatal(err)
				}
			}
			reply, err := calls[name].s.run(t.Context(), c, []string{"L", "R"}, calls[name].args...)
			if err != nil {
				t.Fatalf("%s, %s: %v", state, name, err)
			}
			got = append(got, fmt.Sprint(reply[0]))
			nothingForeignTouched(t, mini, state, name)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s:\ngot  %s\nwant %s", state, s, want)
		}
	}
}

// limitAt is where a call's limit stands among its arguments.
var limitAt = map[string]int{"acquire": 6, "vote": 6, "reseat": 5}

// A request that is handled after its limit changes nothing, unless the lease is
// the bid's own already (R9) or somebody else's.
func TestScriptsRefuseWhatIsLate(t *testing.T) {
	mini := miniredis.RunT(t)
	c := plain(t, mini.Addr())
	for _, tt := range []struct{ state, call, want string }{
		{"empty", "vote", "late"}, {"released", "acquire", "late"}, {"released", "reseat", "late"},
		{"ours", "vote", "granted"}, {"theirs", "vote", "held"},
	} {
		for limit, want := range map[string]string{"1": tt.want, "9007199254740991": "", "0": ""} {
			mini.FlushAll()
			for _, cmd := range states[tt.state] {
				if err := c.Do(t.Context(), cmd...).Err(); err != nil {
					t.Fatal(err)
				}
			}
			before := mini.Dump()
			call := calls[tt.call]
			args := slices.Clone(call.args)
			args[limitAt[tt.call]] = limit
			reply, err := call.s.run(t.Context(), c, []string{"L", "R"}, args...)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(reply[0]); want != "" && got != want || want == "" && got == "late" {
				t.Errorf("%s, %s, limit %s: %s, want %s", tt.state, tt.call, limit, got, want)
			}
			if want == "late" && mini.Dump() != before {
				t.Errorf("%s, %s: a late request changed\n%s\nto\n%s", tt.state, tt.call, before, mini.Dump())
			}
		}
	}
}

// nothingForeignTouched: whatever is asked for "me", the lease of another is as
// it was, and no lease of ours is without an expiry.
func nothingForeignTouched(t *testing.T, mini *miniredis.Miniredis, state, name string) {
	t.Helper()
	lease, _ := mini.Get("L")
	for _, cmd := range states[state] {
		if cmd[0] == "SET" && cmd[1] == "L" && cmd[2] != "me" && lease != cmd[2] {
			t.Errorf("%s, %s: the lease of %v became %q", state, name, cmd[2], lease)
		}
	}
	if lease == "me" && mini.TTL("L") == 0 && state != "ours, no expiry" {
		t.Errorf("%s, %s: our lease has no expiry", state, name)
	}
	if mini.Exists("R") && mini.TTL("R") == 0 && state == "ours, no record" && name != "seal" && name != "seal above" {
		t.Errorf("%s, %s: a record without an expiry", state, name)
	}
}

// What scripts leave in the record.
func TestScriptsRaiseTheRecord(t *testing.T) {
	mini := miniredis.RunT(t)
	c := plain(t, mini.Addr())
	for _, tt := range []struct {
		state, call          string
		last, token, release string
	}{
		{"ours, not sealed", "renew above", above, above, ""}, // missed the seal
		{"ours, raised by others", "renew", above, high, ""},
		{"theirs", "renew above", above, high, ""}, // learns of the other term
		{"empty", "renew above", above, "", ""},
		{"ours, not sealed", "seal above", above, above, ""},
		{"ours", "seal above", above, above, ""},
		{"theirs", "seal above", high, high, ""},
		{"released", "reseat above", above, above, high},
		{"last is below the top", "reseat above", topLess, "", ""},
		{"ours, not sealed", "undo", "5", high, ""}, // the token of a lost bid is burnt
		{"ours", "release", high, high, high},
		{"theirs", "release", high, high, ""},
		{"released", "vote", high, above, high},
		{"released", "acquire", above, above, high},
	} {
		mini.FlushAll()
		for _, cmd := range states[tt.state] {
			if err := c.Do(t.Context(), cmd...).Err(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := calls[tt.call].s.run(t.Context(), c, []string{"L", "R"}, calls[tt.call].args...); err != nil {
			t.Fatalf("%s, %s: %v", tt.state, tt.call, err)
		}
		got := [3]string{mini.HGet("R", "last"), mini.HGet("R", "token"), mini.HGet("R", "released")}
		if got != [3]string{tt.last, tt.token, tt.release} {
			t.Errorf("%s, %s: last, token, released are %q, want %q", tt.state, tt.call, got, [3]string{tt.last, tt.token, tt.release})
		}
	}
}
