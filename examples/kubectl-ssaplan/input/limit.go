package input

import (
	"context"
	"fmt"
	"io"
	"os"
)

// maxSize is the size in bytes up to which a file, an answer or standard input is read.
const maxSize = 64 << 20

var errTooLarge = fmt.Errorf("is larger than %d MiB; check what it is, or split it up", maxSize>>20)

// ReadAll reads r to its end, up to 64 MiB. More is an error, so that no device and no pipe fills the memory. It doesn't wait
// for r when ctx ends; then r may still be read from.
func ReadAll(ctx context.Context, r io.Reader) ([]byte, error) {
	return unlessDone(ctx, func() ([]byte, error) { return readAll(r) })
}

// ReadFile reads a file as [ReadAll] does. Nor does it wait for somebody to write to a pipe when ctx ends.
func ReadFile(ctx context.Context, path string) ([]byte, error) {
	return unlessDone(ctx, func() ([]byte, error) {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return readAll(file)
	})
}

func readAll(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err == nil && len(text) > maxSize {
		return nil, errTooLarge
	}
	return text, err
}

// unlessDone returns what read returns, or the error of ctx if that ends first. For what knows no context, such as a read from
// a terminal or a pipe.
func unlessDone(ctx context.Context, read func() ([]byte, error)) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := read()
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
