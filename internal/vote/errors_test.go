package vote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
)

// said is an error that a server answered.
type said string

func (e said) Error() string { return string(e) }
func (said) RedisError()     {}

func TestKindOf(t *testing.T) {
	for _, tt := range []struct {
		err  error
		kind error
	}{
		{said("READONLY You can't write against a read only replica."), election.ErrReadOnly},
		{said("ERR Error running script: @user_script:10: -READONLY You can't write against a read only replica."), election.ErrReadOnly},
		{said("LOADING Redis is loading the dataset in memory"), election.ErrLoading},
		{said("OOM command not allowed when used memory > 'maxmemory'."), election.ErrOutOfMemory},
		{said("MISCONF Errors writing to the AOF file: No space left on device"), election.ErrMisconfigured},
		{said("NOREPLICAS Not enough good replicas to write."), election.ErrNoReplicas},
		{said("WRONGPASS invalid username-password pair or user is disabled."), election.ErrAuth},
		{said("NOAUTH Authentication required."), election.ErrAuth},
		{said("ERR AUTH <password> called without any password configured for the default user."), election.ErrAuth},
		{said("NOPERM this user has no permissions to run the 'evalsha' command"), election.ErrScriptsDisabled},
		{said("NOPERM this user has no permissions to run the 'get' command"), election.ErrNoPermission},
		{said("ERR The user executing the script can't run this command or subcommand script: 0, on @user_script:1."), election.ErrNoPermission},
		{said("ERR The user executing the script can't access at least one of the keys mentioned in the command arguments"), election.ErrNoPermission},
		{said("NOPERM No permissions to access a channel"), election.ErrNoPermission},
		{said("WRONGTYPE Operation against a key holding the wrong kind of value"), election.ErrForeignKey},
		{said("CROSSSLOT Keys in request don't hash to the same slot"), election.ErrCrossSlot},
		{said("ERR SELECT is not allowed in cluster mode"), election.ErrWrongClient},
		{said("MOVED 1 127.0.0.1:7000"), election.ErrWrongClient},
		{said("ASK 1 127.0.0.1:7000"), election.ErrWrongClient},
		{said("CLUSTERDOWN The cluster is down"), election.ErrClusterDown},
		{said("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."), election.ErrReadOnly},
		{said("TRYAGAIN Multiple keys request during rehashing of slot"), election.ErrClusterDown},
		{said("BUSY Redis is busy running a script."), election.ErrBusy},
		{said("BUSYGROUP Consumer Group name already exists"), election.ErrRejected},
		{said("ERR unknown command 'EVALSHA', with args beginning with: "), election.ErrScriptsDisabled},
		{said("ERR unknown command `eval`, with args beginning with: "), election.ErrScriptsDisabled},
		{said("ERR unknown command 'GET'"), election.ErrRejected},
		{said("ERR max number of clients reached"), election.ErrUnreachable},
		{said("ERR something else"), election.ErrRejected},
		{redis.ErrClosed, election.ErrClientClosed},
		{fmt.Errorf("x: %w", x509.UnknownAuthorityError{}), election.ErrTLS},
		{x509.HostnameError{Certificate: &x509.Certificate{}, Host: "h"}, election.ErrTLS},
		{x509.CertificateInvalidError{Reason: x509.Expired}, election.ErrTLS},
		{tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, election.ErrTLS},
		{tls.AlertError(42), election.ErrTLS},
		{io.EOF, election.ErrUnreachable},
		{io.ErrUnexpectedEOF, election.ErrUnreachable},
		{context.DeadlineExceeded, election.ErrUnreachable},
		{context.Canceled, election.ErrUnreachable},
		{os.ErrDeadlineExceeded, election.ErrUnreachable},
		{net.ErrClosed, election.ErrUnreachable},
		{redis.ErrPoolTimeout, election.ErrUnreachable},
		{&net.OpError{Op: "dial", Err: errors.New("connect: connection refused")}, election.ErrUnreachable},
		{&net.DNSError{Err: "no such host", Name: "READONLY.example"}, election.ErrUnreachable},
		{&net.DNSError{Err: "no such host", Name: "LOADING"}, election.ErrUnreachable},
		{errReply, election.ErrRejected},
	} {
		if kind, _ := kindOf(tt.err); kind != tt.kind {
			t.Errorf("%v: %v, want %v", tt.err, kind, tt.kind)
		}
	}
}

