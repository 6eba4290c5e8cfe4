package input

import (
	"fmt"
	"io"
	"os"
)

// maxSize is the size in bytes up to which a file, an answer or standard input is read.
const maxSize = 64 << 20

var errTooLarge = fmt.Errorf("is larger than %d MiB; check what it is, or split it up", maxSize>>20)

// ReadAll reads r to its end, up to 64 MiB. More is an error, so that no device and no pipe fills the memory.
func ReadAll(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err == nil && len(text) > maxSize {
		return nil, errTooLarge
	}
	return text, err
}

// ReadFile reads a file as [ReadAll] does.
func ReadFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return ReadAll(file)
}
