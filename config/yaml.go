package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"incumbent/election"
)

// The limits are far above what the settings of a process need. They keep a
// hostile file from using much time: the parser recurses.
const (
	maxFile     = 64 << 10
	maxLine     = 4 << 10
	maxBrackets = 1000
)

// document is a YAML file that is being read into a Config. It is walked as a
// syntax tree, so that every problem is found, each has its line, and no error
// quotes a line that holds a password.
type document struct {
	*loader
	path, dir string
}

// yaml applies a YAML file.
func (l *loader) yaml(path string, text []byte) {
	d := document{l, path, folderOf(path)}
	root, err := parse(text)
	if err != nil {
		l.broken = true
		var e yaml.Error
		line := 0
		if errors.As(err, &e) {
			line = lineOf(e.GetToken())
			err = errors.New(syntax(e))
		}
		l.fail("", "", d.where(line), err.Error())
		return
	}
	if root == nil {
		return
	}
	if _, ok := mapping(root); !ok {
		l.broken = true
		l.fail("", "", d.at(root), "the file must be a mapping of keys to values"+refused(root))
		return
	}
	walk(d, fields, l.cfg, "", "", root)
}

// parse returns the content of the only document, nil if there is none.
func parse(text []byte) (ast.Node, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	switch {
	case len(text) > maxFile:
		return nil, fmt.Errorf("the file has %d bytes: at most %d", len(text), maxFile)
	case !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0:
		return nil, errors.New("the file must be UTF-8 text")
	case bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > maxBrackets:
		return nil, fmt.Errorf("the file has more than %d opening brackets", maxBrackets)
	case longLine(text):
		return nil, fmt.Errorf("the file has a line of more than %d bytes", maxLine)
	}
	f, err := parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, err
	}
	var root ast.Node
	for _, doc := range f.Docs {
		if _, null := doc.Body.(*ast.NullNode); null || doc.Body == nil {
			continue
		}
		if _, directive := doc.Body.(*ast.DirectiveNode); directive {
			continue
		}
		if root != nil {
			return nil, errors.New("the file must hold one YAML document, not several")
		}
		root = doc.Body
	}
	return root, nil
}

func longLine(text []byte) bool {
	for line := range bytes.Lines(text) {
		if len(line) > maxLine {
			return true
		}
	}
	return false
}

// syntax is the parser's message without anything that it quotes of the file.
func syntax(e yaml.Error) string {
	msg, _, quotes := strings.Cut(e.GetMessage(), `"`)
	if quotes || msg == "" {
		return "is not valid YAML"
	}
	return "is not valid YAML: " + msg
}

func (d document) where(line int) string {
	switch {
	case line == 0:
		return d.path
	case d.path == "":
		return fmt.Sprintf("line %d", line)
	}
	return fmt.Sprintf("line %d of %s", line, d.path)
}

func (d document) at(n ast.Node) string { return d.where(lineOf(n.GetToken())) }

// walk reads a mapping into t. base is the name of t itself in errors, such as
// "quorum.masters[1].", section the part of the keys that was read already.
func walk[T any](d document, fs []field[T], t *T, base, section string, n ast.Node) {
	pairs, ok := mapping(n)
	if !ok {
		d.fail(strings.TrimSuffix(base+section, "."), "", d.at(n), "must be a mapping of keys to values"+refused(n))
		return
	}
	seen := map[string]int{}
	for _, p := range pairs {
		name, ok := keyOf(p)
		if !ok {
			d.fail(strings.TrimSuffix(base+section, "."), "", d.at(p), "a key must be a plain word"+refused(p.Key))
			continue
		}
		line := lineOf(p.Key.GetToken())
		if first, twice := seen[name]; twice {
			d.fail(base+section+showName(name), "", d.where(line), fmt.Sprintf("is set twice: line %d has it already", first))
			continue
		}
		seen[name] = line
		key(d, fs, t, base, section, name, p)
	}
}