// Every text of a server has one of the known kinds; none is lost, none panics.
func FuzzKindOf(f *testing.F) {
	for _, w := range wording {
		f.Add(strings.Trim(w.words.String(), `\b^()|`))
	}
	f.Add("NOPERM 'eval'")
	f.Fuzz(func(t *testing.T, text string) {
		kind, _ := kindOf(said(text))
		if kind == nil || errors.Is(kind, election.ErrNotAcquired) || errors.Is(kind, election.ErrTaken) {
			t.Errorf("%q: %v", text, kind)
		}
		// What no server said is never taken for its words.
		dial := &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: text}}
		if kind, _ := kindOf(dial); kind != election.ErrUnreachable {
			t.Errorf("dialling %q: %v", text, kind)
		}
	})
}

func TestAmbiguousAndMayStand(t *testing.T) {
	wrap := func(kind error) error {
		return &election.MasterError{Master: "m", Op: "acquire", Kind: kind, Err: errors.New("x")}
	}
	for _, tt := range []struct {
		err              error
		ambiguous, stand bool
	}{
		{nil, false, false},
		{wrap(election.ErrUnreachable), true, true},
		{wrap(election.ErrClientClosed), true, true},
		{wrap(election.ErrNoPermission), false, true},
		{wrap(election.ErrRejected), false, true},
		{wrap(election.ErrReadOnly), false, false},
		{wrap(election.ErrOutOfMemory), false, false},
		{&election.HeldError{}, false, false},
	} {
		if Ambiguous(tt.err) != tt.ambiguous || MayStand(tt.err) != tt.stand {
			t.Errorf("%v: ambiguous %t, may stand %t", tt.err, Ambiguous(tt.err), MayStand(tt.err))
		}
	}
}

func TestOlder(t *testing.T) {
	for _, tt := range []struct {
		version string
		want    bool
	}{
		{"2.6.0", true}, {"4.0.14", true}, {"4.9.9", true}, {"5.0.0", false}, {"5.0", false}, {"5", false}, {"5.0.1", false},
		{"6.2.14", false}, {"7.0.15", false}, {"10.0.0", false}, {"255.255.255", false}, {"", false}, {"unstable", false}, {"v4.0.0", false},
	} {
		if got := older(tt.version, "5.0.0"); got != tt.want {
			t.Errorf("older(%q, 5.0.0) = %t", tt.version, got)
		}
	}
	if older("5.9.9", "6.0.0") == false || older("6.0.9", "6.0.10") == false || older("6.1.0", "6.0.10") {
		t.Error("parts are not compared as numbers")
	}
}

func TestOptions(t *testing.T) {
	o, err := Options{}.WithDefaults()
	if err != nil || o.Timeout != time.Second || o.Retention != DefaultRetention || o.Logger == nil {
		t.Errorf("%+v, %v", o, err)
	}
	for want, o := range map[string]Options{
		"option Timeout: 1µs: at least 1ms":       {Timeout: time.Microsecond},
		"option Timeout: -1s: at least 1ms":       {Timeout: -time.Second},
		"option Retention: 1m0s: at least 1h0m0s": {Retention: time.Minute},
	} {
		if _, err := o.WithDefaults(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Which time ran out.
func TestRan(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	passed, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	ours, cancel := Within(t.Context(), time.Nanosecond, "timeout per master")
	defer cancel()
	<-ours.Done()
	for _, tt := range []struct {
		ctx  context.Context
		want string
		is   error
	}{
		{t.Context(), "boom", nil},
		{cancelled, "no answer within the caller's deadline: context canceled: boom", context.Canceled},
		{passed, "no answer within the caller's deadline: context deadline exceeded: boom", context.DeadlineExceeded},
		{ours, "no answer within 0s (timeout per master): boom", context.DeadlineExceeded},
	} {
		err := ran(tt.ctx, errors.New("boom"))
		if err.Error() != tt.want || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
	short, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if ctx, _ := Within(short, time.Hour, "x"); ctx != short {
		t.Error("Within made a context that was not needed")
	}
	if Bound(time.Minute) != 15*time.Second || Bound(time.Millisecond) != 10*time.Millisecond {
		t.Errorf("Bound: %s, %s", Bound(time.Minute), Bound(time.Millisecond))
	}
}
