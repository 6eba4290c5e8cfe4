package noop

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/internal/recent"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
)

// fileVersion is that of the form in which a cache is written. Another one isn't read.
const fileVersion = 1

// longestFile is how long a file may be: far longer than one of the usual size.
const longestFile = 256 << 20

// file is a cache as it is written. It has digests and times, and no value of any object.
type file struct {
	Version int    `json:"version"`
	Scope   string `json:"scope"`
	// Setups are how the server was set up for each kind, and since when it is known to be.
	Setups setups `json:"setups"`
	// Answers are what is remembered, that which was not asked for the longest time first.
	Answers []fileAnswer `json:"answers"`
}

// fileAnswer is that an apply writes nothing.
type fileAnswer struct {
	Subject  []byte `json:"s"`
	Question []byte `json:"q"`
	Expires  int64  `json:"e"` // in seconds
}

// setups are how the server is set up, by the digest of the kind that it is about.
type setups map[recent.Key]setup

// setup is how a server is set up, and since when it is known to be.
type setup struct {
	print [3]string
	since time.Time
}

// fileSetup is a setup as it is written. The prints are bytes because they are no texts.
type fileSetup struct {
	Kind   []byte    `json:"k"`
	Prints [3][]byte `json:"p"`
	Since  time.Time `json:"since"`
}

// MarshalJSON writes a list of [fileSetup].
func (s setups) MarshalJSON() ([]byte, error) {
	list := []fileSetup{}
	for kind, seen := range s {
		list = append(list, fileSetup{kind[:], [3][]byte{[]byte(seen.print[0]), []byte(seen.print[1]), []byte(seen.print[2])}, seen.since})
	}
	return json.Marshal(list)
}

// UnmarshalJSON reads it.
func (s *setups) UnmarshalJSON(text []byte) error {
	var list []fileSetup
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	*s = setups{}
	for _, f := range list {
		if len(f.Kind) != len(recent.Key{}) {
			return errDamaged
		}
		print := [3]string{string(f.Prints[0]), string(f.Prints[1]), string(f.Prints[2])}
		(*s)[recent.Key(f.Kind)] = setup{print, f.Since}
	}
	return nil
}

// settle has the configuration be known since when the cache first saw it, by another Planner or in another process if
// need be. What the server was asked right after it was set up otherwise is trusted for some seconds only, see
// [recent.Settling]; without this a process that ends sooner would remember nothing. What came and went between two
// processes isn't seen.
func (c *Cache) settle(object identity.Identity, configured *wire.Configuration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kind := recent.KeyOf(nil, object.APIVersion, object.Kind)
	if known := c.setups[kind]; known.print == configured.Fingerprint && known.since.Before(configured.Since) {
		configured.Since = known.since
		return
	}
	for kind, known := range c.setups {
		if known.print[0] != configured.Fingerprint[0] || known.print[1] != configured.Fingerprint[1] {
			delete(c.setups, kind) // the server was set up otherwise since, for all kinds
		}
	}
	c.setups[kind] = setup{configured.Fingerprint, configured.Since}
}

// digest returns a text that tells the content of an object from any other.
func (c *Cache) digest(content map[string]any) (string, bool) {
	if !c.portable {
		sum, ok := c.answers.Digest(content)
		return strconv.FormatUint(sum, 16), ok
	}
	text, err := json.Marshal(content)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err == nil
}

var errDamaged = errors.New("the remembered no-ops are damaged")

var errNotPortable = errors.New("ssaplan: the cache is not portable: see NoOpCacheOptions.Portable")

// Save writes what is remembered, for another process to [Cache.Restore]: digests and times, and no value of any
// object. The scope is a text of the host's that names the server and who asks it. Answers with warnings or other notes
// are left out; they are asked for again.
func (c *Cache) Save(to io.Writer, scope string) error {
	if !c.portable {
		return errNotPortable
	}
	f := file{Version: fileVersion, Scope: scope, Answers: []fileAnswer{}}
	for _, kept := range c.answers.All(time.Now()) {
		if kept.Answer == nothing {
			f.Answers = append(f.Answers, fileAnswer{kept.Subject[:], kept.Question[:], kept.Expires.Round(time.Second).Unix()})
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f.Setups = c.setups
	return json.NewEncoder(to).Encode(f)
}

// Restore remembers what [Cache.Save] wrote for the same scope, as far as there is room and as it isn't too old. An
// error says that what is read can't be trusted; then the cache is as before, and whoever has the file may delete it.
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
		c.answers.Restore(recent.Kept[*notes]{Subject: recent.Key(a.Subject), Question: recent.Key(a.Question), Answer: nothing, Expires: time.Unix(a.Expires, 0)}, now)
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
