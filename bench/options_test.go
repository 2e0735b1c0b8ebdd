package bench

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestOptions(t *testing.T) {
	three := []string{"a:1", "b:1", "c:1"}
	for _, tt := range []struct {
		o     Options
		field string
	}{
		{Options{}, ""},
		{Options{Rounds: MinRounds, Time: MinTime, Modes: Modes()[:2], Servers: three}, ""},
		{Options{Servers: []string{"rediss://user:secret@a:1/2", "b:1", "[::1]:1"}, Modes: Modes()[:2]}, ""},
		{Options{Rounds: MinRounds - 1}, "Rounds"},
		{Options{Rounds: -1}, "Rounds"},
		{Options{Time: time.Millisecond}, "Time"},
		{Options{Servers: three}, "Servers"},
		{Options{Servers: []string{"a:1", "b:1", "a:1"}, Modes: Modes()[:2]}, "Servers"},
		{Options{Servers: []string{"a"}, Modes: Modes()[:1]}, "Servers"},
		{Options{Servers: []string{"redis://u:secret@a:b:c"}, Modes: Modes()[:1]}, "Servers"},
		{Options{Servers: []string{"u:secret@a"}, Modes: Modes()[:1]}, "Servers"},
		{Options{Servers: three, Modes: Modes()[:1], ServerBin: "redis-server"}, "ServerBin"},
	} {
		err := tt.o.Check()
		var wrong *OptionError
		switch {
		case tt.field == "" && err != nil:
			t.Errorf("%+v: %v", tt.o, err)
		case tt.field != "" && (!errors.As(err, &wrong) || wrong.Field != tt.field):
			t.Errorf("%+v: %v, want an error of %s", tt.o, err, tt.field)
		case err != nil && strings.Contains(err.Error(), "secret"):
			t.Errorf("the error has the password: %v", err)
		}
	}
}

func TestParseModes(t *testing.T) {
	for list, want := range map[string]int{"single": 1, "quorum5, single": 2, "": 0, "single,single": 0, "quorum4": 0, "single,": 0} {
		modes, err := ParseModes(list)
		if len(modes) != want && err == nil || (err == nil) != (want > 0) {
			t.Errorf("%q: %v, %v", list, modes, err)
		}
	}
	if got := Serve(Modes(), 4); len(got) != 2 {
		t.Errorf("four servers serve %v", got)
	}
}
