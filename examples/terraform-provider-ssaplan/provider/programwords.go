package provider

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// said are the words of all programs that print credentials.
var said programWords

// programWords are what programs for credentials write to standard error. Terraform writes what comes from the standard
// error of a provider into its log, and these words may repeat the arguments and the environment of a program in any
// form. So they are counted and not kept.
type programWords struct {
	once                sync.Once
	writer              *os.File
	length, asked, seen atomic.Int64
}

// mark is what no program writes as text. All that was written before it has been counted once it is seen.
const mark = 0

// count has the words of programs counted from now on. A client takes [os.Stderr] for the program when it is made; the
// log of the provider and a crash have the file itself.
func (w *programWords) count() {
	w.once.Do(func() {
		reader, writer, err := os.Pipe()
		if err != nil {
			return // out of files, which ends the run soon
		}
		w.writer, os.Stderr = writer, writer
		go func() {
			buffer := make([]byte, 4096)
			for err == nil {
				var n, marks int
				n, err = reader.Read(buffer)
				for _, b := range buffer[:n] {
					if b == mark {
						marks++
					}
				}
				w.length.Add(int64(n - marks))
				w.seen.Add(int64(marks))
			}
		}()
	})
}

// redacted is what a user reads in place of the words.
func (w *programWords) redacted() string {
	length := ""
	if w.writer != nil {
		asked := w.asked.Add(1)
		_, _ = w.writer.Write([]byte{mark})
		for range 1000 { // milliseconds, and more than enough
			if w.seen.Load() >= asked {
				break
			}
			time.Sleep(time.Millisecond)
		}
		length = fmt.Sprintf(" (%d bytes so far)", w.length.Load())
	}
	return "what the program that prints the credentials says" + length +
		" isn't shown here, since it may repeat its arguments and its environment; run it by hand to see it"
}
