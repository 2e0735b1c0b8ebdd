package bench

import (
	"strconv"
	"strings"
)

// parseInfo reads what INFO says: the traffic since the server started, what scripts
// executed included, and the server's name and version.
func parseInfo(text string) (t traffic, version string) {
	t.commands = map[string]int64{}
	name := "redis"
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		switch key {
		case "total_net_input_bytes":
			t.received = number(value)
		case "total_net_output_bytes":
			t.sent = number(value)
		case "redis_version":
			if version == "" {
				version = value
			}
		case "server_name":
			name = value
		case "valkey_version": // redis_version is then that of Redis it is compatible with
			name, version = "valkey", value
		default:
			if command, ok := strings.CutPrefix(key, "cmdstat_"); ok {
				calls, _, _ := strings.Cut(strings.TrimPrefix(value, "calls="), ",")
				command, _, _ = strings.Cut(command, "|") // config|get is config
				t.commands[command] += number(calls)
			}
		}
	}
	return t, strings.TrimSpace(name + " " + version)
}

// number is a count, or 0 where text is none.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
