package redisproc

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"incumbent/internal/process"
)

const (
	pollEvery    = 2 * time.Millisecond
	probeTimeout = time.Second
)

// awaitReady returns once the server answers, or says why it will not. from is
// where the log of this run begins.
func (s *Server) awaitReady(ctx context.Context, p *process.Process, from int64) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.readyTimeout(), ErrNotReady)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		last := s.probe(ctx, from)
		if last == nil && p.Running() {
			return nil
		}
		if errors.Is(last, errTalks) {
			return fmt.Errorf("%w: %w", ErrNotReady, last)
		}
		select {
		case <-p.Exited():
			return s.exitError(p, from)
		case <-ctx.Done():
			return fmt.Errorf("%w (%v)", context.Cause(ctx), last)
		case <-tick.C:
		}
	}
}

// probe returns nil when this server, and not another one that took the port,
// answers. Its own log is the proof: a server that could not bind never says
// that it is initialized, and reading that needs no password.
func (s *Server) probe(ctx context.Context, from int64) error {
	if err := s.talksTooMuch(from); err != nil {
		return err
	}
	log, ready := s.readLog(from), "Server initialized"
	if s.opts.Sentinel != nil {
		ready = "Sentinel ID is"
	}
	if !strings.Contains(log, ready) {
		return errors.New("it has not said that it is initialized")
	}
	if s.opts.Cluster && !strings.Contains(log, "Cluster state changed: ok") {
		return errors.New("the cluster is not usable yet")
	}
	reply, err := s.ping(ctx)
	if err != nil {
		return err
	}
	if strings.HasPrefix(reply, "-LOADING") && !s.opts.AcceptLoading {
		return errors.New("it is still loading its data set")
	}
	// Any other error, such as NOAUTH, comes from a server that is up.
	if !strings.HasPrefix(reply, "+") && !strings.HasPrefix(reply, "-") {
		return fmt.Errorf("unexpected reply %q", reply)
	}
	return nil
}

// ping returns the first line of the answer to PING.
func (s *Server) ping(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	conn, err := s.dial(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return "", err
	}
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return "", err
	}
	return bufio.NewReader(conn).ReadString('\n')
}

func (s *Server) dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	if s.opts.TLS == nil {
		return d.DialContext(ctx, "tcp", s.addr)
	}
	cert, err := tls.LoadX509KeyPair(s.opts.TLS.Cert, s.opts.TLS.Key)
	if err != nil {
		return nil, err
	}
	// The names in a test certificate are the caller's business, and nothing
	// but PING is sent: so the server is not verified here.
	conf := &tls.Config{Certificates: []tls.Certificate{cert}, InsecureSkipVerify: true} //nolint:gosec // see above
	return (&tls.Dialer{NetDialer: &d, Config: conf}).DialContext(ctx, "tcp", s.addr)
}

// exitError explains the end of a server that never became ready.
func (s *Server) exitError(p *process.Process, from int64) error {
	log := s.readLog(from)
	if strings.Contains(log, "ddress already in use") {
		return ErrPortInUse
	}
	said := strings.Join(lastLines(log, 4), " | ")
	if said == "" {
		said = "it said nothing"
	}
	return fmt.Errorf("%w (%s): %s", ErrExited, p.State(), said)
}
