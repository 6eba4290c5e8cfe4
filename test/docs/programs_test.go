package docs_test

import (
	"fmt"
	"go/format"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// programs are the programs that readers copy from pages: the names of their files, and the page of each file. The Go
// blocks of the page, from top to bottom, are the file.
var programs = []map[string]string{
	{"main.go": "one-package.md"},
	{"main.go": "one-package-objects.md"},
	{"main.go": "one-package-errors.md"},
	{"main.go": "operator.md", "main_test.go": "operator-details.md"},
}

var goBlock = regexp.MustCompile("(?s)\n```go\n(.*?)\n```\n")

// programOf returns the program that a page belongs to, nil if there is none.
func programOf(page string) map[string]string {
	for _, program := range programs {
		for _, of := range program {
			if of == page {
				return program
			}
		}
	}
	return nil
}

// copied writes the program of a page to a new folder, as a reader does, and returns the paths of its files, main.go
// first.
func copied(page string) (files []string, err error) {
	dir, err := os.MkdirTemp("", "page")
	if err != nil {
		return nil, err
	}
	program := programOf(page)
	for _, name := range slices.Sorted(maps.Keys(program)) {
		text, err := os.ReadFile(filepath.Join("../../docs", program[name]))
		if err != nil {
			return nil, err
		}
		var source []string
		for _, block := range goBlock.FindAllStringSubmatch(string(text), -1) {
			source = append(source, block[1])
		}
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(strings.Join(source, "\n\n")+"\n"), 0o600); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// codeOfProgram returns the code of the program of a page, which runs as far as main or an Example with an output
// mentions it. The outputs are those of the Examples that run the program.
func codeOfProgram(page string, outputs [][]string) (*code, error) {
	files, err := copied(page)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(filepath.Dir(files[0]))
	code, err := readCode(files...)
	if err == nil {
		code.run("main")
		code.outputs = append(code.outputs, outputs...)
	}
	return code, err
}

func TestProgramsOfPagesAreFormatted(t *testing.T) {
	for _, program := range programs {
		for _, page := range program {
			files, err := copied(page)
			require.NoError(t, err)
			for _, file := range files {
				source := read(t, file)
				formatted, err := format.Source([]byte(source))
				require.NoError(t, err, page)
				assert.Equal(t, string(formatted), source, "%s: gofmt", page)
			}
			require.NoError(t, os.RemoveAll(filepath.Dir(files[0])))
		}
	}
}

// built compiles the program of a page and returns its path, and a function that removes it.
func built(page string) (binary string, remove func()) {
	source := must(copied(page))[0]
	return compiled(source), func() { must(0, os.RemoveAll(filepath.Dir(source))) }
}

// compiled compiles a program next to its source and returns its path.
func compiled(source string) (binary string) {
	binary = filepath.Join(filepath.Dir(source), "program")
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", binary, source).CombinedOutput(); err != nil {
		panic(fmt.Sprint(err, "\n", string(out)))
	}
	return binary
}

// runPage compiles and runs the program of a page, and prints its output.
func runPage(page string) {
	binary, remove := built(page)
	defer remove()
	run(binary)
}

// run runs a program as an administrator, and prints its output.
func run(binary string, args ...string) {
	command := exec.Command(binary, args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+server.Kubeconfig())
	out, err := command.CombinedOutput()
	fmt.Print(string(out))
	if err != nil {
		fmt.Println(err)
	}
}
