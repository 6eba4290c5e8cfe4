package cmd

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/statefile"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/wholefile"
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
func (o *options) remember(ctx context.Context, c *cluster) (*remembered, error) {
	if o.memory == "" {
		return nil, nil
	}
	path, err := statefile.Target(o.memory, "--memory")
	if err != nil {
		return nil, fmt.Errorf("--memory %s: %w", o.memory, err)
	}
	const most = 100 << 20 // bytes; one of these objects takes some 200
	text, err := await(ctx, func() ([]byte, error) { return statefile.ReadOurs(path, most) })
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("--memory %s: %w", o.memory, wholefile.Told("read", err))
	}
	if len(text) > 0 && !bytes.HasPrefix(text, []byte(`{"version":`)) {
		return nil, fmt.Errorf("--memory %s: isn't a file of this program; name another one, or delete it", o.memory)
	}
	r := &remembered{ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{Size: mostRemembered, Portable: true}), path,
		c.scope()}
	_ = r.cache.Restore(bytes.NewReader(text), r.scope) // an error says that it is good for nothing
	return r, nil
}

// scope names the server and who asks it.
func (c *cluster) scope() string {
	who := c.config.Impersonate
	text, _ := json.Marshal([]any{ // texts
		c.config.Host, c.config.CAData, c.config.CAFile, c.user, c.config.Username, c.config.CertData,
		c.config.CertFile, subjectOf(c.config.BearerToken),
		who.UserName, who.UID, who.Groups, who.Extra,
	})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// subjectOf returns whom a token is of: the subject that it names, which stays the same when the token is renewed, or
// else the token.
func subjectOf(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return token
	}
	var claims struct{ Iss, Sub string }
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(text, &claims) != nil || claims.Sub == "" {
		return token
	}
	return claims.Iss + " " + claims.Sub
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
	if err := (wholefile.Target{Path: r.path}).Write(text.Bytes()); err != nil {
		return fmt.Errorf("--memory: %w", err)
	}
	return nil
}
