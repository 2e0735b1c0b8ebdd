package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Time-outs of Serve. Answers are made from memory; only a slow client needs longer.
const (
	readTimeout    = 5 * time.Second
	writeTimeout   = 30 * time.Second // a scrape of many metrics over a slow line
	idleTimeout    = 2 * time.Minute  // longer than most intervals between scrapes
	maxHeaderBytes = 16 << 10
)

// Serve answers on l until ctx ends, and closes l. It blocks. Then it calls
// ShuttingDown, lets requests that are under way finish for up to
// Options.ShutdownTimeout, and cuts off the rest. It returns nil after that, and otherwise why it could not serve. It
// starts a goroutine of its own and waits for it.
func (h *Handler) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: readTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeaderBytes,
		ErrorLog:       slog.NewLogLogger(h.opt.Logger.Handler(), slog.LevelWarn),
	}
	stopped := make(chan struct{})
	serving, end := context.WithCancel(ctx)
	defer func() { end(); <-stopped }()
	go func() {
		defer close(stopped)
		<-serving.Done()
		if ctx.Err() != nil {
			h.ShuttingDown()
		}
		shutdown(server, h.opt.ShutdownTimeout)
	}()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	}
	return nil
}

// shutdown waits for requests that are under way, up to a limit.
func shutdown(s *http.Server, limit time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if s.Shutdown(ctx) != nil {
		_ = s.Close() // what is left has had its time
	}
}
