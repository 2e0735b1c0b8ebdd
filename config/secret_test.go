package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

const hunter = "Xk9-hunter2-Zq"

// secretive is a configuration with a password in every place.
func secretive(t *testing.T) *Config {
	return mustLoad(t, Sources{YAML: []byte(`
mode: quorum
password: ` + hunter + `
single: {sentinel: {master: m, addresses: [x], password: ` + hunter + `}, password: ` + hunter + `}
quorum: {masters: [a, b, {address: c, password: ` + hunter + `}]}
`)})
}

func TestSecretsNeverShow(t *testing.T) {
	c := secretive(t)
	var b bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&b, verb+"\n", c)
		fmt.Fprintf(&b, verb+"\n", *c)
		fmt.Fprintf(&b, verb+"\n", c.Access)
		fmt.Fprintf(&b, verb+"\n", c.Quorum)
		fmt.Fprintf(&b, verb+"\n", c.Single)
		fmt.Fprintf(&b, verb+"\n", c.Password)
		fmt.Fprintf(&b, verb+"\n", []any{c, c.Password})
	}
	for _, h := range []slog.Handler{slog.NewTextHandler(&b, nil), slog.NewJSONHandler(&b, nil)} {
		slog.New(h).Info("x", "cfg", c, "value", *c, "access", c.Access, "password", c.Password)
	}
	noErr(t, c.Print(&b))
	j, err := json.Marshal(c)
	noErr(t, err)
	y, err := yaml.Marshal(c.Access)
	noErr(t, err)
	out := b.String() + string(j) + string(y)
	if hex := fmt.Sprintf("%x", hunter); strings.Contains(out, hunter) || strings.Contains(out, hex) || strings.Contains(out, "hunter") {
		t.Errorf("a password shows in\n%s", out)
	}
	if !strings.Contains(out, hidden) || Secret("").String() != "" {
		t.Error("that there is a password must show")
	}
}

func TestErrorsHoldNoSecret(t *testing.T) {
	for _, text := range []string{
		"password:" + hunter, "password=" + hunter, "password: [" + hunter + "]", "password: {a: " + hunter + "}", "password: &" + hunter + " x",
		"pasword: " + hunter, "password: " + hunter + ": x", "{password=" + hunter + ": x}", "password: *" + hunter,
		"password: \"" + hunter, "password: !!" + hunter + " x", "password: " + hunter + "\n\tx: y", "password_file: " + hunter,
		"password: " + hunter + "\npassword: " + hunter, "single: {address: 'redis://u:" + hunter + "@h'}", "single: {address: 'u:" + hunter + "@h:1'}",
		"ttl: \"\n  password: " + hunter + "\"", "mode: 'x password: " + hunter + "'", "tls: {ca_file: " + hunter + "}", "? password " + hunter + "\n: x",
		"metadata: [" + hunter + "]",
	} {
		_, err := parseText(text)
		if err == nil {
			t.Errorf("%q is accepted", text)
		} else if strings.Contains(err.Error(), "hunter2") || strings.Contains(fmt.Sprintf("%+v %#v", err, err), "hunter2") {
			t.Errorf("%q gives %v", text, err)
		}
	}
	_, err := LoadFrom(Sources{YAML: []byte(one), Environ: []string{"INCUMBENT_PASSWORT=" + hunter, "INCUMBENT_PASSWORD_FILE=" + hunter, "INCUMBENT_METADATA=" + hunter}})
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("variables give %v", err)
	}
}

func TestPrint(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.yaml")
	noErr(t, os.WriteFile(file, []byte("mode: single\nsingle: {address: a, tls: {enabled: true}}\nquorum:\n  masters:\n  - b\n  - c\n  - {address: d, password: x}\nttl: 1m30s\ngrace: 0s\n"), 0o600))
	c := mustLoad(t, Sources{Path: file, Environ: []string{"INCUMBENT_ID=my id", "INCUMBENT_PASSWORD=x"}, Flags: Flags{"renew": "2s"}})
	var b bytes.Buffer
	noErr(t, c.Print(&b))
	want := `mode                        single    line 1 of x.yaml
id                          "my id"   INCUMBENT_ID
ttl                         1m30s     line 8 of x.yaml
max_ttl                     1m30s     default
renew                       2s        --renew
step_down                   9s        default
grace                       0s        line 9 of x.yaml
timeout                     1s        default
dial_timeout                750ms     default
prefix                      incumbent default
retention                   720h      default
guards_off                  none      default
password                    ***       INCUMBENT_PASSWORD
single.address              a         line 2 of x.yaml
single.tls.enabled          true      line 2 of x.yaml
quorum.masters[0].address   b         line 5 of x.yaml
quorum.masters[1].address   c         line 6 of x.yaml
quorum.masters[2].address   d         line 7 of x.yaml
quorum.masters[2].password  ***       line 7 of x.yaml
`
	norm := func(s string) string {
		var lines []string
		for line := range strings.Lines(strings.ReplaceAll(s, file, "x.yaml")) {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
		return strings.Join(lines, "\n")
	}
	if got := norm(b.String()); got != norm(want) {
		t.Errorf("got\n%s\nwant\n%s", got, norm(want))
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("mode: single\nsingle: {address: a}", "ttl: 10s")
	f.Add("mode: quorum\nquorum:\n  masters: [a:1, 'b:2', {address: c, tls: {enabled: true}}]", "tll: 1\nttl: 10")
	f.Add("ttl: \"", "\"")
	f.Add("{a: b", "}: x")
	f.Add("metadata: {a: b, <<: *c}", "--- &a !!str\n? x\n: |\n  y")
	f.Add("\ufeffmode: on\r", "\tx")
	f.Fuzz(func(t *testing.T, before, after string) {
		if strings.Contains(before+after, "hunter") {
			return
		}
		c, err := parseText(before + "\npassword: " + hunter + "\n" + after)
		if (c == nil) == (err == nil) {
			t.Fatalf("%v and %v", c, err)
		}
		if err != nil && (strings.Contains(err.Error(), "hunter") || err.Error() == "") {
			t.Errorf("error: %v", err)
		}
		if c == nil {
			return
		}
		if err := c.Validate(); err != nil {
			t.Errorf("loaded, but invalid: %v", err)
		}
		if text := fmt.Sprintf("%+v", c); strings.Contains(text, "hunter") && c.ID == "" && len(c.Metadata) == 0 && c.Username == "" {
			t.Errorf("printed: %s", text)
		}
	})
}