// key reads one pair of a mapping.
func key[T any](d document, fs []field[T], t *T, base, section, name string, p *ast.MappingValueNode) {
	where := d.at(p.Key)
	f, found, isSection := lookup(fs, section+name)
	_, null := p.Value.(*ast.NullNode)
	switch {
	case !found && !isSection:
		rule, near := suggest(fs, section, name)
		if near != "" {
			d.bad[base+near] = true
		}
		d.errs = append(d.errs, &FieldError{Field: "unknown key " + base + section + showName(name), Where: where, Rule: rule})
	case null:
		d.fail(base+section+name, "", where, "has no value: give one, or remove the key")
	case isSection:
		d.note(base+section+name, where)
		walk(d, fs, t, base, section+name+".", p.Value)
	default:
		d.note(base+f.key, where)
		d.value(base+f.key, f.at(t), p.Value)
	}
}

// value reads a value into the field that at points to.
func (d document) value(key string, at any, n ast.Node) {
	switch p := at.(type) {
	case *[]string:
		d.texts(key, p, n)
	case *[]Master:
		d.masters(key, p, n)
	case *map[string]string:
		d.texted(key, p, n)
	case *election.StoreGuards:
		if _, ok := n.(*ast.SequenceNode); ok {
			d.guards(key, p, n)
		} else {
			d.one(key, at, n)
		}
	default:
		d.one(key, at, n)
	}
}

// one reads one value.
func (d document) one(key string, at any, n ast.Node) {
	text, ok := scalar(n)
	if !ok {
		d.fail(key, "", d.at(n), "must be one value"+refused(n))
		return
	}
	if rule := assign(key, at, text, d.dir); rule != "" {
		d.fail(key, shown(key, at, text), d.at(n), rule)
	}
}

// guards reads a list of guards.
func (d document) guards(key string, p *election.StoreGuards, n ast.Node) {
	items := d.list(key, n)
	for i, item := range items {
		name := fmt.Sprintf("%s[%d]", key, i)
		text, ok := scalar(item)
		if !ok {
			d.fail(name, "", d.at(item), "must be one value"+refused(item))
		} else if rule := addGuard(p, text, len(items)); rule != "" {
			d.fail(name, show(text), d.at(item), rule)
		}
	}
}

// texts reads a list of texts.
func (d document) texts(key string, p *[]string, n ast.Node) {
	for i, item := range d.list(key, n) {
		text, ok := itemText(item)
		if !ok || text == "" {
			d.fail(fmt.Sprintf("%s[%d]", key, i), "", d.at(item), "must be one value"+refused(item))
			continue
		}
		d.note(fmt.Sprintf("%s[%d]", key, i), d.at(item))
		*p = append(*p, text)
	}
}

// masters reads a list of addresses and mappings.
func (d document) masters(key string, p *[]Master, n ast.Node) {
	for i, item := range d.list(key, n) {
		name := fmt.Sprintf("%s[%d]", key, i)
		d.note(name, d.at(item))
		var m Master
		if text, ok := itemText(item); ok && text != "" {
			m.Address = text
		} else if _, ok := mapping(item); ok {
			walk(d, masterFields, &m, name+".", "", item)
		} else {
			d.fail(name, "", d.at(item), "must be an address, or a mapping with the key address"+refused(item))
		}
		*p = append(*p, m)
	}
}

// texted reads a mapping of texts to texts, whose keys are the user's own.
func (d document) texted(key string, p *map[string]string, n ast.Node) {
	pairs, ok := mapping(n)
	if !ok {
		d.fail(key, "", d.at(n), "must be a mapping of names to texts"+refused(n))
		return
	}
	m := map[string]string{}
	for _, pair := range pairs {
		name, ok := keyOf(pair)
		text, plain := scalar(pair.Value)
		_, twice := m[name]
		if !ok || !plain || twice {
			d.fail(key, "", d.at(pair.Key), "must be a mapping of names to texts, each name once"+refused(pair.Value))
			continue
		}
		m[name] = text
	}
	*p = m
}

func (d document) list(key string, n ast.Node) []ast.Node {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		d.fail(key, "", d.at(n), "must be a list: [a, b, c], or one - item a line"+refused(n))
		return nil
	}
	if len(s.Values) == 0 {
		d.fail(key, "", d.at(n), "is empty: give a value, or remove the key")
	}
	return s.Values
}
