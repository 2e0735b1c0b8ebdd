package local

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A folder holds all files of a lab. It is removed in the end even if the program is
// killed: by a process that does nothing but wait for that.
type folder struct {
	path    string
	alive   *os.File // closed with the program, however it ends
	janitor *exec.Cmd
}

// janitorEnv makes a process the one that removes the folder it names.
const janitorEnv = "INCUMBENT_LAB_JANITOR"

// folderName is how the names of folders begin, and of nothing else that may be
// removed.
const folderName = "incumbent-lab-"

// newFolder makes a folder among the temporary files.
func newFolder() (*folder, error) {
	path, err := os.MkdirTemp("", folderName)
	if err != nil {
		return nil, fmt.Errorf("%w: set TMPDIR to a writable folder", err)
	}
	f := &folder{path: path}
	if err := f.watch(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(path))
	}
	return f, nil
}

// watch starts the process that outlives this one.
func (f *folder) watch() error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	in, alive, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), janitorEnv+"="+f.path)
	cmd.Stdin = in
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // ^C at a terminal is for the program
	if err := cmd.Start(); err != nil {
		return errors.Join(err, alive.Close())
	}
	f.alive, f.janitor = alive, cmd
	return nil
}

// remove removes the folder, and waits for the process that would have.
func (f *folder) remove() error {
	err := os.RemoveAll(f.path)
	return errors.Join(err, f.alive.Close(), f.janitor.Wait())
}

const (
	removeTries = 100
	removeEvery = 50 * time.Millisecond
)

// janitorMain waits until the program is gone, and removes its folder. Servers that
// are just being killed may write there for a moment.
func janitorMain(path string) {
	if !strings.HasPrefix(filepath.Base(path), folderName) {
		fmt.Fprintf(os.Stderr, "%s: only a lab sets it\n", janitorEnv)
		os.Exit(2)
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // an error is the end as well
	for range removeTries {
		if err := os.RemoveAll(path); err == nil && !exists(path) {
			os.Exit(0)
		}
		time.Sleep(removeEvery)
	}
	os.Exit(1)
}

// exists reports whether there is such a file.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
