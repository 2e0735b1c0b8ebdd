package native

// A Server is what a script reads and writes while it runs. Nothing changes it
// meanwhile, and time stands still.
type Server interface {
	// Millis is the server's clock, in milliseconds since 1970.
	Millis() int64
	// Type is string, hash and so on; "" if there is no such key.
	Type(key string) string
	// Get returns a string; false if there is none.
	Get(key string) (string, bool)
	// Set sets a string that expires.
	Set(key, value string, millis int64)
	// Del removes a key.
	Del(key string)
	// PTTL is the time that a key has left, in milliseconds; -1 if it does not
	// expire, -2 if there is none.
	PTTL(key string) int64
	// PExpire has an existing key expire; at once, if millis is not above 0.
	PExpire(key string, millis int64)
	// HGet returns a field of a hash; "" if it is empty or if there is none, which
	// HExists tells apart.
	HGet(key, field string) string
	HExists(key, field string) bool
	// HSet sets fields: names and values in turn.
	HSet(key string, pairs ...string)
	// Publish returns how many heard it.
	Publish(channel, message string) int
	// Info is what INFO answers about server and replication.
	Info() string
}

// A Reply is what a script returns: strings and int64.
type Reply []any

// A Script is a script of package vote.
type Script struct {
	// Name is that of its file.
	Name string
	// SHA is the SHA-1 of the Lua that it stands for.
	SHA string

	argv int // how many it has; its keys are two
	run  func(*call) Reply
}

// Scripts lists all of them.
func Scripts() []Script {
	return []Script{
		{"acquire", "1b6f37ec65ba31f3ad5653e44fbbced9f4d20bc6", 11, acquire},
		{"seal", "b954ce0c630ce273ee8accd6d1fb6f90eae3c393", 3, seal},
		{"renew", "8835c67e8f011727a796cb34fa93a30f72c3aa8e", 4, renew},
		{"reseat", "26517e272115e24e794e0a4adaccc0c2d4f73a6b", 7, reseat},
		{"release", "8bc8fd5e663b6579915a42ca02144b5dd7839f59", 3, release},
		{"inspect", "eadfc66b2cc85e9eeb675848acd8a084b0e7d275", 0, inspect},
		{"init", "a8bac8780768f8ab3ff9b638cd7272f9f1633136", 1, initialize},
		{"ask", "f524e323a345d98b7bb788174ad6da839d81f169", 4, ask},
	}
}

// Run runs the script. When it is false, nothing was done, and the Lua has to run.
func (s Script) Run(server Server, keys, argv []string) (Reply, bool) {
	if len(keys) != 2 || keys[0] == keys[1] || len(argv) != s.argv {
		return nil, false
	}
	c := &call{Server: server, lease: keys[0], record: keys[1], argv: argv, now: server.Millis()}
	if t := server.Type(c.lease); t != "" && t != "string" {
		return nil, false
	}
	if t := server.Type(c.record); t != "" && t != "hash" {
		return nil, false
	}
	reply := s.run(c)
	return reply, reply != nil
}
