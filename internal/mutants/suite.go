package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A unitTest is a test, an example or the seeds of a fuzz target.
type unitTest struct {
	name string
	took time.Duration // of CPU time, or of waiting if that is more
}

// A suite is the test program of a package, with its mutants in it, and what is known of its tests.
type suite struct {
	*loaded
	temp    string
	program string
	tests   []unitTest
	reaches map[int][]unitTest // by mutant
}

// What a mutant may use up: that much more than its tests take without it. Time on the clock is only for those that
// wait for ever: a machine that is busy must kill no mutant.
const (
	timesLonger = 10
	leastCPU    = 5 * time.Second
	leastWait   = 2 * time.Minute
	mostMemory  = 4 << 20 // kB of addresses
)

// newSuite builds the test program and runs each test alone, to see that it passes and which mutants it reaches.
func newSuite(p *loaded, temp string) (*suite, error) {
	s := &suite{loaded: p, temp: temp, program: filepath.Join(temp, "all.test"), reaches: map[int][]unitTest{}}
	files := map[string]string{"mutant__switches.go": switchesOf(p.sources[0].file.Name.Name)}
	for _, source := range p.sources {
		files[source.name] = p.rewrite(source)
	}
	if err := s.build(s.program, files); err != nil {
		return nil, err
	}
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := s.observe(name); err != nil {
			return nil, err
		}
	}
	for _, m := range p.mutants {
		if m.function == "" {
			s.reaches[m.id] = s.tests // what is outside of functions runs before every test
		}
		m.reached = len(s.reaches[m.id]) > 0
	}
	return s, nil
}

// build compiles the tests of the package with other text in some files.
func (s *suite) build(program string, files map[string]string) error {
	dir, err := os.MkdirTemp(s.temp, "")
	if err != nil {
		return err
	}
	folder, err := filepath.Abs(s.folder)
	if err != nil {
		return err
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for name, text := range files {
		overlay.Replace[filepath.Join(folder, name)] = filepath.Join(dir, name)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	overlaid := filepath.Join(dir, "overlay.json")
	data, err := json.Marshal(overlay)
	if err != nil {
		return err
	}
	if err := os.WriteFile(overlaid, data, 0o600); err != nil {
		return err
	}
	_, err = output("go", "test", "-c", "-vet=off", "-overlay", overlaid, "-o", program, "./"+s.folder)
	return err
}

func (s *suite) names() ([]string, error) {
	cmd := s.execute(context.Background(), s.program, time.Hour, nil, "-test.list", "^(Test|Example|Fuzz)")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return strings.Fields(string(out)), nil
}

// observe runs one test without a mutant.
func (s *suite) observe(name string) error {
	log := filepath.Join(s.temp, "reached")
	if err := os.WriteFile(log, nil, 0o600); err != nil {
		return err
	}
	env := []string{"MUTANTS_REACHED=" + log}
	cmd := s.execute(context.Background(), s.program, time.Hour, env, "-test.run", pattern(name))
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s fails without a mutant: %w\n%s", name, err, out)
	}
	t := unitTest{name, max(time.Since(start), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())}
	s.tests = append(s.tests, t)
	data, err := os.ReadFile(log)
	if err != nil {
		return err
	}
	for _, word := range strings.Fields(string(data)) {
		id, err := strconv.Atoi(word)
		if err != nil {
			return err
		}
		s.reaches[id] = append(s.reaches[id], t)
	}
	return nil
}

func pattern(names ...string) string {
	for i, name := range names {
		names[i] = regexp.QuoteMeta(name)
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// execute returns a command that runs the test program in the folder of its package.
func (s *suite) execute(ctx context.Context, program string, cpu time.Duration, env []string,
	args ...string) *exec.Cmd {
	cmd := limited(ctx, program, cpu, args...)
	cmd.Dir = s.folder
	cmd.Env = append(os.Environ(), env...)
	return cmd
}

// limited returns a command that is killed when it takes more CPU time or memory than it may: a mutant may loop, and
// allocate while it does.
func limited(ctx context.Context, program string, cpu time.Duration, args ...string) *exec.Cmd {
	limits := fmt.Sprintf(`ulimit -t %d; ulimit -v %d; exec "$0" "$@"`, int(cpu.Seconds())+1, mostMemory)
	return exec.CommandContext(ctx, "sh", append([]string{"-c", limits, program}, args...)...)
}

// run tests all mutants that a test reaches.
func (s *suite) run(workers int) error {
	work := make(chan *mutant)
	var group sync.WaitGroup
	var failures sync.Map
	for range workers {
		group.Add(1)
		go func() {
			defer group.Done()
			for m := range work {
				if err := s.judge(m); err != nil {
					failures.Store(m.id, err)
				}
			}
		}()
	}
	for _, m := range s.mutants {
		if m.reached {
			work <- m
		}
	}
	close(work)
	group.Wait()
	var err error
	failures.Range(func(_, failure any) bool { err = failure.(error); return false })
	return err
}

// judge runs the tests that reach a mutant: first the fast ones, which are often enough.
func (s *suite) judge(m *mutant) error {
	program := s.program
	if m.alone {
		program = filepath.Join(s.temp, strconv.Itoa(m.id)+".test")
		defer os.Remove(program)
		if err := s.buildAlone(m, program); err != nil {
			return err
		}
	}
	tests := slices.Clone(s.reaches[m.id])
	slices.SortStableFunc(tests, func(a, b unitTest) int { return int(a.took - b.took) })
	fast, sum := 0, time.Duration(0)
	for fast < len(tests) && (fast == 0 || sum+tests[fast].took < time.Second) {
		sum += tests[fast].took
		fast++
	}
	for _, some := range [][]unitTest{tests[:fast], tests[fast:]} {
		if m.verdict = s.try(program, m, some); m.verdict != survived {
			break
		}
	}
	return nil
}

func (s *suite) buildAlone(m *mutant, program string) error {
	for _, source := range s.sources {
		if source.file.FileStart <= m.node.Pos() && m.node.Pos() < source.file.FileEnd {
			return s.build(program, map[string]string{source.name: s.aloneIn(source, m)})
		}
	}
	return errors.New("mutant of no file")
}

// try runs some tests with a mutant.
func (s *suite) try(program string, m *mutant, tests []unitTest) verdict {
	if len(tests) == 0 {
		return survived
	}
	var names []string
	var took time.Duration
	for _, t := range tests {
		names = append(names, t.name)
		took += t.took
	}
	cpu, wait := leastCPU+timesLonger*took, leastWait+timesLonger*took
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	env := []string{"MUTANT=" + strconv.Itoa(m.id)}
	cmd := s.execute(ctx, program, cpu, env, "-test.failfast", "-test.run", pattern(names...))
	if cmd.Run() == nil {
		return survived
	}
	status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case ctx.Err() != nil:
		return hung
	case status.Signaled() && cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime() >= cpu:
		return looped
	}
	return killed
}
