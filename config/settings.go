package config

import (
	"slices"
	"strings"

	"incumbent/election"
	"incumbent/internal/nearest"
)

// A Setting is one thing that can be configured, under three names.
type Setting struct {
	// Key in the YAML file; a dot stands for a level.
	Key string
	// Env is the name of its environment variable.
	Env string
	// Flag is its name on a command line, without dashes; "" for a secret.
	Flag string
	// Usage says in one line what it is.
	Usage string
	// Bool says that a flag without a value means true.
	Bool bool
	// List says that a flag may be repeated, for one more entry each time.
	List bool
	// Secret says that its value must not be shown.
	Secret bool
}

// Settings lists everything that can be configured, in the order of a file.
func Settings() []Setting {
	var out []Setting
	for _, f := range fields {
		out = append(out, f.setting())
	}
	return out
}

// A field leads from a key to a field of T: at returns a pointer to it, whose
// type says how a value is written.
type field[T any] struct {
	key, usage string
	at         func(*T) any
}

func (f field[T]) setting() Setting {
	var zero T
	s := Setting{
		Key: f.key, Env: envPrefix + strings.ToUpper(strings.ReplaceAll(f.key, ".", "_")),
		Flag: strings.NewReplacer(".", "-", "_", "-").Replace(f.key), Usage: f.usage,
	}
	switch f.at(&zero).(type) {
	case *Secret:
		s.Secret, s.Flag = true, ""
	case *bool, **bool:
		s.Bool = true
	case *[]string, *[]Master, *map[string]string, *election.StoreGuards:
		s.List = true
	}
	return s
}

// isFile says that a value is a file name.
func isFile(key string) bool { return strings.HasSuffix(key, "_file") }

// fields are all settings of a Config. The settings of one section stand
// together.
var fields = slices.Concat(
	[]field[Config]{
		{"mode", "where leases are kept: single, quorum, or both during a move", func(c *Config) any { return &c.Mode }},
		{"id", "name of this candidate, for people (default host name and process id)", func(c *Config) any { return &c.ID }},
		{"metadata", "what others are shown with the leader", func(c *Config) any { return &c.Metadata }},
		{"ttl", "how long a lease lasts without renewal (default 15s)", func(c *Config) any { return &c.TTL }},
		{"max_ttl", "longest ttl of any candidate, the same for all: how long guards last (default ttl)", func(c *Config) any { return &c.MaxTTL }},
		{"renew", "longest time between renewals (default ttl/3, the most)", func(c *Config) any { return &c.Renew }},
		{"step_down", "how long before its deadline a leader stops (default ttl/10)", func(c *Config) any { return &c.StepDown }},
		{"grace", "how long a stopping leader is still renewed (default ttl; 0s: not at all)", func(c *Config) any { return &c.Grace }},
		{"max_term", "longest time of one term (default 0s: no limit)", func(c *Config) any { return &c.MaxTerm }},
		{"timeout", "bound of a call to one server (default 1s, at most ttl/4)", func(c *Config) any { return &c.Timeout }},
		{"dial_timeout", "bound of making a connection, TLS included (default 3/4 of timeout)", func(c *Config) any { return &c.DialTimeout }},
		{"prefix", "what all keys start with (default incumbent)", func(c *Config) any { return &c.Prefix }},
		{"retention", "how long a record outlives its last lease (default 720h)", func(c *Config) any { return &c.Retention }},
		{"guards_off", "guards of the store to switch off: restart, failover, no-record, early-expiry, clock, or all (default none)", func(c *Config) any { return &c.GuardsOff }},
		{"assume_new", "do not wait at a master without a record; dangerous where one may come back empty (default false)", func(c *Config) any { return &c.AssumeNew }},
		{"replica_acks", "replicas that must acknowledge each grant and renewal (default 0)", func(c *Config) any { return &c.ReplicaAcks }},
		{"db", "number of the database (default 0)", func(c *Config) any { return &c.DB }},
	},
	within("", accessFields, func(c *Config) *Access { return &c.Access }),
	[]field[Config]{
		{"single.address", "host:port of the one primary", func(c *Config) any { return &c.Single.Address }},
		{"single.sentinel.master", "name of the primary at its Sentinels", func(c *Config) any { return &c.Single.Sentinel.Master }},
		{"single.sentinel.addresses", "host:port of the Sentinels", func(c *Config) any { return &c.Single.Sentinel.Addresses }},
		{"single.sentinel.username", "ACL user at the Sentinels", func(c *Config) any { return &c.Single.Sentinel.Username }},
		{"single.sentinel.password", "password at the Sentinels", func(c *Config) any { return &c.Single.Sentinel.Password }},
		{"single.sentinel.password_file", "file that holds the password at the Sentinels", func(c *Config) any { return &c.Single.Sentinel.PasswordFile }},
		{"single.cluster.addresses", "host:port of members of a Cluster", func(c *Config) any { return &c.Single.Cluster.Addresses }},
	},
	within("single.", accessFields, func(c *Config) *Access { return &c.Single.Access }),
	[]field[Config]{
		{"quorum.masters", "host:port of the independent masters, at least 3", func(c *Config) any { return &c.Quorum.Masters }},
		{"quorum.new_masters", "in mode both: those that take their place", func(c *Config) any { return &c.Quorum.NewMasters }},
	},
)

