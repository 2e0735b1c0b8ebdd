package vote

import (
	"testing"

	"github.com/alicebob/miniredis/v2"
)

// Init was called, and nobody has led: what writes a record later ends that.
func TestInitialised(t *testing.T) {
	for name, c := range map[string]struct {
		record []any
		want   bool
	}{
		"nothing":                   {nil, false},
		"init":                      {[]any{"until", "0", "init", "me", "fresh_until", "0"}, true},
		"init, identity hidden":     {[]any{"until", "0", "init", "", "fresh_until", "0"}, true},
		"a guard was armed":         {[]any{"fresh_until", "9000"}, false},
		"a vote was undone":         {[]any{"until", "0", "init", "", "token", "7"}, false},
		"init, a vote was undone":   {[]any{"until", "0", "init", "me", "token", "7"}, true},
		"a term was given back":     {[]any{"until", "0", "init", "me", "token", "7", "last", "7"}, false},
		"a lease stands or ran out": {[]any{"until", "9000", "init", "me", "token", "7"}, false},
	} {
		mini := miniredis.RunT(t)
		client := plain(t, mini.Addr())
		keys, err := NewKeys("", "job")
		if err != nil {
			t.Fatal(err)
		}
		if c.record != nil {
			if err := client.HSet(t.Context(), keys.Record, c.record...).Err(); err != nil {
				t.Fatal(err)
			}
		}
		o, err := Options{}.WithDefaults()
		if err != nil {
			t.Fatal(err)
		}
		m := NewMaster(client, keys)
		if err := o.Set(m); err != nil {
			t.Fatal(err)
		}
		if st := m.Inspect(t.Context()); st.Err != nil || st.Initialised != c.want {
			t.Errorf("%s: %t, %v", name, st.Initialised, st.Err)
		}
	}
}
