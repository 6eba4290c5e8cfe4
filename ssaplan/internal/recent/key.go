package recent

import (
	"crypto/sha256"
	"strconv"
)

// Key identifies a question by a digest of it.
type Key [sha256.Size]byte

// KeyOf returns the key of a text with some parts beside it.
func KeyOf(text []byte, parts ...string) Key {
	sum := sha256.Sum256(text)
	var room [512]byte // for most questions
	question := append(room[:0], sum[:]...)
	for _, part := range parts {
		// With its length, so that no two lists of parts are the same text.
		question = append(strconv.AppendInt(question, int64(len(part)), 10), ':')
		question = append(question, part...)
	}
	return sha256.Sum256(question)
}
