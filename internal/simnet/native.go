package simnet

import (
	"slices"
	"strconv"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// A NativeScript answers in Go what a script would answer in Lua. It may be called
// for any keys and arguments; when it returns false it has changed nothing, and the
// Lua runs. A reply is an array of string and int64. It must not call other methods
// of this package.
type NativeScript func(d *Data, keys, argv []string) (reply []any, ok bool)

// SetNative has scripts, by the SHA-1 of their source in lower case, be answered
// natively, which is much quicker than Lua. They have to be loaded like any other
// script. The Lua runs nevertheless in transactions, in another database than 0, and
// at a master whose scripts are intercepted or that refuses writes. Nil, as at first, ends it. The map must
// not be changed afterwards.
func (w *World) SetNative(scripts map[string]NativeScript) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.native = scripts
}

// answerNatively runs the native script of that name, if there is one and it may.
func (m *Master) answerNatively(p *server.Peer, sha string, keys, argv []string) bool {
	f := m.w.native[sha]
	if f == nil || m.interceptScript != nil || m.refusal != Nothing || m.current != nil && m.current.elsewhere {
		return false
	}
	reply, ok := f(&Data{m: m, db: m.redis.DB(0)}, keys, argv)
	if ok {
		b := appendReply(m.w.scratch[:0], reply)
		p.WriteRaw(string(b))
		m.w.scratch = b
	}
	return ok
}

// appendReply appends an array in protocol form.
func appendReply(b []byte, reply []any) []byte {
	b = append(strconv.AppendInt(append(b, '*'), int64(len(reply)), 10), "\r\n"...)
	for _, v := range reply {
		switch v := v.(type) {
		case string:
			b = strconv.AppendInt(append(b, '$'), int64(len(v)), 10)
			b = append(append(append(b, "\r\n"...), v...), "\r\n"...)
		case int64:
			b = append(strconv.AppendInt(append(b, ':'), v, 10), "\r\n"...)
		}
	}
	return b
}

// Data is what a native script reads and writes: database 0 of a master.
type Data struct {
	m  *Master
	db *miniredis.RedisDB
}

// Millis is the master's clock, in milliseconds since 1970.
func (d *Data) Millis() int64 { return d.m.clock.at(time.Now()).UnixMilli() }

// Type is string, hash, list, set, zset or stream; "" if there is no such key.
func (d *Data) Type(key string) string { return d.db.Type(key) }

// Get returns a string; false if there is none.
func (d *Data) Get(key string) (string, bool) {
	v, err := d.db.Get(key)
	return v, err == nil
}

// Set sets a string that expires in so many milliseconds, which must be above 0.
func (d *Data) Set(key, value string, millis int64) {
	d.db.Del(key)
	_ = d.db.Set(key, value) // fails only for a key of another type
	d.db.SetTTL(key, time.Duration(millis)*time.Millisecond)
}

// Del removes a key.
func (d *Data) Del(key string) { d.db.Del(key) }

// PTTL is what the command answers: the milliseconds that a key has left, -1 if it
// does not expire and -2 if there is none.
func (d *Data) PTTL(key string) int64 {
	if !d.db.Exists(key) {
		return -2
	}
	if left := d.db.TTL(key); left > 0 {
		return left.Milliseconds()
	}
	return -1
}

// PExpire has a key, if there is one, expire in so many milliseconds, or at once if
// they are not above 0.
func (d *Data) PExpire(key string, millis int64) {
	switch {
	case millis <= 0:
		d.db.Del(key)
	case d.db.Exists(key):
		d.db.SetTTL(key, time.Duration(millis)*time.Millisecond)
	}
}

// HGet returns a field of a hash; "" if it is empty or missing.
func (d *Data) HGet(key, field string) string { return d.db.HGet(key, field) }

// HExists reports whether a hash has that field.
func (d *Data) HExists(key, field string) bool {
	if d.db.HGet(key, field) != "" {
		return true
	}
	fields, err := d.db.HKeys(key)
	return err == nil && slices.Contains(fields, field)
}

// HSet sets fields of a hash: names and values in turn.
func (d *Data) HSet(key string, pairs ...string) { d.db.HSet(key, pairs...) }

// Publish sends a message to all subscribers, and returns how many there are.
func (d *Data) Publish(channel, message string) int {
	return d.m.deliver(nil, channel, message)
}

// Info is what INFO answers to "server" and "replication".
func (d *Data) Info() string { return d.m.info(infoSections) }

var infoSections = []string{"server", "replication"}
