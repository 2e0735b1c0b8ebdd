package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"incumbent/internal/nearest"
)

// usage reports a wrong use of a command, such as "config print", in one line; "" is the
// program. It returns the exit code.
func usage(stderr io.Writer, command string, err error) int {
	before, path := "", "incumbent"
	if command != "" {
		before, path = command+": ", path+" "+command
	}
	_, _ = fmt.Fprintf(stderr, "incumbent: %s%s (see %s --help)\n", before, strings.ReplaceAll(err.Error(), "\n", " "), path)
	return exitUsage
}

// misused reports a wrong use of a command that has begun to run, and sets the exit code.
// It returns nil, for RunE.
func (a *app) misused(command string, err error) error {
	a.code = usage(a.err, command, err)
	return nil
}

// commandName is how usage calls a command.
func commandName(c *cobra.Command) string {
	_, name, _ := strings.Cut(c.CommandPath(), " ")
	return name
}

// takes accepts the arguments with these names, of which the first few are needed. If the
// last name ends in "...", there may be more of it.
func takes(needed int, names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch n := len(names); {
		case len(args) < needed:
			return fmt.Errorf("%s is missing: %s", strings.TrimSuffix(names[len(args)], "..."), c.UseLine())
		case len(args) > n && (n == 0 || !strings.HasSuffix(names[n-1], "...")):
			return fmt.Errorf("unexpected argument %q", args[n])
		}
		return nil
	}
}

// wantsCommand is the error of arguments that are no command below c, or of none.
func wantsCommand(c *cobra.Command, args []string) error {
	var names []string
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() {
			names = append(names, below.Name())
		}
	}
	if len(args) == 0 {
		return fmt.Errorf("a command is missing: %s", strings.Join(names, ", "))
	}
	return fmt.Errorf("unknown command %q%s", args[0], meant("", args[0], names))
}

// meant asks whether one of these names was meant, of which each begins with a prefix.
func meant(prefix, typed string, names []string) string {
	if near := nearest.Of(typed, names); near != "" {
		return fmt.Sprintf(", did you mean %q?", prefix+near)
	}
	return ""
}

// flagError says in the words of this program what pflag found wrong with a command line.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case c.HasAvailableSubCommands() && c.Flags().NArg() > 0: // its flags are not those that were meant
		return wantsCommand(c, c.Flags().Args())
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return fmt.Errorf("unknown flag -%s", unknown.GetSpecifiedName())
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		return fmt.Errorf("unknown flag --%s%s", name, meant("--", name, flagNames(c)))
	case errors.As(err, &bare):
		f := bare.GetFlag()
		hint, _ := pflag.UnquoteUsage(f)
		return fmt.Errorf("--%s needs a value: --%s=%s", f.Name, f.Name, valueHint(hint))
	case errors.As(err, &invalid):
		return fmt.Errorf("--%s: %q: %s", invalid.GetFlag().Name, invalid.GetValue(), ruleOf(invalid.Unwrap()))
	}
	return err
}

// flagNames are the flags that a command shows.
func flagNames(c *cobra.Command) (names []string) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}

// ruleOf says what a value must be that could not be parsed with that error.
func ruleOf(err error) string {
	var number *strconv.NumError
	isNumber := errors.As(err, &number)
	switch {
	case isNumber && errors.Is(err, strconv.ErrRange):
		return "is out of range"
	case isNumber && number.Func == "ParseBool":
		return "must be true or false"
	case isNumber && number.Func == "ParseUint":
		return "must be a whole number, and not negative"
	case isNumber && number.Func == "ParseFloat":
		return "must be a number"
	case isNumber:
		return "must be a whole number"
	case strings.HasPrefix(err.Error(), "time: "):
		return "must be a time with its unit, as in 30s or 500ms"
	}
	return err.Error()
}

// swallowed is an error where a flag would take another one for its value, as in
// "--out --json". Who means that writes --out=--json.
func swallowed(c *cobra.Command, args []string) error {
	for i, arg := range args {
		if arg == "--" {
			return nil
		}
		f := wantsNext(c, arg)
		if f != nil && i+1 < len(args) && strings.HasPrefix(args[i+1], "--") {
			return fmt.Errorf("--%s needs a value, and %q is none; perhaps --%s=%s is meant", f.Name, args[i+1], f.Name, args[i+1])
		}
	}
	return nil
}

// wantsNext is the flag that takes the next argument for its value, or nil.
func wantsNext(c *cobra.Command, arg string) (f *pflag.Flag) {
	switch name, long := strings.CutPrefix(arg, "--"); {
	case long:
		f = c.Flags().Lookup(name) // nil where there is a =
	case len(arg) == 2 && arg[0] == '-':
		f = c.Flags().ShorthandLookup(arg[1:])
	}
	if f == nil || f.NoOptDefVal != "" {
		return nil
	}
	return f
}
