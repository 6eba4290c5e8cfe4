package main

import (
	"fmt"
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// all lists what gremlins would: everything that a mutator changes.
func all(p *loaded) (listed []listedMutant) {
	for _, s := range p.sources {
		ast.Inspect(s.file, func(n ast.Node) bool {
			operator, pos := operatorOf(n)
			if operator == nil {
				return true
			}
			at := p.fset.Position(pos)
			for name, changes := range mutations {
				if _, ok := changes[*operator]; ok {
					listed = append(listed, listedMutant{Type: name, file: s.name, Line: at.Line, Column: at.Column})
				}
			}
			return true
		})
	}
	return listed
}

// A mutant that is switched on does what the source does in which its operator is replaced, and with none switched on,
// the program does what it did.
func TestASwitchIsTheMutation(t *testing.T) {
	p, err := load("testdata/sample")
	require.NoError(t, err)
	require.NoError(t, p.find(all(p)))
	require.Greater(t, len(p.mutants), 100)
	assert.Equal(t, 4, p.unviable, "two sums of texts, the address of a variable, and %= for itself")

	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	source := p.sources[0]
	write("go.mod", "module m\ngo 1.24\n")
	write("m0/sample.go", string(source.text))
	write("switched/sample.go", p.rewrite(source))
	write("switched/switches.go", switchesOf("sample"))
	imports, calls := "import s \"m/switched\"\nimport m0 \"m/m0\"\n", "0: m0.Results,\n"
	for _, m := range p.mutants {
		write(fmt.Sprintf("m%d/sample.go", m.id), p.aloneIn(source, m))
		imports += fmt.Sprintf("import m%d \"m/m%[1]d\"\n", m.id)
		calls += fmt.Sprintf("%d: m%[1]d.Results,\n", m.id)
	}
	write("main.go", "package main\nimport (\"fmt\"; \"os\"; \"strings\")\n"+imports+
		"func main() {\n\tall := []func() []string{s.Results}\n"+
		"\tif os.Args[1] == \"alone\" {\n\t\tall = []func() []string{\n"+calls+"}\n\t}\n"+
		"\tfor _, results := range all {\n\t\tfmt.Println(strings.Join(results(), \"\\n\"), \"\\x00\")\n\t}\n}\n")
	program := filepath.Join(dir, "main")
	build := exec.Command("go", "build", "-trimpath", "-o", program, ".") // in the cache, whatever the folder is
	build.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")            // the program is a module of its own
	build.Dir = dir
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)

	reached := filepath.Join(dir, "reached")
	require.NoError(t, os.WriteFile(reached, nil, 0o600))
	run := func(how string, id int) string {
		cmd := limited(t.Context(), program, leastCPU, how)
		cmd.Env = append(os.Environ(), fmt.Sprint("MUTANT=", id), "MUTANTS_REACHED="+reached)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	alone := strings.SplitAfter(run("alone", 0), "\x00\n")
	require.Len(t, alone, len(p.mutants)+2)
	original := alone[0]
	require.True(t, original == run("switched", 0), "it differs with no mutant on")
	data, err := os.ReadFile(reached)
	require.NoError(t, err)
	known := strings.Fields(string(data))
	for _, m := range p.mutants {
		mutated := alone[m.id]
		assert.True(t, original != mutated || m.function == "step", "the sample doesn't tell %s", m.description())
		if !m.alone {
			assert.True(t, mutated == run("switched", m.id), "switched on it differs: %s", m.description())
		}
		if m.function != "" {
			assert.Contains(t, known, fmt.Sprint(m.id), "isn't known as reached: %s", m.description())
		}
	}
}

func TestSurvivorsHaveReasons(t *testing.T) {
	file := filepath.Join(t.TempDir(), "survivors.txt")
	read := func(text string) (survivors, error) {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return readSurvivors(file)
	}
	list, err := read("# comment\n\na: f: M: x == y\n\tbecause\n\tit is so\n\nb: g: M: x\n\tas well\n")
	require.NoError(t, err)
	assert.Equal(t, survivors{{"a", "f: M: x == y", "because it is so"}, {"b", "g: M: x", "as well"}}, list)
	assert.Equal(t, map[string]int{"f: M: x == y": 1}, list.of("a"))
	for name, text := range map[string]string{
		"no reason":             "a: f: M: x\n",
		"no reason in between":  "a: f: M: x\na: g: M: x\n\treason\n",
		"no package":            "something\n\treason\n",
		"a reason of no mutant": "\treason\n",
	} {
		_, err := read(text)
		assert.Error(t, err, name)
	}
	_, err = readSurvivors("survivors.txt")
	assert.NoError(t, err)
}

func TestVerdictOfAPackage(t *testing.T) {
	one := func(verdict verdict, function string) *mutant {
		return &mutant{reached: verdict != "", verdict: verdict, function: function, mutation: "M", text: "x"}
	}
	dead := func(n int) (mutants []*mutant) {
		for range n {
			mutants = append(mutants, one(killed, "f"))
		}
		return mutants
	}
	for name, tt := range map[string]struct {
		mutants []*mutant
		allowed map[string]int
		fails   bool
	}{
		"all killed":            {dead(10), nil, false},
		"none at all":           {nil, nil, false},
		"one of ten uncovered":  {append(dead(9), one("", "f")), nil, false},
		"two of ten uncovered":  {append(dead(8), one("", "f"), one("", "f")), nil, true},
		"a survivor":            {append(dead(99), one(survived, "f")), nil, true},
		"a listed survivor":     {append(dead(99), one(survived, "f")), map[string]int{"f: M: x": 1}, false},
		"one listed of two":     {append(dead(98), one(survived, "f"), one(survived, "f")), map[string]int{"f: M: x": 1}, true},
		"a killed one listed":   {dead(10), map[string]int{"f: M: x": 1}, true},
		"loops and hangs":       {[]*mutant{one(looped, "f"), one(hung, "f")}, nil, false},
		"outside of a function": {append(dead(99), one(survived, "")), map[string]int{"-: M: x": 1}, false},
	} {
		r := result{folder: name, mutants: tt.mutants}
		assert.Equal(t, tt.fails, r.print(tt.allowed), name)
	}
}
