package config

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// mapping returns the pairs of a mapping; a mapping of one pair may be the pair.
func mapping(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}, true
	}
	return nil, false
}

// keyOf is the text of a plain key.
func keyOf(p *ast.MappingValueNode) (string, bool) {
	n, ok := p.Key.(ast.Node)
	if !ok {
		return "", false
	}
	return scalar(n)
}

// scalar is the text of a value as it was written: a number keeps its digits,
// so that a password of digits is one.
func scalar(n ast.Node) (string, bool) {
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.LiteralNode:
		return strings.TrimRight(v.Value.Value, "\n"), true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// itemText is the text of an item of a list. Within braces the parser takes
// host:6379 for a pair, which it is only with a space after the colon.
func itemText(n ast.Node) (string, bool) {
	p, ok := n.(*ast.MappingValueNode)
	if m, isMap := n.(*ast.MappingNode); isMap && len(m.Values) == 1 && m.Start.Type != token.MappingStartType {
		p, ok = m.Values[0], true
	}
	if !ok {
		return scalar(n)
	}
	key, isKey := keyOf(p)
	value, isValue := scalar(p.Value)
	joined := isKey && isValue && p.Start.Position.Offset+1 == p.Value.GetToken().Position.Offset
	return key + ":" + value, joined
}

// refused explains values that YAML knows and this package does not.
func refused(n ast.Node) string {
	switch n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode, *ast.TagNode:
		return "; anchors, aliases, merges and tags are not supported"
	}
	return ""
}

func lineOf(t *token.Token) int {
	if t == nil || t.Position == nil {
		return 0
	}
	return t.Position.Line
}
