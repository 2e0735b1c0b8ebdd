package config

import (
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

const (
	redisPort    = "6379"
	sentinelPort = "26379"
)

var hostName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?$`)

// parseAddress completes an address with the port and writes it in one way:
// lower case, no dot at the end, the short form of an IP address. It returns
// the rule that a bad one breaks.
func parseAddress(s, port string) (normal, rule string) {
	switch {
	case s == "":
		return "", "is missing: give host:port"
	case strings.Contains(s, ","):
		return "", "must be one address, without a comma: several are written as a list"
	case strings.ContainsAny(s, "@/"):
		return "", "must be host:port: no scheme, user, password or path (see the keys tls, username and password_file)"
	case strings.Count(s, ":") > 1 && !strings.HasPrefix(s, "["):
		return "", "must be host:port: an IPv6 address needs brackets, such as [::1]:6379"
	}
	host := s
	if h, p, err := net.SplitHostPort(s); err == nil {
		host, port = h, p
	} else if inner, ok := strings.CutPrefix(s, "["); ok && strings.HasSuffix(inner, "]") {
		host = strings.TrimSuffix(inner, "]")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", "must be host:port: the port is a number from 1 to 65535"
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		host = ip.Unmap().String()
	} else if !hostName.MatchString(host) || strings.HasPrefix(s, "[") {
		return "", "must be host:port: this is no name or address of a host"
	}
	return net.JoinHostPort(strings.ToLower(strings.TrimSuffix(host, ".")), port), ""
}

// sameServer is an address as it tells servers apart: the names of this host's
// loopback are one.
func sameServer(normal string) string {
	if p, ok := strings.CutPrefix(normal, "localhost:"); ok {
		return "127.0.0.1:" + p
	}
	return normal
}

// normalise is a valid address as it is dialed.
func normalise(s, port string) string {
	normal, _ := parseAddress(s, port)
	return normal
}
