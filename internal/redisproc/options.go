package redisproc

import (
	"fmt"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Persistence says what a server still has after Kill or Restart.
type Persistence int

const (
	// None keeps nothing: a restarted server is empty.
	None Persistence = iota
	// AOF keeps every acknowledged write, by an append-only file that is synced
	// at each write. Put appendfsync into Args for less.
	AOF
	// RDB keeps the last snapshot: Restart of a running server writes one, Kill does not.
	RDB
)

// String returns "none", "AOF" or "RDB".
func (p Persistence) String() string {
	if p < None || p > RDB {
		return fmt.Sprintf("Persistence(%d)", int(p))
	}
	return [...]string{"none", "AOF", "RDB"}[p]
}

// TLS names the PEM files of a server that speaks TLS and nothing else.
// Clients need no certificate unless Args sets tls-auth-clients.
type TLS struct {
	Cert, Key, CA string
}

// A Sentinel watches a primary and promotes one of its replicas when it is down.
type Sentinel struct {
	// Name is what clients call the primary.
	Name string
	// Primary is its host:port at first.
	Primary string
	// Quorum is how many sentinels must find the primary down.
	Quorum int
	// DownAfter is after how long without an answer it is down, FailoverTimeout how
	// long a promotion may take; both in whole milliseconds.
	DownAfter, FailoverTimeout time.Duration
}

// Options says how to run a server. The zero value is a plain, empty server
// without persistence or password on a free port.
type Options struct {
	// Binary is a path, or a name in PATH. Empty means redis-server or else valkey-server.
	Binary string
	// Args holds further directives as name, value, name, value, ... in the
	// syntax of the configuration file. They win over the defaults, but not
	// over what other options decide.
	Args []string
	// Env holds variables as NAME=value that are added to the environment.
	Env []string
	// Dir is an existing folder in which the temporary one is made. Empty means os.TempDir.
	Dir string
	// Port is the port to listen on. 0 means any free one.
	Port int
	// Persistence defaults to None.
	Persistence Persistence
	// Password is that of the default user. Empty means none.
	Password string
	// ACLFile is copied, so that ACL SAVE leaves the original alone. Empty means
	// none. It excludes Password: the file says what the default user needs.
	ACLFile string
	// Cluster makes a cluster of this one node, which owns all slots. The server
	// itself takes two seconds to declare it usable.
	Cluster bool
	// Sentinel, if not nil, makes the server a sentinel. It excludes Args,
	// Persistence, Password, ACLFile, Cluster and TLS.
	Sentinel *Sentinel
	// TLS, if not nil, replaces the plain port by one with TLS.
	TLS *TLS
	// AcceptLoading takes a server as ready that still loads its data set and
	// answers LOADING. By default that is waited for.
	AcceptLoading bool
	// ReadyTimeout bounds the wait until the server answers. 0 means 30 s.
	ReadyTimeout time.Duration
}

const defaultReadyTimeout = 30 * time.Second

// decided lists the directives that Args may not contain, with what sets them.
var decided = map[string]string{
	"port": "Port", "tls-port": "Port", "bind": "the package", "dir": "the package",
	"daemonize": "the package", "supervised": "the package", "pidfile": "the package",
	"logfile": "the package", "loglevel": "the package", "syslog-enabled": "the package",
	"include": "the package", "dbfilename": "the package", "requirepass": "Password",
	"aclfile": "ACLFile", "user": "ACLFile", "appendonly": "Persistence",
	"cluster-enabled": "Cluster", "cluster-config-file": "Cluster", "cluster-port": "Cluster",
	"tls-cert-file": "TLS", "tls-key-file": "TLS", "tls-ca-cert-file": "TLS",
}

var directive = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*$`)

// validate checks all options together and changes none.
func (o *Options) validate() error {
	var errs optionErrors
	bad := func(field string, value any, rule string) {
		errs = append(errs, &OptionError{field, fmt.Sprintf("%#v", value), rule})
	}
	if o.Port < 0 || o.Port > 65535 {
		bad("Port", o.Port, "must be 0 (any free one) to 65535")
	}
	if o.Cluster && o.Port > maxClusterPort {
		bad("Port", o.Port, fmt.Sprintf("must be at most %d with Cluster, whose bus is %d above", maxClusterPort, busOffset))
	}
	if o.Persistence < None || o.Persistence > RDB {
		bad("Persistence", int(o.Persistence), "must be None, AOF or RDB")
	}
	if o.ReadyTimeout < 0 {
		bad("ReadyTimeout", o.ReadyTimeout.String(), "must not be negative; 0 means "+defaultReadyTimeout.String())
	}
	if o.Password != "" && o.ACLFile != "" {
		bad("ACLFile", o.ACLFile, "excludes Password: set the password in the file")
	}
	if o.Dir != "" {
		if fi, err := os.Stat(o.Dir); err != nil || !fi.IsDir() {
			bad("Dir", o.Dir, "must be an existing folder")
		}
	}
	o.validateSentinel(bad)
	o.validateFiles(bad)
	o.validateArgs(bad)
	if errs != nil {
		return &Error{Op: "check options", Err: errs}
	}
	return nil
}

func (o *Options) validateSentinel(bad func(string, any, string)) {
	s := o.Sentinel
	if s == nil {
		return
	}
	if o.Args != nil || o.Persistence != None || o.Password != "" || o.ACLFile != "" || o.Cluster || o.TLS != nil {
		bad("Sentinel", s.Name, "excludes Args, Persistence, Password, ACLFile, Cluster and TLS")
	}
	if !directive.MatchString(s.Name) {
		bad("Sentinel.Name", s.Name, "must be letters, digits and dashes")
	}
	if _, port, err := net.SplitHostPort(s.Primary); err != nil || port == "" {
		bad("Sentinel.Primary", s.Primary, "must be host:port")
	}
	if s.Quorum < 1 || s.DownAfter < time.Millisecond || s.FailoverTimeout < time.Millisecond {
		bad("Sentinel.Quorum", s.Quorum, "must be at least 1, DownAfter and FailoverTimeout at least 1ms")
	}
}

func (o *Options) validateFiles(bad func(string, any, string)) {
	check := func(field, path string) {
		f, err := os.Open(path)
		if err != nil {
			bad(field, path, "must be a readable file")
			return
		}
		_ = f.Close()
	}
	if o.ACLFile != "" {
		check("ACLFile", o.ACLFile)
	}
	if o.TLS != nil {
		check("TLS.Cert", o.TLS.Cert)
		check("TLS.Key", o.TLS.Key)
		check("TLS.CA", o.TLS.CA)
	}
}

func (o *Options) validateArgs(bad func(string, any, string)) {
	if len(o.Args)%2 != 0 {
		bad("Args", fmt.Sprintf("(%d elements)", len(o.Args)), "must be pairs of name and value")
		return
	}
	for pair := range slices.Chunk(o.Args, 2) {
		name, value := pair[0], pair[1]
		if !directive.MatchString(name) {
			bad("Args", name, "must name a directive: letters, digits and dashes")
		}
		if strings.ContainsAny(value, "\r\n") {
			bad("Args", name, "its value must be on one line")
		}
		if by, ok := decided[strings.ToLower(name)]; ok {
			bad("Args", name, "is decided by "+by)
		}
	}
}
