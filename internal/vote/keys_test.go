package vote

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestKeys(t *testing.T) {
	for _, tt := range []struct{ prefix, name, lease string }{
		{"", "job", "incumbent:{job}:lease"},
		{"app", "job", "app:{job}:lease"},
		{"a:b", "x:y", "a:b:{x:y}:lease"},
		{"", "{job}", "incumbent:{%7Bjob%7D}:lease"},
		{"", "}{", "incumbent:{%7D%7B}:lease"},
		{"", "%7B", "incumbent:{%257B}:lease"},
		{"", "brücke-健康", "incumbent:{brücke-健康}:lease"},
	} {
		k, err := NewKeys(tt.prefix, tt.name)
		if err != nil || k.Lease != tt.lease || k.Election != tt.name {
			t.Errorf("NewKeys(%q, %q) = %+v, %v", tt.prefix, tt.name, k, err)
		}
		base := strings.TrimSuffix(k.Lease, "lease")
		if k.Record != base+"record" || k.Channel != base+"released" {
			t.Errorf("NewKeys(%q, %q) = %+v", tt.prefix, tt.name, k)
		}
	}
}

func TestKeysRefused(t *testing.T) {
	for _, tt := range []struct{ prefix, name, want string }{
		{"", "", "election name: must not be empty"},
		{"", "a b", "spaces"},
		{"", "a\nb", "line breaks"},
		{"", "a\u00a0b", "spaces"},
		{"", "a\x00b", "unprintable"},
		{"", "a\xffb", "UTF-8"},
		{"", strings.Repeat("x", maxName+1), "201 bytes: at most 200"},
		{"a{", "x", "hash tag"},
		{"a}", "x", "hash tag"},
		{"a b", "x", "key prefix"},
	} {
		if _, err := NewKeys(tt.prefix, tt.name); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("NewKeys(%q, %q): %v, want %q", tt.prefix, tt.name, err, tt.want)
		}
	}
}

// hashTag is what a Cluster hashes of a key.
func hashTag(key string) string {
	_, rest, ok := strings.Cut(key, "{")
	if tag, _, closed := strings.Cut(rest, "}"); ok && closed && tag != "" {
		return tag
	}
	return key
}

// Accepted names: one slot, readable in a log, distinct for distinct names.
func FuzzKeys(f *testing.F) {
	for _, s := range []string{"job", "{a}", "}{", "%7B", "%", "a:b", "", " ", "\n", "\xff", "健康"} {
		f.Add("incumbent", s, "incumbent", "job")
	}
	f.Add("a:{", "b", "a", "{:b")
	f.Fuzz(func(t *testing.T, prefix, name, prefix2, name2 string) {
		k, err := NewKeys(prefix, name)
		if err != nil {
			return
		}
		for _, key := range []string{k.Lease, k.Record, k.Channel} {
			if hashTag(key) != hashTag(k.Lease) || hashTag(key) == key {
				t.Errorf("%q does not share a slot with %q", key, k.Lease)
			}
			if !utf8.ValidString(key) || strings.ContainsFunc(key, unicode.IsSpace) {
				t.Errorf("key %q", key)
			}
		}
		k2, err := NewKeys(prefix2, name2)
		same := name == name2 && (prefix == prefix2 || prefix == "" && prefix2 == DefaultPrefix || prefix2 == "" && prefix == DefaultPrefix)
		if err == nil && (k.Lease == k2.Lease) != same {
			t.Errorf("(%q, %q) and (%q, %q) give %q and %q", prefix, name, prefix2, name2, k.Lease, k2.Lease)
		}
	})
}
