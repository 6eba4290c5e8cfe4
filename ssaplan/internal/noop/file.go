package noop

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ssaplan/primitives/ssaplan/internal/recent"
)

// fileVersion is the version of the file format. A file with another version isn't read.
const fileVersion = 1

// longestFile is how long a file may be: far longer than one of the usual size.
const longestFile = 256 << 20

// file is a cache as it is written. It has digests and times, and no value of any object.
type file struct {
	Version int    `json:"version"`
	Scope   string `json:"scope"`
	// Setups are the configurations of the server, one for each kind, with the time since which each is known.
	Setups setups `json:"setups"`
	// Answers are the remembered answers. The answer that was not asked for the longest time is the first.
	Answers []fileAnswer `json:"answers"`
}

// fileAnswer is one remembered answer: the apply of the question writes nothing.
type fileAnswer struct {
	Subject  []byte `json:"s"`
	Question []byte `json:"q"`
	Expires  int64  `json:"e"` // in seconds
}

var errNotPortable = errors.New("ssaplan: the cache is not portable: see NoOpCacheOptions.Portable")

// Save writes what is remembered, for another process to [Cache.Restore]: digests and times, and no value of any
// object. The scope is a text of the caller's that names the server and its user. Answers with warnings or other notes
// are left out; the server is asked for them again.
func (c *Cache) Save(to io.Writer, scope string) error {
	if !c.portable {
		return errNotPortable
	}
	f := file{Version: fileVersion, Scope: scope, Answers: []fileAnswer{}}
	for _, kept := range c.answers.All(time.Now()) {
		if kept.Answer == nothing {
			f.Answers = append(f.Answers,
				fileAnswer{kept.Subject[:], kept.Question[:], kept.Expires.Round(time.Second).Unix()})
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f.Setups = c.setups
	return json.NewEncoder(to).Encode(f)
}

// Restore adds what [Cache.Save] wrote for the same scope, as far as there is room and as it isn't too old. An error
// means that the content can't be trusted. Then the cache doesn't change, and the caller may delete the file.
func (c *Cache) Restore(from io.Reader, scope string) error {
	if !c.portable {
		return errNotPortable
	}
	var f file
	if err := json.NewDecoder(io.LimitReader(from, longestFile)).Decode(&f); err != nil {
		return fmt.Errorf("the remembered no-ops can't be read: %w", err)
	}
	if f.Version != fileVersion || f.Scope != scope {
		return fmt.Errorf("the remembered no-ops are of another server, user or version of this program")
	}
	for _, a := range f.Answers {
		if len(a.Subject) != len(recent.Key{}) || len(a.Question) != len(recent.Key{}) {
			return errDamaged
		}
	}
	now := time.Now()
	for _, a := range f.Answers {
		c.answers.Restore(recent.Kept[*notes]{Subject: recent.Key(a.Subject), Question: recent.Key(a.Question),
			Answer: nothing, Expires: time.Unix(a.Expires, 0)}, now)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for kind, known := range f.Setups {
		if known.since.Before(now) {
			c.setups[kind] = known
		}
	}
	return nil
}
