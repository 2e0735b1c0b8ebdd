package config

import (
	"errors"
	"fmt"
	"net"
	"reflect"
	"strings"
	"time"

	"incumbent/election"
	"incumbent/internal/vote"
	"incumbent/quorum"
)

// Validate checks everything, including that the files which the selected mode
// needs can be read. It joins all problems that it finds, each a *FieldError.
func (c *Config) Validate() error {
	var errs []error
	for _, e := range c.problems() {
		errs = append(errs, e)
	}
	return errors.Join(errs...)
}

// checker collects problems.
type checker struct {
	c     *Config
	found []*FieldError
}

func (k *checker) add(field, value, rule string) {
	k.found = append(k.found, &FieldError{field, value, k.c.from.of(field), rule})
}

func (c *Config) problems() []*FieldError {
	k := &checker{c: c}
	k.mode()
	k.single()
	k.quorum("quorum.masters", c.Quorum.Masters, c.uses(ModeQuorum))
	k.quorum("quorum.new_masters", c.Quorum.NewMasters, c.replaces())
	k.access("", c.Access, true)
	k.access("single.", c.Single.Access, c.uses(ModeSingle))
	k.timing()
	k.timeouts()
	k.names()
	k.guards()
	return k.found
}

func (k *checker) mode() {
	c := k.c
	hasSingle, hasQuorum := !isZero(c.Single), len(c.Quorum.Masters) > 0
	switch c.Mode {
	case ModeSingle, ModeQuorum, ModeBoth:
		if c.replaces() && hasSingle {
			k.add("single", "", "excludes quorum.new_masters in mode both, which is for a move between two stores: remove one of them")
		}
		if c.uses(ModeSingle) && !hasSingle {
			k.add("single", "", fmt.Sprintf("is missing: mode %s needs single.address, single.sentinel or single.cluster", c.Mode))
		}
		if c.uses(ModeQuorum) && !hasQuorum {
			k.add("quorum.masters", "", fmt.Sprintf("is missing: mode %s needs at least 3 masters", c.Mode))
		}
	case "":
		k.add("mode", "", `is missing: give "single" or "quorum"`)
		if !hasSingle && !hasQuorum {
			k.add("single", "", "is missing, and so is quorum: give single.address (or sentinel, or cluster) for mode single, quorum.masters for mode quorum")
		}
	default:
		k.add("mode", show(string(c.Mode)), modeRule)
	}
}

func isZero(v any) bool { return reflect.ValueOf(v).IsZero() }

func (k *checker) single() {
	s := &k.c.Single
	var given []string
	if s.Address != "" {
		given = append(given, "address")
		k.address("single.address", s.Address, redisPort)
	}
	if !isZero(s.Sentinel) {
		given = append(given, "sentinel")
		k.sentinel()
	}
	if !isZero(s.Cluster) {
		given = append(given, "cluster")
		k.addresses("single.cluster.addresses", s.Cluster.Addresses, redisPort)
		if k.c.DB != 0 {
			k.add("db", fmt.Sprint(k.c.DB), "must be 0 with single.cluster: a Cluster has no other database")
		}
	}
	if len(given) > 1 || len(given) == 0 && !isZero(*s) {
		k.add("single", "", "has "+orNone(given)+": needs exactly one of address, sentinel and cluster")
	}
	if k.c.DB < 0 {
		k.add("db", fmt.Sprint(k.c.DB), "must be 0 or more")
	}
}

func orNone(words []string) string {
	if len(words) == 0 {
		return "no address"
	}
	return strings.Join(words, " and ")
}

func (k *checker) sentinel() {
	s := &k.c.Single.Sentinel
	if s.Master == "" {
		k.add("single.sentinel.master", "", "is missing: give the name under which the Sentinels know the primary")
	}
	if len(s.Addresses) == 0 {
		k.add("single.sentinel.addresses", "", "is missing: give the addresses of the Sentinels")
	}
	k.addresses("single.sentinel.addresses", s.Addresses, sentinelPort)
	k.password("single.sentinel.", s.Password, s.PasswordFile, k.c.uses(ModeSingle))
}

