// Package statefile keeps what was applied, for the next plan: it tells edits of the manifest from drift, and which
// objects are no longer in the manifests.
//
// The file is JSON: {"apiVersion":"ssaplan/v1","objects":[{"source":"app.yaml#3","state":{…}}]}. It holds the values of
// the applied fields; of secrets only salted digests. Only its owner may read it. While objects are applied, and after
// a program that was killed, a [Journal] beside it has what isn't in it yet.
package statefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/input"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/wholefile"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/manifest"
)

// apiVersion names the form of the file.
const apiVersion = "ssaplan/v1"

// mostBytes is up to how many bytes a state file or a journal has.
const mostBytes = 512 << 20

var errTooLarge = fmt.Errorf(
	"would be larger than the %d MiB that are read again; remember parts of the set in files of their own",
	mostBytes>>20)

// File is the content of a state file. The zero File remembers nothing.
type File struct {
	objects []Entry
}

// Entry is what is remembered of one object.
type Entry struct {
	// Source is the key of the document that the object was applied from.
	Source string         `json:"source"`
	State  *explain.State `json:"state"`
	// Intended says that a run was going to make the object, and hasn't said since that it did. The state has the
	// identity alone.
	Intended bool `json:"intended,omitempty"`
	// Forgotten says, in a journal, that the object isn't there any more.
	Forgotten bool `json:"forgotten,omitempty"`
}

type fileJSON struct {
	APIVersion string  `json:"apiVersion"`
	Objects    []Entry `json:"objects"`
}

// key tells the remembered objects apart.
type key struct {
	object      identity.Identity
	subresource string
}

// keyOf returns the key of an entry, which is the same in all versions of its kind.
func keyOf(e Entry) key { return key{e.State.Identity.Unversioned(), e.State.Subresource} }

// read reads a state file without its journal. One that doesn't exist yet is empty.
func read(path string) (File, error) {
	text, err := ReadOurs(path, mostBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, nil
	}
	if err != nil {
		return File{}, wholefile.Told("read", err)
	}
	var content fileJSON
	if err := json.Unmarshal(text, &content); err != nil {
		return File{}, fmt.Errorf("not a state file: %w; name another one after --state", err)
	}
	if content.APIVersion != apiVersion {
		return File{}, fmt.Errorf("apiVersion: expected %q, found %q; name another one after --state", apiVersion,
			content.APIVersion)
	}
	for i, e := range content.Objects {
		if e.State == nil {
			return File{}, fmt.Errorf("objects[%d].state: missing; name another one after --state", i)
		}
	}
	return File{content.Objects}, nil
}

// Run is what a program plans or applies at a time.
type Run struct {
	Manifests []manifest.Manifest
	// Subresource is what of the objects is applied, "" for the objects themselves. Each is remembered apart.
	Subresource string
	// DefaultNamespace is that of the manifests that name none.
	DefaultNamespace string
}

func (r Run) key(id identity.Identity) identity.Identity { return input.Key(id, r.DefaultNamespace) }

// isAbout reports whether an entry is of what the run applies.
func (r Run) isAbout(e *Entry) bool { return e.State.Subresource == r.Subresource }

// Match returns for each manifest of a run what is remembered of its object, wherever the manifest stood then, or
// nil. A manifest with another name is that of another object, whatever stood in its place: which of the two was
// meant to follow the other can't be known.
func (f File) Match(r Run) []*Entry {
	byObject := map[identity.Identity]*Entry{}
	for i := range f.objects {
		if e := &f.objects[i]; r.isAbout(e) && !e.Intended {
			byObject[r.key(e.State.Identity)] = e
		}
	}
	matches := make([]*Entry, len(r.Manifests))
	for i, m := range r.Manifests {
		matches[i] = byObject[r.key(m.Identity)]
	}
	return matches
}

// Left returns what is remembered of objects that have left the set: those that are none of the manifests. Of
// subresources nothing is remembered that could leave.
func (f File) Left(r Run) (left []Entry) {
	present := map[identity.Identity]bool{}
	for _, m := range r.Manifests {
		present[r.key(m.Identity)] = true
	}
	for _, e := range f.objects {
		if e.State.Subresource == "" && !present[r.key(e.State.Identity)] {
			left = append(left, e)
		}
	}
	return left
}

// Updated returns the file after a run: applied holds the new state of each manifest, nil for those that were not
// applied, of which matches says what is remembered. What else the file knows stays, such as what has left the set.
func (f File) Updated(r Run, matches []*Entry, applied []*explain.State) File {
	var out File
	used := map[string]bool{} // by subresources, which don't leave
	made := map[identity.Identity]bool{}
	listed := map[*Entry]bool{}
	for i, m := range r.Manifests {
		state := applied[i]
		if state == nil && matches[i] != nil {
			state = matches[i].State
		}
		if state != nil {
			out.objects = append(out.objects, Entry{Source: m.Source.Key(), State: state})
			used[m.Source.Key()] = r.Subresource != ""
			made[r.key(state.Identity)] = true
		}
		listed[matches[i]] = true
	}
	for i := range f.objects {
		if e := &f.objects[i]; !listed[e] && !(e.Intended && made[r.key(e.State.Identity)]) &&
			!(used[e.Source] && r.isAbout(e)) {
			out.objects = append(out.objects, *e)
		}
	}
	return out
}

// save writes the file: the old one stays as it is, or the new one is there as a whole.
func (f File) save(path string) error {
	text, err := json.MarshalIndent(fileJSON{apiVersion, append([]Entry{}, f.objects...)}, "", "  ")
	if err != nil {
		return err
	}
	if len(text) >= mostBytes {
		return errTooLarge
	}
	return wholefile.Target{Path: path}.Write(append(text, '\n')) // before the journal goes, which has the same
}
