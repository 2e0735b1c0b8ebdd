package config

import (
	"fmt"
	"io"
	"log/slog"
)

// A Secret is a password. However it is printed, logged or marshalled, it shows
// as ***, or as nothing when it is empty. string(s) is the password itself.
type Secret string

const hidden = "***"

// String hides the secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// Format hides the secret, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// GoString hides the secret.
func (s Secret) GoString() string { return s.String() }

// LogValue hides the secret.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText hides the secret from JSON, YAML and others.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
