package statefile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/input"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/wholefile"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// Journal is a state file that is being written, by several programs at a time if need be. What each applied is in a
// file beside it at once, one line for an object, which is locked for as long as anybody reads or writes either of the
// two. So a program that is killed loses no more than the object that it was about to remember.
type Journal struct {
	state string // the file itself, not a link to it
}

// journalOf returns the file of the lines beside a state file.
func journalOf(state string) string { return state + ".journal" }

// OpenJournal finds out whether the state file can be written, and leaves it as it is.
func OpenJournal(ctx context.Context, path string) (*Journal, error) {
	state, err := Target(path, flag)
	if err != nil {
		return nil, fmt.Errorf("state file %s: %w", path, err)
	}
	j := &Journal{state}
	err = j.locked(ctx, func(lines *os.File) error {
		return errors.Join(rehearse(state), j.removeIfEmpty(lines))
	})
	if err != nil {
		return nil, j.unwritable(err)
	}
	return j, nil
}

// Target returns the file that the path of a flag leads to, which need not exist. What isn't a file can't be replaced
// by one, and to open it could take for ever.
func Target(path, flag string) (string, error) {
	target, err := wholefile.Find(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("can't be read: %w", wholefile.Cause(err))
	case target.Through:
		return "", fmt.Errorf("is no file but a device, pipe or socket; name another one after %s", flag)
	}
	return target.Path, nil
}

// rehearse tries to write what a state file has, and as much again, for what comes on top.
func rehearse(state string) error {
	const room = 64 << 10
	text, err := ReadOurs(state, mostBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return wholefile.Target{Path: state}.Try(append(bytes.Repeat([]byte{' '}, len(text)+room), text...))
}

// Intend remembers which objects are going to be made, before the first of them is, so that none is lost if the program
// is killed in between.
func (j *Journal) Intend(ctx context.Context, entries []Entry) error {
	if len(entries) == 0 {
		return nil
	}
	for i := range entries {
		entries[i].Intended = true
	}
	return j.add(ctx, entries...)
}

// Forget forgets one object, which isn't there any more.
func (j *Journal) Forget(ctx context.Context, e Entry) error {
	e.Forgotten = true
	return j.Add(ctx, e)
}

// Add remembers one object that was applied.
func (j *Journal) Add(ctx context.Context, e Entry) error { return j.add(ctx, e) }

func (j *Journal) add(ctx context.Context, entries ...Entry) error {
	text := []byte{'\n'} // on a line of its own, also behind one that was cut off
	for _, e := range entries {
		line, err := json.Marshal(e)
		if err != nil {
			return j.unwritable(err)
		}
		text = append(append(text, line...), '\n')
	}
	err := j.locked(ctx, func(lines *os.File) error {
		end, err := lines.Seek(0, io.SeekEnd)
		if err == nil && end+int64(len(text)) > mostBytes {
			err = fmt.Errorf("journal: %w", errTooLarge)
		}
		if err == nil {
			_, err = lines.Write(text)
		}
		return errors.Join(err, lines.Sync())
	})
	if err != nil {
		return j.unwritable(err)
	}
	return nil
}

// Save makes one file of the state file and its journal. It forgets what the manifests that were applied stand in the
// place of; see [File.Updated].
func (j *Journal) Save(ctx context.Context, r Run, applied []*explain.State) error {
	err := j.locked(ctx, func(lines *os.File) error {
		now, err := load(j.state, lines)
		if err != nil {
			return err
		}
		if err := now.Updated(r, now.Match(r), applied).save(j.state); err != nil {
			return err
		}
		return j.remove(lines)
	})
	if err != nil {
		return j.unwritable(err)
	}
	return nil
}

// remove empties the journal and removes it, where an open file can be removed.
func (j *Journal) remove(lines *os.File) error {
	err := lines.Truncate(0)
	_ = os.Remove(lines.Name())
	return err
}

func (j *Journal) unwritable(err error) error {
	return fmt.Errorf("state file %s: %w", j.state, wholefile.Told("written", err))
}

// openJournal opens the journal of a state file.
func openJournal(state string, flag int) (*os.File, error) {
	lines, err := wholefile.OpenOurs(journalOf(state), flag)
	if wholefile.IsDistrust(err) {
		err = fmt.Errorf("journal: %w", err)
	}
	return lines, err
}

// ReadOurs reads a file that passes [wholefile.CheckOurs] and has no more than most bytes.
func ReadOurs(path string, most int64) ([]byte, error) {
	file, err := wholefile.OpenOurs(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return input.ReadOpened(file, most)
}

// flag names a state file on the command line.
const flag = "--state"

// patience is how long to wait between two attempts to lock.
const patience = 5 * time.Millisecond

// locked calls work with the journal, which nobody else has then.
func (j *Journal) locked(ctx context.Context, work func(lines *os.File) error) error {
	for {
		lines, err := openJournal(j.state, os.O_RDWR|os.O_CREATE)
		if err != nil {
			return err
		}
		if err := lock(ctx, lines, true); err != nil {
			return errors.Join(err, lines.Close())
		}
		if wholefile.IsAt(lines, journalOf(j.state)) {
			return errors.Join(work(lines), lines.Close())
		}
		_ = lines.Close() // somebody saved meanwhile and removed it
	}
}

func (j *Journal) removeIfEmpty(lines *os.File) error {
	if info, err := lines.Stat(); err != nil || info.Size() > 0 {
		return err
	}
	return j.remove(lines)
}

// Load reads a state file and its journal. One that doesn't exist yet is empty.
func Load(ctx context.Context, path string) (File, error) {
	state, err := Target(path, flag)
	if err != nil {
		return File{}, fmt.Errorf("state file %s: %w", path, err)
	}
	lines, err := openJournal(state, os.O_RDONLY)
	if err == nil {
		defer lines.Close()
		err = lock(ctx, lines, false)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return File{}, fmt.Errorf("state file %s: %w", path, wholefile.Told("read", err))
	}
	f, err := load(state, lines) // without a journal there is nothing in it
	if err != nil {
		return File{}, fmt.Errorf("state file %s: %w", path, err)
	}
	return f, nil
}

// load reads a state file, and its journal unless that is nil.
func load(state string, lines *os.File) (File, error) {
	f, err := read(state)
	if err != nil || lines == nil {
		return f, err
	}
	if _, err := lines.Seek(0, io.SeekStart); err != nil {
		return f, err
	}
	text, err := input.ReadOpened(lines, mostBytes)
	if err != nil {
		return f, fmt.Errorf("journal: %w", wholefile.Told("read", err))
	}
	at := map[key]int{}
	for i, e := range f.objects {
		at[keyOf(e)] = i
	}
	for line := range bytes.Lines(text) {
		var e Entry
		if json.Unmarshal(line, &e) != nil || e.State == nil {
			continue // an empty line, or one that was cut off when a program or the disk ended
		}
		if i, known := at[keyOf(e)]; known {
			if !e.Intended {
				f.objects[i] = e
			}
			continue
		}
		at[keyOf(e)] = len(f.objects)
		f.objects = append(f.objects, e)
	}
	f.objects = slices.DeleteFunc(f.objects, func(e Entry) bool { return e.Forgotten })
	return f, nil
}
