package input

import (
	"context"
	"fmt"
	"io"
	"os"
)

// maxSize is the size in bytes up to which a file, an answer or standard input is read.
const maxSize = 64 << 20

// tooLarge is the error of what is larger than so many bytes.
type tooLarge int64

func (most tooLarge) Error() string {
	return fmt.Sprintf("is larger than %d MiB; check what it is, or split it up", int64(most)>>20)
}

// ReadAll reads r to its end, up to 64 MiB. More is an error, so that no device and no pipe fills the memory. It
// doesn't wait for r when ctx ends; then r may still be read from.
func ReadAll(ctx context.Context, r io.Reader) ([]byte, error) {
	return unlessDone(ctx, func() ([]byte, error) { return readAll(r) })
}

// ReadFile reads a file as [ReadAll] does. Nor does it wait for somebody to write to a pipe when ctx ends.
func ReadFile(ctx context.Context, path string) ([]byte, error) {
	return unlessDone(ctx, func() ([]byte, error) { return withFile(path, readAll) })
}

// ReadFileUpTo is [ReadFile] for files of another size that pass a check.
func ReadFileUpTo(ctx context.Context, path string, most int64, check func(*os.File) error) ([]byte, error) {
	return unlessDone(ctx, func() ([]byte, error) {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		if err := check(file); err != nil {
			return nil, err
		}
		return ReadOpened(file, most)
	})
}

// ReadOpened reads an open file from where it stands to its end. More than most bytes are an error, and aren't read if
// the file knows its size.
func ReadOpened(file *os.File, most int64) ([]byte, error) {
	if info, err := file.Stat(); err == nil && info.Size() > most {
		return nil, tooLarge(most)
	}
	return io.ReadAll(upTo(file, most))
}

// withFile returns what read returns of a file.
func withFile[T any](path string, read func(io.Reader) (T, error)) (found T, err error) {
	file, err := os.Open(path)
	if err != nil {
		return found, err
	}
	defer file.Close()
	return read(file)
}

func readAll(r io.Reader) ([]byte, error) { return io.ReadAll(bounded(r)) }

// bounded returns a reader of up to 64 MiB; more is an error.
func bounded(r io.Reader) io.Reader { return upTo(r, maxSize) }

// upTo returns a reader of up to most bytes; more is an error.
func upTo(r io.Reader, most int64) io.Reader {
	return &boundedReader{io.LimitedReader{R: r, N: most + 1}, tooLarge(most)}
}

type boundedReader struct {
	io.LimitedReader
	most tooLarge
}

func (b *boundedReader) Read(p []byte) (int, error) {
	n, err := b.LimitedReader.Read(p)
	if b.N == 0 {
		return 0, b.most
	}
	return n, err
}

// unlessDone returns what read returns, or the error of ctx if that ends first. For what knows no context, such as a
// read from a terminal or a pipe.
func unlessDone[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type result struct {
		found T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		found, err := read()
		done <- result{found, err}
	}()
	select {
	case r := <-done:
		return r.found, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