// entry is one address of a list as it was given.
type entry struct {
	index   int
	address string
}

// addresses checks a list, in which nothing may stand twice.
func (k *checker) addresses(key string, list []string, port string) {
	seen := map[string]entry{}
	for i, a := range list {
		name := fmt.Sprintf("%s[%d]", key, i)
		k.distinct(seen, name, a, port, key, i)
	}
}

// distinct checks one address of a list and that it is not there already.
func (k *checker) distinct(seen map[string]entry, name, address, port, list string, i int) {
	normal := k.address(name, address, port)
	if normal == "" {
		return
	}
	first, twice := seen[sameServer(normal)]
	if !twice {
		seen[sameServer(normal)] = entry{i, address}
		return
	}
	k.add(name, show(address), fmt.Sprintf("is the same server as %s[%d] (%s): each may be given once", list, first.index, show(first.address)))
}

func (k *checker) address(key, value, port string) (normal string) {
	normal, rule := parseAddress(value, port)
	if rule != "" {
		k.add(key, show(value), rule)
	}
	return normal
}

// quorum checks a list of masters. files says that their files are needed.
func (k *checker) quorum(key string, masters []Master, files bool) {
	seen := map[string]entry{}
	for i, m := range masters {
		name := fmt.Sprintf("%s[%d]", key, i)
		k.distinct(seen, name, m.Address, redisPort, key, i)
		k.access(name+".", m.Access, files)
	}
	if n := len(masters); n > 0 && n < quorum.MinMasters {
		k.add(key, fmt.Sprint(n), fmt.Sprintf("must be at least %d, of which one may fail; for one server use mode single", quorum.MinMasters))
	}
}

// access checks how to come in. files says that the files are needed.
func (k *checker) access(base string, a Access, files bool) {
	k.password(base, a.Password, a.PasswordFile, files)
	t := a.TLS
	switch {
	case t.CertFile != "" && t.KeyFile == "":
		k.add(base+"tls.cert_file", "", "needs tls.key_file with it")
	case t.CertFile == "" && t.KeyFile != "":
		k.add(base+"tls.key_file", "", "needs tls.cert_file with it")
	case files:
		if _, err := loadKeyPair(t); err != nil {
			k.add(base+"tls.cert_file", "", "cannot be used with its key_file: "+err.Error())
		}
	}
	if isTrue(t.Insecure) && t.CAFile != "" {
		k.add(base+"tls.insecure", "true", "must be false with tls.ca_file: nothing would be verified with it")
	}
	if files {
		if _, err := loadCA(t); err != nil {
			k.add(base+"tls.ca_file", "", err.Error())
		}
	}
}

func (k *checker) password(base string, p Secret, file string, read bool) {
	switch {
	case p != "" && file != "":
		k.add(base+"password", "", "excludes password_file: give one of them")
	case file != "" && read:
		if _, err := readPassword(file); err != nil {
			// The name of the file is not shown: it may be the password itself.
			k.add(base+"password_file", "", err.Error())
		}
	}
}

// timing lets package election judge, so that both agree on every limit: first
// the TTL alone, and if that is good what is measured against it.
func (k *checker) timing() {
	c := k.c
	if !k.option("ttl", election.Options{TTL: c.TTL}) {
		return
	}
	k.option("max_ttl", election.Options{TTL: c.TTL, MaxTTL: c.MaxTTL})
	k.option("renew", election.Options{TTL: c.TTL, Renew: c.Renew})
	k.option("step_down", election.Options{TTL: c.TTL, StepDown: c.StepDown})
	k.option("max_term", election.Options{TTL: c.TTL, MaxTerm: c.MaxTerm})
}

