package simnet_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/internal/simnet"
)

// subscribed returns a confirmed subscription.
func subscribed(t *testing.T, c *redis.Client, channels ...string) *redis.PubSub {
	t.Helper()
	s := c.Subscribe(ctx, channels...)
	for range channels {
		if _, err := s.Receive(ctx); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestPublishTravels(t *testing.T) {
	for _, protocol := range []int{2, 3} {
		t.Run(fmt.Sprint("resp", protocol), func(t *testing.T) {
			world(t, 1, simnet.Options{}, func(t *testing.T, w *simnet.World) {
				m := w.AddMaster("m")
				resp := func(o *redis.Options) { o.Protocol = protocol }
				s := subscribed(t, w.Client("a", m, resp), "news", "other")
				defer s.Close()
				b := w.Client("b", m, resp)
				must(t, b.Ping(ctx))
				w.Slow("a", m, 50*time.Millisecond)
				start := time.Now()
				if n := b.Publish(ctx, "news", "hello").Val(); n != 1 {
					t.Errorf("PUBLISH reached %d", n)
				}
				msg, err := s.ReceiveMessage(ctx)
				if err != nil || msg.Payload != "hello" || msg.Channel != "news" {
					t.Fatalf("received %v, %v", msg, err)
				}
				if d := time.Since(start); d < 50*time.Millisecond || d > 51*time.Millisecond {
					t.Errorf("the message took %v over a link that is 50 ms slow", d)
				}
			})
		})
	}
}

func TestPublishFromScript(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		s := subscribed(t, c, "c")
		defer s.Close()
		n, err := c.Eval(ctx, `redis.call('PUBLISH','c','1') redis.call('PUBLISH','none','x')
			return redis.call('PUBLISH','c','2')`, nil).Int()
		if n != 1 || err != nil {
			t.Errorf("script = %d, %v", n, err)
		}
		for _, want := range []string{"1", "2"} {
			if msg, err := s.ReceiveMessage(ctx); err != nil || msg.Payload != want {
				t.Errorf("received %v, %v, want %s", msg, err, want)
			}
		}
		if n := m.Commands("", "PUBLISH"); n != 0 {
			t.Errorf("%d PUBLISH of scripts counted", n)
		}
	})
}

func TestPatternSubscription(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		s := c.PSubscribe(ctx, "a/*:x")
		defer s.Close()
		if _, err := s.Receive(ctx); err != nil {
			t.Fatal(err)
		}
		if n := c.PubSubNumPat(ctx).Val(); n != 1 {
			t.Errorf("NUMPAT = %d", n)
		}
		if n := c.Publish(ctx, "b:x", "no").Val(); n != 0 {
			t.Errorf("b:x reached %d", n)
		}
		must(t, c.Publish(ctx, "a/b/c:x", "yes"))
		if msg, err := s.ReceiveMessage(ctx); err != nil || msg.Payload != "yes" || msg.Pattern != "a/*:x" {
			t.Errorf("received %v, %v", msg, err)
		}
	})
}

func TestSubscriptionEnds(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		s := subscribed(t, c, "x", "y")
		if got := fmt.Sprint(c.PubSubChannels(ctx, "*").Val(), c.PubSubNumSub(ctx, "x", "z").Val()); got != "[x y] map[x:1 z:0]" {
			t.Errorf("PUBSUB = %s", got)
		}
		if err := s.Unsubscribe(ctx, "x"); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Receive(ctx); err != nil || got.(*redis.Subscription).Count != 1 {
			t.Errorf("UNSUBSCRIBE = %v, %v", got, err)
		}
		s.Close()
		time.Sleep(time.Millisecond)
		if got := c.PubSubChannels(ctx, "*").Val(); len(got) != 0 {
			t.Errorf("channels of a closed subscription: %q", got)
		}
	})
}

func TestSubscribedConnectionRefusesCommands(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		conn, err := w.Dialer("raw")(ctx, "tcp", m.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for _, tt := range []struct{ send, want string }{
			{"*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nc\r\n", "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n"},
			{"*1\r\n$4\r\nPING\r\n", "*2\r\n$4\r\npong\r\n$0\r\n\r\n"},
			{"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", "-ERR Can't execute 'get'"},
			{"*1\r\n$11\r\nUNSUBSCRIBE\r\n", "*3\r\n$11\r\nunsubscribe\r\n$1\r\nc\r\n:0\r\n"},
			{"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", "$-1\r\n"},
			{"*1\r\n$11\r\nUNSUBSCRIBE\r\n", "*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n"},
		} {
			buf := make([]byte, 1000)
			conn.Write([]byte(tt.send))
			n, err := conn.Read(buf)
			if got := string(buf[:n]); err != nil || !strings.HasPrefix(got, tt.want) {
				t.Errorf("%q = %q, %v, want %q", tt.send, got, err, tt.want)
			}
		}
	})
}

