package redisproc

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	confName  = "redis.conf"
	aclName   = "users.acl"
	nodesName = "nodes.conf"
	rdbName   = "dump.rdb"
	logName   = "server.log"
)

// writeConf writes the configuration for a server on port, and the state of
// a one-node cluster, whose port it contains.
func (s *Server) writeConf(port int) error {
	opts := s.opts
	if s.logged {
		opts.Persistence = AOF
	}
	conf, err := opts.conf(s.dir, port)
	if err != nil {
		return err
	}
	if s.opts.Cluster {
		if err := os.WriteFile(filepath.Join(s.dir, nodesName), []byte(nodesConf(port)), 0o600); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(s.dir, confName), []byte(conf), 0o600)
}

// conf renders the configuration. Args come last, because the last one wins.
func (o *Options) conf(dir string, port int) (string, error) {
	var b strings.Builder
	set := func(name string, values ...string) {
		b.WriteString(name)
		for _, v := range values {
			b.WriteString(" " + quote(v))
		}
		b.WriteByte('\n')
	}
	set("bind", "127.0.0.1")
	set("dir", dir)
	set("daemonize", "no")
	set("loglevel", "notice")
	if o.Sentinel != nil {
		set("port", fmt.Sprint(port))
		return b.String() + o.Sentinel.conf(), nil
	}
	set("dbfilename", rdbName)
	o.confPersistence(set)
	if o.Password != "" {
		set("requirepass", o.Password)
	}
	if o.ACLFile != "" {
		set("aclfile", filepath.Join(dir, aclName))
	}
	if o.Cluster {
		set("cluster-enabled", "yes")
		set("cluster-config-file", nodesName)
	}
	if err := o.confPort(set, port); err != nil {
		return "", err
	}
	for pair := range slices.Chunk(o.Args, 2) {
		fmt.Fprintf(&b, "%s %s\n", pair[0], pair[1])
	}
	return b.String(), nil
}

func (o *Options) confPersistence(set func(string, ...string)) {
	switch o.Persistence {
	case None:
		set("save", "")
	case AOF:
		set("save", "")
		set("appendonly", "yes")
		set("appendfsync", "always")
	case RDB:
		set("save", "3600", "1") // a save point is what makes an orderly end write a snapshot
	}
}

// conf is what a sentinel's configuration has besides. It is not quoted: the options
// were checked.
func (s *Sentinel) conf() string {
	host, port, _ := net.SplitHostPort(s.Primary)
	return fmt.Sprintf("sentinel monitor %[1]s %[2]s %[3]s %[4]d\n"+
		"sentinel down-after-milliseconds %[1]s %[5]d\nsentinel failover-timeout %[1]s %[6]d\n",
		s.Name, host, port, s.Quorum, s.DownAfter.Milliseconds(), s.FailoverTimeout.Milliseconds())
}

func (o *Options) confPort(set func(string, ...string), port int) error {
	if o.TLS == nil {
		set("port", fmt.Sprint(port))
		return nil
	}
	set("port", "0")
	set("tls-port", fmt.Sprint(port))
	set("tls-auth-clients", "optional")
	if o.Cluster {
		set("tls-cluster", "yes")
	}
	for _, f := range [][2]string{{"tls-cert-file", o.TLS.Cert}, {"tls-key-file", o.TLS.Key}, {"tls-ca-cert-file", o.TLS.CA}} {
		abs, err := filepath.Abs(f[1]) // the server changes its working directory
		if err != nil {
			return err
		}
		set(f[0], abs)
	}
	return nil
}

// quote writes s so that the server's parser reads back the same bytes.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			fmt.Fprintf(&b, `\x%02x`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}

// nodesConf is the state file of a cluster whose only node owns all slots. To
// write it spares commands that a password or an ACL could forbid.
func nodesConf(port int) string {
	id := fmt.Sprintf("%040x", port)
	return fmt.Sprintf("%s 127.0.0.1:%d@%d myself,master - 0 0 1 connected 0-16383\n"+
		"vars currentEpoch 1 lastVoteEpoch 0\n", id, port, port+busOffset)
}
