package local

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// An exchange connects candidates to addresses that they name, since those of masters
// behind Sentinels, or in a Cluster, are found only while elections run. It stands at
// the far end of all proxies: each connection begins with a line that holds a ticket,
// which keeps other programs of the machine out, and an address. The answer is an empty
// line once the connection is made, or why it was not. What follows is passed on as it
// is, so that encryption is from end to end.
type exchange struct {
	ticket   string
	listener net.Listener
	ctx      context.Context // done when the exchange closes
	cancel   context.CancelFunc
	wg       sync.WaitGroup
}

const (
	exchangeDial = 10 * time.Second
	longestOrder = 1 << 10 // bytes of a line
)

// newExchange listens on a free loopback port.
func newExchange() (*exchange, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for candidates: %w", err)
	}
	x := &exchange{ticket: rand.Text(), listener: ln}
	x.ctx, x.cancel = context.WithCancel(context.Background())
	x.wg.Go(x.accept)
	return x, nil
}

// close ends all connections and returns when no goroutine is left.
func (x *exchange) close() {
	x.cancel()
	_ = x.listener.Close() // nothing follows from a failure
	x.wg.Wait()
}

func (x *exchange) accept() {
	for {
		c, err := x.listener.Accept()
		switch {
		case err == nil:
			x.wg.Go(func() { x.serve(c) })
		case x.ctx.Err() != nil:
			return
		default: // such as too many open files
			time.Sleep(time.Millisecond)
		}
	}
}

// serve serves one connection until either end closes it.
func (x *exchange) serve(near net.Conn) {
	ctx, cancel := context.WithCancel(x.ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = near.Close() })
	defer func() { stop(); _ = near.Close() }()
	line, err := readLine(near)
	ticket, address, _ := strings.Cut(line, " ")
	if err != nil || subtle.ConstantTimeCompare([]byte(ticket), []byte(x.ticket)) != 1 {
		return
	}
	far, err := (&net.Dialer{Timeout: exchangeDial}).DialContext(ctx, "tcp", address)
	if err != nil {
		_, _ = io.WriteString(near, strings.ReplaceAll(err.Error(), "\n", " ")+"\n") // it may be gone
		return
	}
	over := context.AfterFunc(ctx, func() { _ = far.Close() })
	defer func() { over(); _ = far.Close() }()
	if _, err := io.WriteString(near, "\n"); err != nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer cancel()
		_, _ = io.Copy(far, near) // an error is the end as well
	}()
	_, _ = io.Copy(near, far)
	cancel()
	<-done
}

// readLine reads up to the end of a line, and nothing of what follows.
func readLine(r io.Reader) (string, error) {
	var line []byte
	for one := make([]byte, 1); len(line) < longestOrder; {
		if _, err := io.ReadFull(r, one); err != nil {
			return "", err
		}
		if one[0] == '\n' {
			return string(line), nil
		}
		line = append(line, one[0])
	}
	return "", bufio.ErrTooLong
}

// dialThrough connects to an address through an exchange behind link. While the link is
// a black hole it lasts until ctx ends, as a dial does whose packets get lost.
func dialThrough(ctx context.Context, link, ticket, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", link)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	answer := ""
	if _, err = io.WriteString(conn, ticket+" "+address+"\n"); err == nil {
		answer, err = readLine(conn)
	}
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case err == nil && answer == "":
		return conn, nil
	case err == nil:
		err = errors.New(answer)
	}
	return nil, errors.Join(&net.OpError{Op: "dial", Net: "tcp", Err: err}, conn.Close())
}
