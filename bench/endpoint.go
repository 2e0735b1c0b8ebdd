package bench

import (
	"context"
	"crypto/tls"
	"net"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// An endpoint is a server that is measured.
type endpoint struct{ opts redis.Options }

// parseEndpoint reads host:port or an URL. The error shows neither user nor password.
func parseEndpoint(text string) (endpoint, error) {
	bad := &OptionError{"Servers", "an address", "must be host:port, redis://... or rediss://..."}
	if strings.Contains(text, "://") {
		o, err := redis.ParseURL(text)
		if err != nil {
			return endpoint{}, bad // err may quote the password
		}
		return endpoint{*o}, nil
	}
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil || strings.Contains(text, "@") {
		if !strings.Contains(text, "@") { // or it may have a password
			bad.Value = text
		}
		return endpoint{}, bad
	}
	return endpoint{redis.Options{Addr: text}}, nil
}

// parseEndpoints reads a list in which no server may come twice: its counts would, too.
func parseEndpoints(list []string) ([]endpoint, error) {
	var all []endpoint
	seen := map[string]bool{}
	for _, text := range list {
		e, err := parseEndpoint(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		if seen[e.addr()] {
			return nil, &OptionError{"Servers", e.addr(), "must be given once"}
		}
		seen[e.addr()] = true
		all = append(all, e)
	}
	return all, nil
}

func (e endpoint) addr() string { return e.opts.Addr }

// client makes a client whose traffic c counts, unless c is nil.
func (e endpoint) client(c *counter) *redis.Client {
	o := e.opts
	o.Protocol, o.MaxRetries, o.ContextTimeoutEnabled, o.DisableIdentity = 2, -1, true, true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	if c != nil {
		o.Dialer = func(ctx context.Context, _, _ string) (net.Conn, error) { return e.dial(ctx, c) }
	}
	return redis.NewClient(&o)
}

// dial opens a connection whose traffic c counts, unless c is nil.
func (e endpoint) dial(ctx context.Context, c *counter) (net.Conn, error) {
	var conn net.Conn
	var err error
	if e.opts.TLSConfig != nil {
		conn, err = (&tls.Dialer{Config: e.opts.TLSConfig}).DialContext(ctx, "tcp", e.addr())
	} else {
		conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", e.addr())
	}
	if err != nil || c == nil {
		return conn, err
	}
	return &countedConn{Conn: conn, counter: c}, nil
}
