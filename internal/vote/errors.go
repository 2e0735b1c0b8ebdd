package vote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"regexp"
	"strings"

	"github.com/redis/go-redis/v9"

	"incumbent/election"
)

// MinVersion is the oldest server that is served: the first whose scripts
// replicate their effects, without which a script that reads the time may not
// write.
const MinVersion = "5.0.0"

const readOnlyRemedy = "point the client at the primary, or use Sentinel"

// wording maps a server's words to a kind. Inside scripts some servers wrap
// the error, so the words are looked for anywhere. The first match counts.
var wording = []struct {
	words  *regexp.Regexp
	kind   error
	remedy string
}{
	{regexp.MustCompile(`\b(READONLY|MASTERDOWN|UNBLOCKED)\b|read only (slave|replica)|cannot be used with replica instances`), election.ErrReadOnly, readOnlyRemedy},
	{regexp.MustCompile(`\bLOADING\b`), election.ErrLoading, ""},
	{regexp.MustCompile(`\bOOM\b|command not allowed when used memory`), election.ErrOutOfMemory, "raise maxmemory or free memory"},
	{regexp.MustCompile(`\bMISCONF\b`), election.ErrMisconfigured, "repair the server's persistence: see its log and disk"},
	{regexp.MustCompile(`\bNOREPLICAS\b`), election.ErrNoReplicas, "bring replicas back, or lower min-replicas-to-write"},
	{regexp.MustCompile(`\bDENIED\b.*protected mode`), election.ErrAuth, "the server lets nobody in from another host: set a password there, or end its protected mode"},
	{regexp.MustCompile(`\b(NOAUTH|WRONGPASS)\b|invalid password|AUTH failed|AUTH <password> called without|no password is set|operation not permitted|unauthenticated (multi)?bulk`),
		election.ErrAuth, "check user name and password"},
	{regexp.MustCompile(`(?i)NOPERM.*'(eval|evalsha)\b`), election.ErrScriptsDisabled, "grant the ACL user EVAL and EVALSHA"},
	{regexp.MustCompile(`\bNOPERM\b|can't run this command|can't access at least one of the keys|ACL failure|No permissions to access`),
		election.ErrNoPermission, "grant the ACL user the commands and key pattern that docs/protocol.md lists"},
	{regexp.MustCompile(`\bWRONGTYPE\b`), election.ErrForeignKey, "another program uses this key: choose another prefix or election name"},
	{regexp.MustCompile(`\bCROSSSLOT\b|hash to the same slot|non local key`), election.ErrCrossSlot, "the proxy in between must keep hash tags"},
	{regexp.MustCompile(`SELECT is not allowed in cluster mode`), election.ErrWrongClient, "a Cluster has only database 0: remove the database number"},
	{regexp.MustCompile(`DB index is out of range`), election.ErrWrongClient, "the server has fewer databases: correct the database number"},
	{regexp.MustCompile(`\b(MOVED|ASK) \d+ `), election.ErrWrongClient, "the server is a member of a Cluster: use a Cluster client"},
	{regexp.MustCompile(`\b(CLUSTERDOWN|TRYAGAIN)\b`), election.ErrClusterDown, ""},
	{regexp.MustCompile(`\b(BUSY|UNKILLABLE)\b`), election.ErrBusy, "a script on the server runs too long: SCRIPT KILL ends it"},
	// Proxies and providers have words of their own for what they do not pass on.
	{regexp.MustCompile(`(?i)(unknown|unsupported|disabled|disallowed|not (supported|allowed|available|enabled)) command\W*(EVAL|EVALSHA)\b`), election.ErrScriptsDisabled, "the server must allow EVAL and EVALSHA"},
	{regexp.MustCompile(`(?i)\b(EVAL|EVALSHA)\b\W.*\b(disabled|unsupported|forbidden|not (be )?(support|supported|allowed|available|enabled|permitted))\b`), election.ErrScriptsDisabled, "the server must allow EVAL and EVALSHA"},
	{regexp.MustCompile(`max number of clients`), election.ErrUnreachable, "raise maxclients"},
}

// handshake matches the alerts by which a server refuses a TLS handshake. The one
// for a missing certificate comes after the client has done its part (TLS 1.3), with
// the first answer; before that nothing was done. Other alerts leave that open.
var handshake = regexp.MustCompile(`certificate|protocol version|handshake failure|insufficient security|unrecognized name|access denied`)

// kindOf tells what kind of failure err is, and what to do about it.
//
//lint:ignore ST1008 the kind is the answer, not a failure to answer
func kindOf(err error) (kind error, remedy string) {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var op *net.OpError
	switch {
	case errors.Is(err, redis.ErrClosed):
		return election.ErrClientClosed, "stop the elector before closing its client"
	case errors.As(err, &unknown):
		return election.ErrTLS, "give the CA file that signed the server's certificate"
	case errors.As(err, &host):
		return election.ErrTLS, "set the server name that the certificate carries"
	case errors.As(err, &invalid), errors.As(err, &alert):
		return election.ErrTLS, "check the server's certificate"
	case errors.As(err, &record):
		return election.ErrTLS, "the port does not speak TLS"
	case errors.As(err, &op) && op.Op == "remote error" && handshake.MatchString(op.Error()):
		return election.ErrTLS, "give this client's certificate, and see the server's log: it refused the handshake"
	}
	// What no server said is not searched for a server's words: an address may
	// contain them.
	var answer redis.Error
	if !errors.As(err, &answer) && silent(err) {
		return election.ErrUnreachable, ""
	}
	text := err.Error()
	for _, w := range wording {
		if w.words.MatchString(text) {
			return w.kind, w.remedy
		}
	}
	return election.ErrRejected, ""
}

// Typed types the error of a command that somebody else sent to a master.
func Typed(master, op string, err error) *election.MasterError {
	kind, remedy := kindOf(err)
	return &election.MasterError{Master: master, Op: op, Kind: kind, Err: err, Remedy: remedy}
}

// silent reports whether err means that no answer came.
func silent(err error) bool {
	var n net.Error
	return errors.As(err, &n) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, context.Canceled) || errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, net.ErrClosed) ||
		strings.Contains(err.Error(), "connection refused") || strings.Contains(err.Error(), "use of closed")
}

// Ambiguous reports whether the master may have done what it was asked for,
// although err came back: everything but a clear refusal.
func Ambiguous(err error) bool {
	return err != nil && (errors.Is(err, election.ErrUnreachable) || errors.Is(err, election.ErrClientClosed))
}

// MayStand reports whether a bid that failed with err may have left a vote: no
// answer came, too few replicas have it, or the script failed half-way, as it does
// for a user that may run some of its commands only.
func MayStand(err error) bool {
	return Ambiguous(err) || errors.Is(err, election.ErrNoPermission) || errors.Is(err, election.ErrRejected) ||
		errors.Is(err, election.ErrNotReplicated)
}
