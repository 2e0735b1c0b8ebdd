package simnet

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2/server"
)

// Publishing is done here and not by miniredis, which hands messages to other
// goroutines: they would reach the wire in any order.

func (s *session) subscribed() bool {
	return len(s.channels)+len(s.patterns) > 0
}

// subscriber reports whether pushes travel on c.
func (c *conn) subscriber() bool {
	return c.server != nil && c.server.subscribed()
}

// subscribe handles SUBSCRIBE and PSUBSCRIBE.
func (m *Master) subscribe(ses *session, cmd string, names []string) {
	list := ses.list(cmd)
	for _, name := range names {
		if !ses.subscribed() {
			m.subscribers = append(m.subscribers, ses.conn)
		}
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
		ses.confirm(cmd, &name)
	}
}

// leave handles UNSUBSCRIBE and PUNSUBSCRIBE.
func (m *Master) leave(ses *session, cmd string, names []string) {
	list := ses.list(cmd)
	if len(names) == 0 {
		names = slices.Clone(*list)
	}
	if len(names) == 0 {
		ses.confirm(cmd, nil)
	}
	for _, name := range names {
		*list = slices.DeleteFunc(*list, func(s string) bool { return s == name })
		ses.confirm(cmd, &name)
	}
	if !ses.subscribed() {
		m.unsubscribe(ses.conn)
	}
}

// unsubscribe removes c from the subscribers.
func (m *Master) unsubscribe(c *conn) {
	m.subscribers = slices.DeleteFunc(m.subscribers, func(o *conn) bool { return o == c })
}

// list returns the channels or the patterns, whichever the command is about.
func (s *session) list(cmd string) *[]string {
	if cmd[0] == 'P' {
		return &s.patterns
	}
	return &s.channels
}

// confirm answers a change of subscription.
func (s *session) confirm(cmd string, name *string) {
	s.peer.Block(func(w *server.Writer) {
		w.WritePushLen(3)
		w.WriteBulk(strings.ToLower(cmd))
		if name == nil {
			w.WriteNull()
		} else {
			w.WriteBulk(*name)
		}
		w.WriteInt(len(s.channels) + len(s.patterns))
	})
}

// publish handles PUBLISH: each subscriber is sent a segment of its own.
func (m *Master) publish(p *server.Peer, args []string) {
	if len(args) != 2 {
		p.WriteError("ERR wrong number of arguments for 'publish' command")
		return
	}
	p.WriteInt(m.deliver(p, args[0], args[1]))
}

// deliver sends a message to all that subscribed to the channel, and returns how
// many times. Where the publisher is one of them, it is sent its own with the reply.
func (m *Master) deliver(publisher *server.Peer, channel, message string) int {
	n := 0
	for _, c := range m.subscribers {
		ses := c.server
		if slices.Contains(ses.channels, channel) {
			ses.push("message", channel, message)
			n++
		}
		for _, pattern := range ses.patterns {
			if matches(pattern, channel) {
				ses.push("pmessage", pattern, channel, message)
				n++
			}
		}
		if ses.peer != publisher {
			ses.flush(m.currentKey)
		}
	}
	return n
}

func (s *session) push(fields ...string) {
	s.peer.Block(func(w *server.Writer) {
		w.WritePushLen(len(fields))
		for _, f := range fields {
			w.WriteBulk(f)
		}
	})
}

// matches reports whether a name matches a glob-style pattern. In Redis a slash
// is a letter like any other.
func matches(pattern, name string) bool {
	hide := strings.NewReplacer("/", "\x00")
	ok, err := path.Match(hide.Replace(pattern), hide.Replace(name))
	return ok && err == nil
}

// pubsub handles PUBSUB.
func (m *Master) pubsub(p *server.Peer, args []string) {
	sub := ""
	if len(args) > 0 {
		sub = strings.ToUpper(args[0])
	}
	switch {
	case sub == "NUMSUB":
		reply := []string{}
		for _, channel := range args[1:] {
			reply = append(reply, channel, strconv.Itoa(m.count(channel)))
		}
		p.WriteStrings(reply)
	case sub == "CHANNELS" && len(args) <= 2:
		pattern := "*"
		if len(args) == 2 {
			pattern = args[1]
		}
		p.WriteStrings(m.channels(pattern))
	case sub == "NUMPAT" && len(args) == 1:
		n := 0
		for _, c := range m.subscribers {
			n += len(c.server.patterns)
		}
		p.WriteInt(n)
	default:
		p.WriteError("ERR unknown subcommand or wrong number of arguments for 'pubsub'. Try PUBSUB HELP.")
	}
}

// count returns how many connections are subscribed to channel.
func (m *Master) count(channel string) int {
	n := 0
	for _, c := range m.subscribers {
		if slices.Contains(c.server.channels, channel) {
			n++
		}
	}
	return n
}

// channels returns those that somebody is subscribed to.
func (m *Master) channels(pattern string) []string {
	all := []string{}
	for _, c := range m.subscribers {
		for _, channel := range c.server.channels {
			if matches(pattern, channel) {
				all = append(all, channel)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
