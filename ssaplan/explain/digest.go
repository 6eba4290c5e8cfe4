package explain

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/stretch"
)

// Digested returns p with the values of sensitive fields replaced by digests, to compare p with s.Applied and
// s.Observed. For example, compare s.Observed with the digested After of a plan to show what the plan changes.
func (s *State) Digested(p projection.Projection) projection.Projection {
	if !s.sensitive.Empty() {
		p.Sensitive = p.Sensitive.Union(s.sensitive)
	}
	return p.ReplaceSensitive(s.digest)
}

// digest returns the digest of the value at a path. The digest depends on the path, too. If list items were renamed
// since the digests of s were made, the old names are used.
func (s *State) digest(at projection.Path, v any) any {
	text, _ := json.Marshal(v)
	for _, item := range slices.Backward(s.renamed) { // inner items first
		if at.HasPrefix(item.Is) {
			at = slices.Concat(item.Was, at[len(item.Is):])
			break
		}
	}
	if s.digests == 0 {
		salt := append(append(bytes.Clone(s.salt), at.String()...), 0)
		if key, err := stretch.Digest(string(text), salt); err == nil {
			return "pbkdf2-sha256:" + base64.RawStdEncoding.EncodeToString(key)
		}
	}
	mac := hmac.New(sha256.New, s.salt)
	if s.digests != 1 {
		mac.Write(append([]byte(at.String()), 0))
	}
	mac.Write(text)
	return "hmac-sha256:" + base64.RawStdEncoding.EncodeToString(mac.Sum(nil))
}

// bounded returns the observed values with digests in place of values that are much larger than the applied ones, so
// that the state doesn't grow with the values of others.
func (s *State) bounded(observed projection.Projection, drift []Change) projection.Projection {
	const room = 1 << 10
	var large []projection.Path
	for _, change := range drift {
		if size(change.After) > room+2*size(change.Before) {
			large = append(large, change.Path)
		}
	}
	return observed.Replace(projection.NewFieldSet(large...), s.digest)
}

// size returns the length of v as JSON.
func size(v any) int {
	text, err := json.Marshal(v)
	if err != nil {
		return 0
	}
	return len(text)
}
