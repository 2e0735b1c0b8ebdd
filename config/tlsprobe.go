package config

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
)

// otherwise finds out whether a server that gives no answer would give one with TLS,
// or without: then that is what is wrong. It sends nothing but a handshake, or a PING.
func (cl *Client) otherwise(ctx context.Context, c redis.UniversalClient, name string, found error) error {
	plain, ok := c.(*redis.Client)
	if !ok || !errors.Is(found, election.ErrUnreachable) {
		return found
	}
	o := plain.Options()
	if _, _, err := net.SplitHostPort(o.Addr); err != nil {
		return found // behind Sentinels
	}
	ctx, cancel := context.WithTimeout(ctx, cl.cfg.DialTimeout/2)
	defer cancel()
	refuse := func(what, remedy string) error {
		return &election.MasterError{Master: name, Op: "check", Kind: election.ErrTLS, Err: errors.New(what), Remedy: remedy}
	}
	closed := errors.Is(found, io.EOF) || errors.Is(found, syscall.ECONNRESET) || errors.Is(found, syscall.EPIPE)
	switch {
	case o.TLSConfig == nil && closed && cl.speaksTLS(ctx, o.Addr):
		return refuse("the port speaks TLS, and TLS is off", "set tls.enabled: true and tls.ca_file, or give the port without TLS")
	case o.TLSConfig != nil && strings.Contains(found.Error(), "TLS handshake") && cl.speaksPlainly(ctx, o.Addr):
		return refuse("the port does not speak TLS, and TLS is on", "give the server's TLS port, or set tls.enabled: false")
	}
	return found
}

// speaksTLS says whether a handshake is answered as one.
func (cl *Client) speaksTLS(ctx context.Context, address string) bool {
	raw, err := cl.cfg.Dialer(ctx, "tcp", address)
	if err != nil {
		return false
	}
	defer func() { _ = raw.Close() }() // nothing was sent over it
	//nolint:gosec // nothing but the handshake is done, and nothing is believed
	return tls.Client(raw, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(ctx) == nil
}

// speaksPlainly says whether a PING is answered, be it by a refusal.
func (cl *Client) speaksPlainly(ctx context.Context, address string) bool {
	raw, err := cl.cfg.Dialer(ctx, "tcp", address)
	if err != nil {
		return false
	}
	defer func() { _ = raw.Close() }() // nothing else was sent over it
	if at, ok := ctx.Deadline(); ok && raw.SetDeadline(at) != nil {
		return false
	}
	if _, err := raw.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	first := make([]byte, 1)
	_, err = io.ReadFull(raw, first)
	return err == nil && bytes.ContainsAny(first, "+-")
}
