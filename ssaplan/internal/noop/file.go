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
	// Setups are how the server was set up, and since when it is known to be.
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

// setups are since when the server is known to be set up as it is, by what that is for a kind.
type setups map[[3]string]time.Time

// fileSetup is how a server was set up, and since when it is known to be. The prints are bytes because they are no texts.
type fileSetup struct {
	Prints [3][]byte `json:"p"`
	Since  time.Time `json:"since"`
}

// MarshalJSON writes a list of [fileSetup].
func (s setups) MarshalJSON() ([]byte, error) {
	list := []fileSetup{}
	for print, since := range s {
		list = append(list, fileSetup{[3][]byte{[]byte(print[0]), []byte(print[1]), []byte(print[2])}, since})
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
	for _, setup := range list {
		p := setup.Prints
		(*s)[[3]string{string(p[0]), string(p[1]), string(p[2])}] = setup.Since
	}
	return nil
}

// settle has the configuration be known since when the cache first saw it, in another process if need be. What the server was asked right
// after it was set up otherwise is trusted for some seconds only, see [recent.Settling]; without this a process that ends sooner
// would remember nothing. What came and went between two processes isn't seen.
func (c *Cache) settle(configured *wire.Configuration) {
	if !c.portable {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if since, known := c.setups[configured.Fingerprint]; known && since.Before(configured.Since) {
		configured.Since = since
		return
	}
	for print := range c.setups {
		if print[0] != configured.Fingerprint[0] || print[1] != configured.Fingerprint[1] {
			delete(c.setups, print) // the server was set up otherwise since
		}
	}
	c.setups[configured.Fingerprint] = configured.Since
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

var errNotPortable = errors.New("ssaplan: the cache is not portable: see NoOpCacheOptions.Portable")

// Save writes what is remembered, for another process to [Cache.Restore]: digests and times, and no value of any object. The scope is a text of
// the host's that names the server and who asks it. Answers with warnings or other notes are left out; they are asked for again.
func (c *Cache) Save(to io.Writer, scope string) error {
	if !c.portable {
		return errNotPortable
	}
	f := file{Version: fileVersion, Scope: scope, Answers: []fileAnswer{}}
	for _, kept := range c.answers.All() {
		if kept.Answer == nothing {
			f.Answers = append(f.Answers, fileAnswer{kept.Subject[:], kept.Question[:], kept.Expires.Unix()})
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f.Setups = c.setups
	return json.NewEncoder(to).Encode(f)
}

// Restore remembers what [Cache.Save] wrote for the same scope, as far as there is room and as it isn't too old. An error says that what is
// read can't be trusted; then the cache is as before, and whoever has the file may delete it.
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
			return errors.New("the remembered no-ops are damaged")
		}
	}
	for _, a := range f.Answers {
		c.answers.Restore(recent.Kept[*notes]{Subject: recent.Key(a.Subject), Question: recent.Key(a.Question), Answer: nothing, Expires: time.Unix(a.Expires, 0)})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for print, since := range f.Setups {
		if since.Before(time.Now()) {
			c.setups[print] = since
		}
	}
	return nil
}
