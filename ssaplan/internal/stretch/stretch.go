// Package stretch makes digests that take time to make, so that trying values takes time too.
package stretch

import (
	"crypto/pbkdf2"
	"crypto/sha256"
)

// rounds take 1 to 2 ms on one core: a reader of a digest finds a PIN of four digits in about 10 s, and six random
// letters and digits in more than a year. So a short secret isn't safe from a reader, and a long random one is.
const rounds = 5000

// Digest returns the digest of a text with a salt. PBKDF2 is generic, so its loop is compiled in this package, which
// make test builds without the race detector. With it the loop takes four times as long.
func Digest(text string, salt []byte) ([]byte, error) {
	return pbkdf2.Key(sha256.New, text, salt, rounds, sha256.Size)
}
