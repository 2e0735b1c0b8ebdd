package bench

import (
	"maps"
	"testing"
)

func TestParseInfo(t *testing.T) {
	text := "# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.1.0\r\n# Stats\r\ntotal_net_input_bytes:1234\r\n" +
		"total_net_output_bytes:99\r\ntotal_net_repl_input_bytes:7\r\n# Commandstats\r\ncmdstat_evalsha:calls=3,usec=5,usec_per_call=1.67,rejected_calls=0,failed_calls=0\r\n" +
		"cmdstat_config|get:calls=2,usec=5\r\ncmdstat_config|set:calls=1,usec=5\r\ncmdstat_odd:calls=-4\r\n"
	got, version := parseInfo(text)
	if got.received != 1234 || got.sent != 99 || version != "valkey 8.1.0" {
		t.Errorf("got %+v of %q", got, version)
	}
	if want := map[string]int64{"evalsha": 3, "config": 3, "odd": 0}; !maps.Equal(got.commands, want) {
		t.Errorf("commands are %v, want %v", got.commands, want)
	}
	if _, version := parseInfo("redis_version:7.0.15\r\n"); version != "redis 7.0.15" {
		t.Errorf("version is %q", version)
	}
}

// FuzzParseInfo: nothing that a server says makes a count negative.
func FuzzParseInfo(f *testing.F) {
	f.Add("cmdstat_get:calls=1,usec=2\r\ntotal_net_input_bytes:5\r\n")
	f.Add("cmdstat_|:calls=99999999999999999999\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, _ := parseInfo(text)
		if got.received < 0 || got.sent < 0 {
			t.Errorf("%q: %+v", text, got)
		}
	})
}
