package local_test

import (
	"errors"
	"testing"
	"time"

	"incumbent/compare/lab/local"
)

func TestOptionsRefused(t *testing.T) {
	for _, c := range []struct {
		field string
		o     local.Options
	}{
		{"Mode", local.Options{Mode: "both"}},
		{"Masters", local.Options{Masters: 3}},
		{"Masters", local.Options{Mode: "quorum", Masters: 2}},
		{"Masters", local.Options{Mode: "quorum", Masters: 4}},
		{"Candidates", local.Options{Candidates: -1}},
		{"ActEvery", local.Options{ActEvery: time.Microsecond}},
		{"TTL", local.Options{TTL: time.Millisecond}},
	} {
		l, err := local.Open(t.Context(), c.o)
		if l != nil {
			l.Close()
		}
		var bad *local.OptionError
		if !errors.As(err, &bad) || bad.Field != c.field {
			t.Errorf("%+v: error %v, want one of option %s", c.o, err, c.field)
		}
	}
}

func TestFaultsRefused(t *testing.T) {
	l, ctx := open(t, local.Options{Candidates: 2})
	if _, err := l.Run(ctx, "earthquake"); err == nil {
		t.Error("an unknown fault was no error")
	}
	var bad *local.OptionError
	if _, err := l.Run(ctx, "partition"); !errors.As(err, &bad) || bad.Field != "Proxies" {
		t.Errorf("a partition without proxies: error %v, want one of option Proxies", err)
	}
}
