package cmd

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ssaplan/primitives/ssaplan"
)

// mostRemembered is of how many objects a file of --memory remembers that nothing changes.
const mostRemembered = 100_000

// remembered are the no-ops of earlier runs, by --memory. Nil remembers nothing.
type remembered struct {
	cache *ssaplan.NoOpCache
	path  string
	scope string
}

// remember reads the file of --memory. What is of another server, user or version is as if there were none.
func (o *options) remember(c *cluster) (*remembered, error) {
	if o.memory == "" {
		return nil, nil
	}
	text, err := os.ReadFile(o.memory)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("--memory: %w", err)
	}
	if len(text) > 0 && !bytes.HasPrefix(text, []byte(`{"version":`)) {
		return nil, fmt.Errorf("--memory %s: isn't a file of this program; name another one, or delete it", o.memory)
	}
	r := &remembered{ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{Size: mostRemembered, Portable: true}), o.memory, c.scope()}
	_ = r.cache.Restore(bytes.NewReader(text), r.scope) // an error says that it is good for nothing
	return r, nil
}

// scope names the server and who asks it.
func (c *cluster) scope() string {
	who := c.config.Impersonate
	text, _ := json.Marshal([]any{c.config.Host, c.config.TLSClientConfig.CAData, c.user, c.config.Username, c.config.CertData, who.UserName, who.Groups}) // texts
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// save writes the file anew. The set of no-ops of a server is nobody else's business.
func (r *remembered) save() error {
	if r == nil {
		return nil
	}
	var text bytes.Buffer
	if err := r.cache.Save(&text, r.scope); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(r.path), filepath.Base(r.path)+".*") // only the user may read it
	if err != nil {
		return fmt.Errorf("--memory: %w", err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(text.Bytes())
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), r.path)
	}
	if err != nil {
		return fmt.Errorf("--memory: %w", err)
	}
	return nil
}
