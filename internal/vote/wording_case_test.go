package vote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"incumbent/election"
)

// texts are what servers of all ages, providers and proxies answer, and what kind
// of refusal each is.
var texts = []struct {
	kind  error
	texts []string
}{
	{election.ErrReadOnly, []string{
		"READONLY You can't write against a read only replica.",
		"READONLY You can't write against a read only slave.",
		"READONLY You can't write against a read only replica. script: f3a2bb1, on @user_script:1.",
		"ERR Error running script (call to f_f3a2bb1): @user_script:10: @user_script: 10: -READONLY You can't write against a read only slave.",
		"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
		"UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)",
		"ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is configured to be writable...",
	}},
	{election.ErrLoading, []string{"LOADING Redis is loading the dataset in memory", "LOADING Valkey is loading the dataset in memory"}},
	{election.ErrOutOfMemory, []string{
		"OOM command not allowed when used memory > 'maxmemory'.",
		"ERR command not allowed when used memory > 'maxmemory'",
		"ERR Error running script (call to f_1): @user_script:9: @user_script: 9: -OOM command not allowed when used memory > 'maxmemory'.",
	}},
	{election.ErrMisconfigured, []string{
		"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
		"MISCONF Errors writing to the AOF file: No space left on device",
	}},
	{election.ErrNoReplicas, []string{"NOREPLICAS Not enough good replicas to write.", "NOREPLICAS Not enough good slaves to write."}},
	{election.ErrAuth, []string{
		"NOAUTH Authentication required.",
		"NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used",
		"WRONGPASS invalid username-password pair or user is disabled.",
		"ERR invalid password",
		"ERR operation not permitted",
		"ERR Client sent AUTH, but no password is set",
		"ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?",
		"ERR Protocol error: unauthenticated bulk length",
		"ERR Protocol error: unauthenticated multibulk length",
		"DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the default user.",
	}},
	{election.ErrNoPermission, []string{
		"NOPERM this user has no permissions to run the 'hset' command",
		"NOPERM User app has no permissions to run the 'info' command",
		"NOPERM this user has no permissions to access one of the keys used as arguments",
		"NOPERM ACL failure in script: User app has no permissions to run the 'set' command",
		"ERR The user executing the script can't run this command or subcommand script: f3a2, on @user_script:20.",
	}},
	{election.ErrScriptsDisabled, []string{
		"NOPERM this user has no permissions to run the 'evalsha' command or its subcommand",
		"NOPERM User app has no permissions to run the 'EVAL' command",
		"ERR unknown command 'EVALSHA'",
		"ERR unknown command 'EVAL'",
		"ERR unknown command `EVALSHA`, with args beginning with: `2f1c`, `2`, ",
		"ERR unknown command evalsha",
		"ERR unsupported command 'evalsha'",
		"ERR Unsupported command: EVAL",
		"ERR command eval not support for normal user",
		"ERR 'EVALSHA' command is not supported",
		"ERR handle request, command 'EVAL' is not allowed",
		"ERR The command EVAL is disabled",
	}},
	{election.ErrForeignKey, []string{"WRONGTYPE Operation against a key holding the wrong kind of value"}},
	{election.ErrCrossSlot, []string{
		"CROSSSLOT Keys in request don't hash to the same slot",
		"ERR eval/evalsha command keys must hash to the same slot",
		"ERR Script attempted to access a non local key in a cluster node",
	}},
	{election.ErrWrongClient, []string{
		"MOVED 866 127.0.0.1:7001", "ASK 866 127.0.0.1:7001", "MOVED 866 [::1]:7001",
		"ERR SELECT is not allowed in cluster mode", "ERR DB index is out of range",
	}},
	{election.ErrClusterDown, []string{
		"CLUSTERDOWN The cluster is down", "CLUSTERDOWN Hash slot not served", "CLUSTERDOWN The cluster is down and only accepts read commands",
		"TRYAGAIN Multiple keys request during rehashing of slot",
	}},
	{election.ErrBusy, []string{
		"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
		"BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.",
		"UNKILLABLE Sorry the script already executed write commands against the dataset.",
	}},
	{election.ErrUnreachable, []string{"ERR max number of clients reached", "ERR max number of clients + cluster connections reached"}},
	{election.ErrRejected, []string{
		"NOSCRIPT No matching script. Please use EVAL.", // only where EVAL was answered so
		"ERR wrong number of arguments for 'evalsha' command",
		"ERR unknown command 'GET'",
		"ERR Error running script: Script killed by user with SCRIPT KILL.",
		"IOERR error or timeout writing to target instance",
		"EXECABORT Transaction discarded because of previous errors.",
		"NOPROTO unsupported protocol version",
		"BUSYKEY Target key name already exists.",
		"ERR Write commands are not allowed from read-only scripts.",
		"backend unavailable",
		"",
	}},
}

