package fault

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// The limits are far above what a schedule needs. They keep a hostile file from using
// much time: the parser recurses.
const (
	maxFile     = 64 << 10
	maxLine     = 4 << 10
	maxBrackets = 1000
)

// ReadSchedule reads a schedule from a YAML file. The error is a *FieldError where the
// file can be read.
func ReadSchedule(path string) (Schedule, error) {
	f, err := os.Open(path)
	if err != nil {
		return Schedule{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return Schedule{}, err
	}
	return ParseSchedule(path, text)
}

// ParseSchedule reads a schedule from YAML. path is for errors and for commands. The
// error is a *FieldError with the line, where the line is known.
func ParseSchedule(path string, text []byte) (Schedule, error) {
	root, s, err := decode(text)
	if err != nil {
		return Schedule{}, located(path, err)
	}
	s.Path = path
	err = s.Validate()
	var field *FieldError
	if errors.As(err, &field) {
		field.Path, field.Line = path, lineOf(root, field.Field)
		return Schedule{}, field
	}
	return s, err
}

// decode parses and decodes. There are files on which the parser panics, such as a
// tagged !!set: those are no valid YAML here.
func decode(text []byte) (root ast.Node, s Schedule, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the file cannot be read as YAML: %v", v)
		}
	}()
	if root, err = parse(text); err == nil {
		err = yaml.NodeToValue(root, &s, yaml.Strict())
	}
	return root, s, err
}

// parse returns the content of the only document.
func parse(text []byte) (ast.Node, error) {
	switch {
	case len(text) > maxFile:
		return nil, fmt.Errorf("the file has more than %d bytes", maxFile)
	case !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0:
		return nil, errors.New("the file must be UTF-8 text")
	case bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > maxBrackets:
		return nil, fmt.Errorf("the file has more than %d opening brackets", maxBrackets)
	case longLine(text):
		return nil, fmt.Errorf("the file has a line of more than %d bytes", maxLine)
	}
	f, err := parser.ParseBytes(bytes.TrimPrefix(text, []byte("\ufeff")), 0)
	if err != nil {
		return nil, err
	}
	if len(f.Docs) != 1 {
		return nil, errors.New("the file must hold one YAML document")
	}
	if _, ok := f.Docs[0].Body.(*ast.MappingNode); !ok {
		return nil, errors.New("the file must be a mapping with the keys name and steps")
	}
	return f.Docs[0].Body, nil
}

func longLine(text []byte) bool {
	for line := range bytes.Lines(text) {
		if len(line) > maxLine {
			return true
		}
	}
	return false
}

// located is an error of the YAML as one of ours.
func located(path string, err error) error {
	out := &FieldError{Path: path, Rule: err.Error()}
	var e yaml.Error
	if !errors.As(err, &e) {
		return out
	}
	out.Rule = strings.ReplaceAll(e.GetMessage(), "\n", " ")
	var kind *yaml.TypeError
	if errors.As(err, &kind) {
		out.Rule = mistyped(kind)
	}
	if t := e.GetToken(); t != nil && t.Position != nil {
		out.Line = t.Position.Line
	}
	var unknown *yaml.UnknownFieldError
	if errors.As(err, &unknown) {
		out.Rule += ": the keys are name and steps, those of a step fault, after and for"
	}
	return out
}

// mistyped is what should stand where something of another type does.
func mistyped(e *yaml.TypeError) string {
	found := ""
	if e.Token != nil {
		found = fmt.Sprintf("%q: ", e.Token.Value)
	}
	switch e.DstType.Kind() {
	case reflect.Float64:
		return found + "must be a number, of TTLs and without a unit"
	case reflect.String:
		return found + "must be a name"
	}
	return found + "must be a mapping with the keys name and steps, or a list of steps"
}

// lineOf is the line of a field such as steps[2].fault, or of what it would be in.
func lineOf(root ast.Node, field string) int {
	for field != "" {
		if path, err := yaml.PathString("$." + field); err == nil {
			if n, err := path.FilterNode(root); err == nil && n != nil && n.GetToken() != nil && n.GetToken().Position != nil {
				return n.GetToken().Position.Line
			}
		}
		field = field[:max(0, strings.LastIndexAny(field, ".["))]
	}
	return 0
}