func TestSubscriptionSurvivesRestart(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		s := c.Subscribe(ctx, "c")
		defer s.Close()
		ch := s.Channel()
		time.Sleep(time.Millisecond)
		m.Restart(false)
		time.Sleep(time.Second) // go-redis subscribes again
		must(t, c.Publish(ctx, "c", "m"))
		select {
		case msg := <-ch:
			if msg.Payload != "m" {
				t.Errorf("received %v", msg)
			}
		case <-time.After(time.Second):
			t.Error("nothing received after the restart")
		}
		if n := m.Commands("a", "SUBSCRIBE"); n != 2 {
			t.Errorf("SUBSCRIBE was sent %d times", n)
		}
	})
}

func TestSubscriberPings(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		s := c.Subscribe(ctx, "c")
		defer s.Close()
		s.Channel()
		before := m.Commands("a", "PING")
		time.Sleep(10 * time.Second) // go-redis pings every 3 s of silence
		if n := m.Commands("a", "PING") - before; n != 3 {
			t.Errorf("%d pings in 10 s", n)
		}
	})
}

// A PubSub that reconnects holds a mutex that Close wants. Should the bubble's
// clock stop over that, this test never ends.
func TestClosingASubscriptionNeverStopsTheClock(t *testing.T) {
	for name, strike := range map[string]func(w *simnet.World, m *simnet.Master){
		"cut":    func(w *simnet.World, m *simnet.Master) { w.Disconnect("a", m); w.Cut("a", m) },
		"crash":  func(w *simnet.World, m *simnet.Master) { m.Crash() },
		"hang":   func(w *simnet.World, m *simnet.Master) { w.Disconnect("a", m); m.Hang() },
		"freeze": func(w *simnet.World, m *simnet.Master) { w.Freeze("a") },
		"frozen": func(w *simnet.World, m *simnet.Master) { w.Disconnect("a", m); w.Freeze("a") },
	} {
		t.Run(name, func(t *testing.T) {
			pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
				for pause := time.Duration(1); pause < 10*time.Second; pause *= 7 {
					s := c.Subscribe(ctx, "c")
					ended := make(chan struct{})
					go func() {
						defer close(ended)
						for range s.Channel() {
						}
					}()
					time.Sleep(5 * time.Millisecond)
					strike(w, m)
					time.Sleep(pause)
					if err := s.Close(); err != nil {
						t.Error(err)
					}
					w.Thaw("a")
					<-ended
					w.Heal("a", m)
					m.Restart(false)
				}
			})
		})
	}
}

func TestSubscribeInALoopWithoutAPause(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		m.Crash()
		until := time.Now().Add(10 * time.Millisecond)
		n := 0
		for ; time.Now().Before(until); n++ {
			s := c.Subscribe(ctx, "c")
			if _, err := s.Receive(ctx); err == nil {
				t.Fatal("a crashed master answered")
			}
			s.Close()
		}
		if n > 2000 {
			t.Errorf("%d attempts in 10 ms", n)
		}
	})
}

func TestSubscriptionHandshakeIsTraced(t *testing.T) {
	pair(t, func(t *testing.T, w *simnet.World, m *simnet.Master, c *redis.Client) {
		var trace []string
		w.OnCommand(func(cmd simnet.Command) { trace = append(trace, cmd.Args[0]) })
		start := time.Now()
		s := c.Subscribe(ctx, "c")
		defer s.Close()
		if d := time.Since(start); d != 0 {
			t.Errorf("the handshake took %v", d)
		}
		if _, err := s.Receive(ctx); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(trace, " "); got != "hello subscribe" {
			t.Errorf("trace = %q", got)
		}
		m.Intercept(func(string, []string) (string, bool) { return "LOADING", true })
		if err := s.Ping(ctx); err != nil {
			t.Error(err)
		}
		if _, err := s.Receive(ctx); err == nil || err.Error() != "LOADING" {
			t.Errorf("PING: %v", err)
		}
	})
}
