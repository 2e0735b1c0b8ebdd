// Command doccheck lists exported names that carry no doc comment.
//
// It does not judge what a comment says (staticcheck's ST1020 to ST1022 look at
// its form), and it skips what nobody imports: commands, tests, testdata,
// generated files and nested modules.
//
//	doccheck [dir]
//
// It exits with 1 after a finding and 2 when a file cannot be read or parsed.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func main() { os.Exit(run(os.Stdout, os.Stderr, os.Args[1:])) }

func run(out, errOut io.Writer, args []string) int {
	if len(args) > 1 {
		fmt.Fprintln(errOut, "usage: doccheck [dir]")
		return 2
	}
	root := "."
	if len(args) == 1 {
		root = args[0]
	}
	found, err := checkTree(root)
	if err != nil {
		fmt.Fprintln(errOut, "doccheck:", err)
		return 2
	}
	for _, f := range found {
		fmt.Fprintln(out, f)
	}
	if len(found) > 0 {
		return 1
	}
	return 0
}

// checkTree walks the module at root and returns one line a finding.
func checkTree(root string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != root && skipDir(path) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := checkFile(path, nil)
		found = append(found, f...)
		return err
	})
	return found, err
}

// skipDir reports whether the go command would not count dir as part of the module.
func skipDir(dir string) bool {
	base := filepath.Base(dir)
	if base == "testdata" || base == "vendor" || base[0] == '.' || base[0] == '_' {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// checkFile parses one file; src is as in [parser.ParseFile].
func checkFile(path string, src any) ([]string, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if file.Name.Name == "main" || ast.IsGenerated(file) {
		return nil, nil
	}
	var found []string
	report := func(name *ast.Ident) {
		if name.IsExported() {
			found = append(found, fmt.Sprintf("%s: exported %s has no doc comment", fset.Position(name.Pos()), name.Name))
		}
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Doc == nil && exportedRecv(d) && !(d.Recv != nil && obvious[d.Name.Name]) {
				report(d.Name)
			}
		case *ast.GenDecl:
			checkGroup(d, report)
		}
	}
	return found, nil
}

// checkGroup looks at one type, const or var declaration. A comment on a group
// of constants or variables speaks for all of them; types need one each.
func checkGroup(d *ast.GenDecl, report func(*ast.Ident)) {
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Doc == nil && s.Comment == nil && (d.Doc == nil || d.Lparen.IsValid()) {
				report(s.Name)
			}
		case *ast.ValueSpec:
			if s.Doc != nil || s.Comment != nil || d.Doc != nil {
				continue
			}
			for _, name := range s.Names {
				report(name)
			}
		}
	}
}

// obvious are methods whose meaning an interface of the standard library fixes.
var obvious = map[string]bool{
	"Error": true, "String": true, "Unwrap": true, "Is": true, "As": true,
	"Read": true, "Write": true, "ServeHTTP": true,
	"Len": true, "Less": true, "Swap": true,
}

// exportedRecv reports whether d is a function, or a method of an exported type.
func exportedRecv(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	expr := d.Recv.List[0].Type
	for {
		switch t := expr.(type) {
		case *ast.StarExpr:
			expr = t.X
		case *ast.IndexExpr:
			expr = t.X
		case *ast.IndexListExpr:
			expr = t.X
		case *ast.ParenExpr:
			expr = t.X
		case *ast.Ident:
			return t.IsExported()
		default:
			return false
		}
	}
}