// What a server refuses is told apart whatever stands before the code: a dash from
// within a script, or the words of a provider or proxy (D05 to D13).
func TestD10_CodesBehindOtherWords(t *testing.T) {
	for _, group := range texts {
		for _, text := range group.texts {
			for _, prefix := range []string{"", "-", "ERR ", "ERR (error) ", "(error) ", "ERR Error running script (call to f_1): @user_script:1: -", "upstream failure: "} {
				if prefix != "" && (text == "" || strings.HasPrefix(prefix, "ERR Error") && strings.HasPrefix(text, "ERR Error")) {
					continue
				}
				kind, remedy := kindOf(said(prefix + text))
				if !errors.Is(kind, group.kind) {
					t.Errorf("%q: %v, want %v", prefix+text, kind, group.kind)
				}
				if strings.Contains(text, "DENIED") && !strings.Contains(remedy, "protected mode") {
					t.Errorf("%q: remedy %q", prefix+text, remedy)
				}
				if waits := errors.Is(kind, election.ErrLoading) || errors.Is(kind, election.ErrClusterDown) || errors.Is(kind, election.ErrRejected); (remedy == "") != waits {
					t.Errorf("%q: remedy %q", prefix+text, remedy)
				}
			}
		}
	}
}

// The answer for a script that the server has forgotten is known behind other words.
func TestD10_ForgottenScriptBehindOtherWords(t *testing.T) {
	for text, want := range map[string]bool{
		"NOSCRIPT No matching script. Please use EVAL.":             true,
		"ERR (error) NOSCRIPT No matching script. Please use EVAL.": true,
		"-NOSCRIPT No matching script.":                             true,
		"upstream failure: NOSCRIPT":                                true,
		"ERR unknown command 'EVALSHA'":                             false,
	} {
		if noScript(said(text)) != want {
			t.Errorf("%q: forgotten %t", text, !want)
		}
	}
}

// Failures of TLS are no silence, whoever of the two found them (D21).
func TestD21_WhoRefusedTheHandshake(t *testing.T) {
	for _, tt := range []struct {
		err    error
		kind   error
		remedy string
	}{
		{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, election.ErrTLS, "CA file"},
		{&tls.CertificateVerificationError{Err: x509.HostnameError{Certificate: &x509.Certificate{}, Host: "h"}}, election.ErrTLS, "server name"},
		{&tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.Expired}}, election.ErrTLS, "certificate"},
		{fmt.Errorf("x: %w", &net.OpError{Op: "remote error", Err: errors.New("tls: certificate required")}), election.ErrTLS, "this client's certificate"},
		{&net.OpError{Op: "remote error", Err: errors.New("tls: bad certificate")}, election.ErrTLS, "this client's certificate"},
		{&net.OpError{Op: "remote error", Err: errors.New("tls: protocol version not supported")}, election.ErrTLS, "see the server's log"},
		{&net.OpError{Op: "remote error", Err: errors.New("tls: handshake failure")}, election.ErrTLS, "see the server's log"},
		{&net.OpError{Op: "remote error", Err: errors.New("tls: bad record MAC")}, election.ErrUnreachable, ""}, // something may have been done before
		{&net.OpError{Op: "remote error", Err: errors.New("tls: internal error")}, election.ErrUnreachable, ""},
		{&net.OpError{Op: "read", Err: errors.New("connection reset by peer")}, election.ErrUnreachable, ""},
		{context.DeadlineExceeded, election.ErrUnreachable, ""},
	} {
		kind, remedy := kindOf(tt.err)
		if !errors.Is(kind, tt.kind) || !strings.Contains(remedy, tt.remedy) || (remedy == "") != (tt.remedy == "") {
			t.Errorf("%v: %v (%s), want %v (%s)", tt.err, kind, remedy, tt.kind, tt.remedy)
		}
	}
}