var accessFields = []field[Access]{
	{"username", "ACL user", func(a *Access) any { return &a.Username }},
	{"password", "password", func(a *Access) any { return &a.Password }},
	{"password_file", "file that holds the password", func(a *Access) any { return &a.PasswordFile }},
	{"tls.enabled", "use TLS (default: if anything else about TLS is set)", func(a *Access) any { return &a.TLS.Enabled }},
	{"tls.ca_file", "PEM file of the authorities to trust (default the system's)", func(a *Access) any { return &a.TLS.CAFile }},
	{"tls.server_name", "name that the certificate must be for (default the host)", func(a *Access) any { return &a.TLS.ServerName }},
	{"tls.cert_file", "PEM file of this client's certificate", func(a *Access) any { return &a.TLS.CertFile }},
	{"tls.key_file", "PEM file of this client's key", func(a *Access) any { return &a.TLS.KeyFile }},
	{"tls.insecure", "do not verify the server's certificate", func(a *Access) any { return &a.TLS.Insecure }},
}

// masterFields are the settings of one entry of a list of masters.
var masterFields = append(
	[]field[Master]{{"address", "host:port", func(m *Master) any { return &m.Address }}},
	within("", accessFields, func(m *Master) *Access { return &m.Access })...,
)

// within makes fields of a part of T fields of T.
func within[T, P any](prefix string, fs []field[P], part func(*T) *P) []field[T] {
	var out []field[T]
	for _, f := range fs {
		out = append(out, field[T]{prefix + f.key, f.usage, func(t *T) any { return f.at(part(t)) }})
	}
	return out
}

// lookup finds the field with a key. section says that keys below it exist.
func lookup[T any](fs []field[T], key string) (f field[T], found, section bool) {
	for _, f := range fs {
		if f.key == key {
			return f, true, false
		}
		section = section || strings.HasPrefix(f.key, key+".")
	}
	return f, false, section
}

// suggest says what an unknown key of a section (such as "tls.", or "") may
// have been meant to be, and which key that is.
func suggest[T any](fs []field[T], section, name string) (rule, key string) {
	var here, all []string
	for _, f := range fs {
		all = append(all, f.key)
		if rest, ok := strings.CutPrefix(f.key, section); ok {
			word, _, _ := strings.Cut(rest, ".")
			if !slices.Contains(here, word) {
				here = append(here, word)
			}
		}
	}
	plain := strings.ReplaceAll(strings.ToLower(name), "-", "_")
	for _, k := range all {
		if last := k[strings.LastIndexByte(k, '.')+1:]; plain == last {
			return "did you mean " + k + "?", k
		}
	}
	if near := nearest.Of(name, here); near != "" {
		return "did you mean " + section + near + "?", section + near
	}
	return "known here: " + strings.Join(here, ", "), ""
}
