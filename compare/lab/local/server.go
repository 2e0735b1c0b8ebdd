package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/internal/blackhole"
	"incumbent/internal/redisproc"
	"incumbent/internal/vote"
)

// server is a master, or a replica of one, and the lab's own connection to it, past
// all proxies.
type server struct {
	addr   string
	proc   *redisproc.Server // nil for one that is not the lab's
	direct *redis.Client
	far    redis.UniversalClient // in place of direct where the server is somebody else's
	born   time.Duration         // when its process was started
	clock  *clockFile            // nil for one whose clock cannot be set
	link   *blackhole.Proxy      // to the primary that it copies; nil while there is none
	hung   bool
	paused time.Duration // until when its clients are

	subject bool // it follows another server as a fault says
	refuses bool // writes, as a fault says
	owed    bool // it is to take writes again as soon as it goes on
}

// connect connects to a server.
func (s *server) connect(ctx context.Context) error {
	s.direct = redis.NewClient(&redis.Options{
		Addr: s.addr, Protocol: 2, DisableIdentity: true, ContextTimeoutEnabled: true, MaxRetries: -1, DialerRetries: 1,
	})
	return s.direct.Ping(ctx).Err() // so that the first question finds a connection
}

// prepare loads all scripts, as after the first minutes of a server's life.
func (s *server) prepare(ctx context.Context) error {
	for _, script := range vote.Scripts() {
		if err := s.direct.ScriptLoad(ctx, script.Source).Err(); err != nil {
			return err
		}
	}
	return nil
}

// runs reports whether commands would be answered.
func (s *server) runs() bool {
	return !s.hung && monotonic() >= s.paused && (s.proc == nil || s.proc.PID() != 0)
}

// follow makes the server a replica of another one, and returns when it is up to
// date.
func (s *server) follow(ctx context.Context, primary *server) error {
	if err := s.unfollow(ctx); err != nil {
		return err
	}
	link, err := blackhole.New(primary.addr)
	if err != nil {
		return err
	}
	s.link = link
	host, port, err := net.SplitHostPort(link.Addr())
	if err != nil {
		return err
	}
	if err := s.direct.Do(ctx, "REPLICAOF", host, port).Err(); err != nil {
		return err
	}
	return s.catchUp(ctx, primary)
}

// syncPoll is how often a replica is asked how far it is.
const syncPoll = time.Millisecond

// catchUp waits until the replica has all that its primary has now.
func (s *server) catchUp(ctx context.Context, primary *server) error {
	tick := time.NewTicker(syncPoll)
	defer tick.Stop()
	want := int64(-1)
	for {
		info, err := s.replication(ctx)
		if err != nil {
			return err
		}
		if info["master_link_status"] == "up" {
			if want < 0 {
				if want, err = primary.offset(ctx); err != nil {
					return err
				}
			}
			if have, err := strconv.ParseInt(info["slave_repl_offset"], 10, 64); err == nil && have >= want {
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("replica %s of %s is not up to date: %w", s.addr, primary.addr, ctx.Err())
		}
	}
}

// offset is how far a primary's replication has come.
func (s *server) offset(ctx context.Context) (int64, error) {
	info, err := s.replication(ctx)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(info["master_repl_offset"], 10, 64)
}

// replication is that section of INFO.
func (s *server) replication(ctx context.Context) (map[string]string, error) {
	return s.info(ctx, "replication")
}

// info is a section of INFO.
func (s *server) info(ctx context.Context, section string) (map[string]string, error) {
	text, err := s.direct.Info(ctx, section).Result()
	if err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields, nil
}

// lag lets a replica fall behind from now on: its primary sends into a black hole.
func (s *server) lag() {
	if s.link != nil {
		s.link.Cut()
	}
}

// unfollow makes the server a primary of its own, with what it has.
func (s *server) unfollow(ctx context.Context) error {
	if s.link == nil {
		return nil
	}
	err := s.direct.Do(ctx, "REPLICAOF", "NO", "ONE").Err()
	return errors.Join(err, s.detach())
}

// detach forgets whom the server follows.
func (s *server) detach() (err error) {
	if s.link != nil {
		err = s.link.Close()
	}
	s.link, s.subject = nil, false
	return err
}

// crash kills the process, and starts it again with a snapshot in place of its data.
func (s *server) crash(ctx context.Context, snapshot []byte) error {
	return s.reborn(s.proc.Crash(ctx, snapshot))
}

// restart kills the process, and starts it again with its append-only file.
func (s *server) restart(ctx context.Context) error {
	return s.reborn(s.proc.CrashAppendOnly(ctx))
}

// reborn notes that the process is a new one, of which nothing holds that was told the
// one before.
func (s *server) reborn(err error) error {
	s.born, s.hung, s.paused, s.owed, s.refuses = monotonic(), false, 0, false, false
	return errors.Join(err, s.detach())
}

// recycle makes the server as it was at first, for another lab. One that is not
// worth the trouble is an error.
func (s *server) recycle(ctx context.Context) error {
	if s.proc.PID() == 0 {
		return errors.New("it is down")
	}
	if s.hung {
		if err := s.proc.Resume(); err != nil {
			return err
		}
		s.hung = false
	}
	if err := errors.Join(s.accept(ctx), s.configure(ctx, "appendonly", "no"), s.unfollow(ctx)); err != nil {
		return err
	}
	s.paused, s.owed = 0, false
	if s.clock != nil {
		if err := s.clock.set(0); err != nil {
			return err
		}
	}
	if err := s.direct.FlushAll(ctx).Err(); err != nil {
		return err
	}
	return s.prepare(ctx)
}

// stop ends the server.
func (s *server) stop() {
	_ = s.direct.Close()
	if s.link != nil {
		_ = s.link.Close()
	}
	if s.proc != nil {
		_ = s.proc.Kill() // it would wait for its replicas
		_ = s.proc.Stop() // removes its folder, as does who removes the lab's
	}
}