func (k *checker) option(key string, o election.Options) bool {
	err := o.Validate()
	var oe *election.OptionError
	if errors.As(err, &oe) {
		if oe.Field == "TTL" {
			key = "ttl" // also where it is max_ttl that is too small
		}
		k.add(key, show(fmt.Sprint(oe.Value)), "must be "+oe.Rule)
	}
	return err == nil
}

func (k *checker) timeouts() {
	c := k.c.withDefaults()
	for _, t := range []struct {
		key   string
		value time.Duration
	}{{"timeout", k.c.Timeout}, {"dial_timeout", k.c.DialTimeout}} {
		switch {
		case t.value == 0 || c.TTL <= 0:
		case t.value < time.Millisecond:
			k.add(t.key, t.value.String(), "must be at least 1ms")
		case t.value >= c.TTL/2:
			k.add(t.key, t.value.String(), fmt.Sprintf("must be less than ttl/2 = %s, so that a second try fits", duration(c.TTL/2)))
		}
	}
}

func (k *checker) names() {
	c := k.c
	k.option("id", election.Options{ID: c.ID})
	k.option("metadata", election.Options{Metadata: c.Metadata})
	if _, err := vote.NewKeys(c.Prefix, "name"); err != nil {
		k.add("prefix", "", ruleOf(err))
	}
	if _, err := (vote.Options{Retention: c.Retention}).WithDefaults(); err != nil {
		k.add("retention", c.Retention.String(), "must be "+ruleOf(err))
	}
}

func (k *checker) guards() {
	c := k.c
	if _, err := (vote.Options{GuardsOff: c.GuardsOff}).WithDefaults(); err != nil {
		k.add("guards_off", fmt.Sprint(uint8(c.GuardsOff)), ruleOf(err))
	}
	if _, err := (vote.Options{ReplicaAcks: c.ReplicaAcks}).WithDefaults(); err != nil {
		k.add("replica_acks", fmt.Sprint(c.ReplicaAcks), ruleOf(err))
	}
}

// ruleOf is the last part of an error, without the value that it quotes.
func ruleOf(err error) string {
	text := err.Error()
	return text[strings.LastIndex(text, ": ")+len(": "):]
}

// Warnings says what is allowed and unwise. Open logs it. Call it on a valid
// configuration.
func (c *Config) Warnings() []string {
	var out []string
	warn := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, s := range c.servers() {
		if t := s.access.TLS; t.on() && isTrue(t.Insecure) {
			warn("%s: tls.insecure: the certificate is not verified; whoever can reach the network can read passwords and forge leases", s.name)
		}
	}
	if c.GuardsOff != election.NoGuards {
		warn("guards_off: %s: where a master forgets a lease, a second leader can come in before the first one notices", c.GuardsOff)
	}
	if c.AssumeNew {
		warn("assume_new: where a master comes back empty while this process starts, a second leader can come in; incumbent init does the same once, on purpose")
	}
	if c.Mode == ModeBoth {
		warn("mode: both is for the time of a move between two stores: nobody leads while either of them cannot be asked")
	}
	if c.uses(ModeQuorum) {
		out = append(out, unwise("quorum.masters", c.Quorum.Masters)...)
	}
	if c.replaces() {
		out = append(out, unwise("quorum.new_masters", c.Quorum.NewMasters)...)
	}
	return out
}

// unwise says what is allowed and unwise about a list of masters.
func unwise(key string, masters []Master) (out []string) {
	if n := len(masters); n%2 == 0 {
		out = append(out, fmt.Sprintf("%s: an even number (%d) tolerates no more faults than %d", key, n, n-1))
	}
	hosts := map[string]string{}
	for _, m := range masters {
		host, _, _ := net.SplitHostPort(sameServer(normalise(m.Address, redisPort)))
		if first := hosts[host]; first != "" {
			out = append(out, fmt.Sprintf("%s: %s and %s are on one host, and fail together", key, first, m.Address))
		} else {
			hosts[host] = m.Address
		}
	}
	return out
}
