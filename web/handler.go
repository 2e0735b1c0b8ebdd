package web

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"incumbent/election"
	"incumbent/internal/follow"
)

// DefaultOverrunTolerance is how long work may outlive its term before /livez asks for a
// restart, unless Options say otherwise.
const DefaultOverrunTolerance = 10 * time.Second

// DefaultShutdownTimeout is how long Serve waits for requests, unless Options say
// otherwise.
const DefaultShutdownTimeout = 5 * time.Second

// Options of a Handler. The zero value is usable.
type Options struct {
	// Election is the name that /leader shows.
	Election string
	// ID and Metadata are shown as this candidate's. ID "" means host name and
	// process id, as in election.Options: give the same as there.
	ID       string
	Metadata map[string]string
	// OverrunTolerance is how long work may go on after its term's end before
	// /livez fails. 0 means DefaultOverrunTolerance; negative means for ever.
	OverrunTolerance time.Duration
	// ShutdownTimeout is how long Serve lets requests that are under way finish. 0 means
	// DefaultShutdownTimeout.
	ShutdownTimeout time.Duration
	// Metrics answers /metrics: that of promhttp, say. nil means 404.
	Metrics http.Handler
	// Logger gets what the server of Serve reports. nil means slog.Default().
	Logger *slog.Logger
	// Clock is the elector's. nil means election.SystemClock, as it does there.
	Clock election.Clock
}

// A Handler answers for one candidate in one election. Give its Observe to the
// elector. It may be used from many goroutines, and starts none.
type Handler struct {
	opt      Options
	who      Candidate
	follower *follow.Follower
	stopped  atomic.Bool
	leaving  atomic.Bool
}

// New makes a Handler. It answers at once: before the first campaign, a candidate is
// alive, ready, and does not lead.
func New(o Options) *Handler {
	host, _ := os.Hostname() // an unknown one is not shown
	who := Candidate{ID: o.ID, Host: host, PID: os.Getpid(), Metadata: o.Metadata}
	if who.ID == "" {
		who.ID = fmt.Sprintf("%s-%d", host, who.PID)
	}
	if o.OverrunTolerance == 0 {
		o.OverrunTolerance = DefaultOverrunTolerance
	}
	if o.ShutdownTimeout == 0 {
		o.ShutdownTimeout = DefaultShutdownTimeout
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return &Handler{opt: o, who: who, follower: follow.New(o.Clock)}
}

// Observe takes in an event: it is meant for election.Options.Observer. It does not
// block.
func (h *Handler) Observe(ev election.Event) { h.follower.Observe(ev) }

// ShuttingDown makes /readyz answer 503 from here on, for good: call it when the
// process is told to end. /livez is as before, since a restart would not help.
func (h *Handler) ShuttingDown() { h.leaving.Store(true) }

// Stopped says that nothing campaigns any more: call it when election.Run has returned.
// An error makes /livez answer 503 from here on, unless ShuttingDown was called; nil,
// which is what Run returns when it was told to end or the work is done, does not. The
// error itself is not shown. A campaign that ends with an error that waiting does not
// cure (election.Permanent) counts the same until another begins.
func (h *Handler) Stopped(err error) {
	if err != nil {
		h.stopped.Store(true)
	}
}

// ServeHTTP answers /leader, /livez, /readyz and, where there is a handler for it,
// /metrics. Use http.StripPrefix to have them below another path.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := map[string]http.HandlerFunc{
		"/leader": h.leader, "/livez": h.livez, "/readyz": h.readyz,
	}[r.URL.Path]
	if r.URL.Path == "/metrics" && h.opt.Metrics != nil {
		answer = h.opt.Metrics.ServeHTTP
	}
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case answer == nil:
		http.Error(w, "not found: there are /leader, /livez, /readyz and, if it is served, /metrics", http.StatusNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
	default:
		answer(w, r)
	}
}

func (h *Handler) leader(w http.ResponseWriter, _ *http.Request) {
	s := h.Status()
	w.Header().Set("Content-Type", "application/json")
	if !s.Leader {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(s) // it fails when the client has gone
}

func (h *Handler) livez(w http.ResponseWriter, _ *http.Request) {
	token, overrun, running := h.follower.Work()
	switch {
	case running && h.opt.OverrunTolerance > 0 && overrun > h.opt.OverrunTolerance:
		say(w, false, fmt.Sprintf("work of term %d still runs, %s after its term ended", token, overrun.Round(time.Millisecond)))
	case (h.stopped.Load() || h.follower.Hopeless()) && !h.leaving.Load():
		say(w, false, "the elector has stopped and will not campaign again; the log says why")
	default:
		say(w, true, "alive")
	}
}

func (h *Handler) readyz(w http.ResponseWriter, _ *http.Request) {
	if h.leaving.Load() {
		say(w, false, "shutting down")
		return
	}
	say(w, true, "ready")
}

// say answers with a line of text.
func say(w http.ResponseWriter, ok bool, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if !ok {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = fmt.Fprintln(w, text) // it fails when the client has gone
}
