//go:build unix

package statefile_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/statefile"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

func open(t *testing.T, path string) *statefile.Journal {
	t.Helper()
	journal, err := statefile.OpenJournal(t.Context(), path)
	require.NoError(t, err)
	return journal
}

// add remembers documents, in the form that doc reads.
func add(t *testing.T, j *statefile.Journal, texts ...string) {
	t.Helper()
	for _, m := range docs(t, texts...) {
		require.NoError(t, j.Add(t.Context(), statefile.Entry{Source: m.Source.Key(), State: state(t, m)}))
	}
}

// save ends a run that applied documents.
func save(t *testing.T, j *statefile.Journal, texts ...string) {
	t.Helper()
	run := statefile.Run{Manifests: docs(t, texts...), DefaultNamespace: "default"}
	var states []*explain.State
	for _, m := range run.Manifests {
		states = append(states, state(t, m))
	}
	require.NoError(t, j.Save(t.Context(), run, states))
}

func loaded(t *testing.T, path string) []string {
	t.Helper()
	f, err := statefile.Load(t.Context(), path)
	require.NoError(t, err)
	return content(t, f)
}

func files(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Each object is remembered at once, whether the run gets to its end or not.
func TestJournal(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state.json")
	assert.Empty(t, loaded(t, path), "a file that isn't there yet remembers nothing")
	j := open(t, path)
	assert.Empty(t, files(t, dir), "only tried")
	add(t, j, "f#1 x/a", "f#2 x/b")
	assert.Equal(t, []string{"f#1 x/a", "f#2 x/b"}, loaded(t, path), "killed after two")
	info, err := os.Stat(path + ".journal")
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	lines, err := os.OpenFile(path+".journal", os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = lines.WriteString(`{"source":"f#3","state":{"version":`)
	require.NoError(t, err)
	require.NoError(t, lines.Close())
	assert.Equal(t, []string{"f#1 x/a", "f#2 x/b"}, loaded(t, path), "killed in the middle of the third")

	j = open(t, path)
	add(t, j, "g#1 x/b", "g#2 x/c")
	assert.Equal(t, []string{"f#1 x/a", "g#1 x/b", "g#2 x/c"}, loaded(t, path), "one that was remembered is it anew")
	save(t, j, "g#1 x/b", "g#2 x/c")
	assert.Equal(t, []string{"g#1 x/b", "g#2 x/c", "f#1 x/a"}, loaded(t, path))
	assert.Equal(t, []string{"state.json"}, files(t, dir))

	add(t, j, "f#1 x/renamed")
	assert.Equal(t, []string{"g#1 x/b", "g#2 x/c", "f#1 x/a", "f#1 x/renamed"}, loaded(t, path))
	old := docs(t, "f#1 x/a")[0]
	require.NoError(t, j.Forget(t.Context(), statefile.Entry{Source: old.Source.Key(), State: state(t, old)}))
	assert.Equal(t, []string{"g#1 x/b", "g#2 x/c", "f#1 x/renamed"}, loaded(t, path), "what was deleted is forgotten")
	save(t, j, "f#1 x/renamed")
	assert.Equal(t, []string{"f#1 x/renamed", "g#1 x/b", "g#2 x/c"}, loaded(t, path), "what it was renamed from is forgotten")

	renamed := docs(t, "f#1 x/renamed")[0]
	require.NoError(t, j.Add(t.Context(), statefile.Entry{Source: renamed.Source.Key(), State: stateOf(t, renamed, "status")}))
	assert.Equal(t, []string{"f#1 x/renamed", "g#1 x/b", "g#2 x/c", "f#1 x/renamed status"}, loaded(t, path), "its status is remembered apart")
}

func TestParallelRunsLoseNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	var all sync.WaitGroup
	const runs, each = 8, 10
	for run := range runs {
		all.Add(1)
		go func() {
			defer all.Done()
			j, err := statefile.OpenJournal(t.Context(), path)
			if !assert.NoError(t, err) {
				return
			}
			var texts []string
			for i := range each {
				texts = append(texts, fmt.Sprintf("f%d#%d x/c%d-%d", run, i%10, run, i))
				add(t, j, texts[i])
				_, err := statefile.Load(t.Context(), path)
				assert.NoError(t, err)
			}
			save(t, j, texts...)
		}()
	}
	all.Wait()
	assert.Len(t, loaded(t, path), runs*each)
	assert.Equal(t, []string{"state.json"}, files(t, filepath.Dir(path)))
}

func TestLinksAreFollowed(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	path, target := filepath.Join(dir, "link"), filepath.Join(other, "state.json")
	require.NoError(t, os.Symlink(filepath.Join(other, "second"), path))
	require.NoError(t, os.Symlink("state.json", filepath.Join(other, "second")))
	j := open(t, path) // what it leads to isn't there yet
	add(t, j, "f#1 x/a")
	assert.Equal(t, []string{"f#1 x/a"}, loaded(t, target), "the journal is the same for every name")
	save(t, j, "f#1 x/a")
	assert.Equal(t, []string{"f#1 x/a"}, loaded(t, target))
	assert.Equal(t, []string{"f#1 x/a"}, loaded(t, path))
	info, err := os.Lstat(path)
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&os.ModeSymlink, "the link stays one")

	require.NoError(t, os.Symlink("circle", filepath.Join(dir, "circle")))
	_, err = statefile.Load(t.Context(), filepath.Join(dir, "circle"))
	require.ErrorContains(t, err, "too many links")
}

func TestOnlyFiles(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for _, path := range []string{pipe, "/dev/null", "/dev/stdin"} {
		_, err := statefile.Load(t.Context(), path)
		require.Error(t, err, path)
		_, err = statefile.OpenJournal(t.Context(), path)
		if !strings.HasSuffix(path, "stdin") { // that may be anything
			require.EqualError(t, err, "state file "+path+": is no file but a device, pipe or socket; name another one after --state")
		}
	}
}

// A link in place of the journal is refused, since the file behind it may be another user's.
func TestNoLinkIsAJournal(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "state.json"), filepath.Join(dir, "other")
	require.NoError(t, os.WriteFile(other, []byte("text"), 0o600))
	for _, to := range []string{other, filepath.Join(dir, "new")} {
		require.NoError(t, os.Symlink(to, path+".journal"))
		_, err := statefile.OpenJournal(t.Context(), path)
		require.ErrorContains(t, err, "journal: is no file but a link")
		_, err = statefile.Load(t.Context(), path)
		require.ErrorContains(t, err, "journal: is no file but a link")
		require.NoError(t, os.Remove(path+".journal"))
	}
	require.NoFileExists(t, filepath.Join(dir, "new"))
	text, err := os.ReadFile(other)
	require.NoError(t, err)
	require.Equal(t, "text", string(text))
}

// A link that is put in the place of the journal while it is being opened is no journal either.
func TestNoLinkBecomesAJournal(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "state.json"), filepath.Join(dir, "other")
	require.NoError(t, os.WriteFile(other, []byte("text"), 0o600))
	ended, swapped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(swapped)
		for {
			select {
			case <-ended:
				return
			default:
				_ = os.Symlink(filepath.Join(dir, "new"), path+".journal")
				_ = os.Remove(path + ".journal")
				_ = os.Symlink(other, path+".journal")
				_ = os.Remove(path + ".journal")
			}
		}
	}()
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		_, _ = statefile.OpenJournal(t.Context(), path)
		_, _ = statefile.Load(t.Context(), path)
	}
	close(ended)
	<-swapped
	require.NoFileExists(t, filepath.Join(dir, "new"))
	text, err := os.ReadFile(other)
	require.NoError(t, err)
	require.Equal(t, "text", string(text))
}

// Who may write a state file decides what is deleted. So what everybody may write isn't read.
func TestFilesOfOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	j := open(t, path)
	save(t, j, "f#1 x/a")
	add(t, j, "f#2 x/b")
	refused := func(problem string) {
		t.Helper()
		_, err := statefile.Load(t.Context(), path)
		require.ErrorContains(t, err, "state file "+path+": "+problem)
		_, err = statefile.OpenJournal(t.Context(), path)
		require.ErrorContains(t, err, "state file "+path+": "+problem)
		require.ErrorContains(t, j.Add(t.Context(), statefile.Entry{Source: "f#3", State: state(t, docs(t, "f#3 x/c")[0])}), problem)
	}
	for file, name := range map[string]string{path: "", path + ".journal": "journal: "} {
		for _, mode := range []os.FileMode{0o602, 0o666} {
			require.NoError(t, os.Chmod(file, mode))
			if name == "" { // what is added goes to the journal
				_, err := statefile.Load(t.Context(), path)
				require.ErrorContains(t, err, "every user may write it (mode "+mode.String()+")")
				require.ErrorContains(t, j.Save(t.Context(), statefile.Run{}, nil), "every user may write it")
				continue
			}
			refused("journal: every user may write it (mode " + mode.String() + ")")
		}
		require.NoError(t, os.Chmod(file, 0o644))
		assert.Equal(t, []string{"f#1 x/a", "f#2 x/b"}, loaded(t, path), "what others may read is fine")
	}
	if os.Getuid() != 0 {
		t.Skip("NOT RUN with a file of another user: only root can give one away")
	}
	for file, name := range map[string]string{path: "", path + ".journal": "journal: "} {
		require.NoError(t, os.Chown(file, 12345, -1))
		_, err := statefile.Load(t.Context(), path)
		require.ErrorContains(t, err, "state file "+path+": "+name+"belongs to another user")
		t.Setenv("SUDO_UID", "12345")
		assert.Equal(t, []string{"f#1 x/a", "f#2 x/b"}, loaded(t, path), "as git, for who called sudo")
		t.Setenv("SUDO_UID", "1234")
		_, err = statefile.OpenJournal(t.Context(), path)
		require.ErrorContains(t, err, "state file "+path+": "+name+"belongs to another user")
		require.NoError(t, os.Chown(file, 0, -1))
	}
}

// What is no state file any more doesn't fill the memory. The files are all hole.
func TestLargeFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	j := open(t, path)
	for file, name := range map[string]string{path: "", path + ".journal": "journal: "} {
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		require.NoError(t, os.Truncate(file, 512<<20+1))
		_, err := statefile.Load(t.Context(), path)
		require.ErrorContains(t, err, "state file "+path+": "+name+"can't be read: is larger than 512 MiB", file)
		require.ErrorContains(t, j.Save(t.Context(), statefile.Run{}, nil), name+"can't be read: is larger than 512 MiB", file)
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.EqualValues(t, 512<<20+1, info.Size(), "stays as it is")
		require.NoError(t, os.Remove(file))
	}
	require.NoError(t, os.WriteFile(path+".journal", nil, 0o600))
	require.NoError(t, os.Truncate(path+".journal", 512<<20))
	err := j.Add(t.Context(), statefile.Entry{Source: "f#1", State: state(t, docs(t, "f#1 x/a")[0])})
	require.ErrorContains(t, err, "journal: would be larger than the 512 MiB that are read again")
}

// What can't be written is found out before anything is applied, and leaves everything as it is.
func TestUnwritable(t *testing.T) {
	dir := t.TempDir()
	_, err := statefile.OpenJournal(t.Context(), filepath.Join(dir, "no", "state.json"))
	require.EqualError(t, err, "state file "+filepath.Join(dir, "no", "state.json")+": can't be written: no such file or directory")
	_, err = statefile.OpenJournal(t.Context(), dir)
	require.ErrorContains(t, err, "can't be read: is a directory")
	require.NoFileExists(t, dir+".journal")

	if os.Getuid() != 0 { // who may write everywhere
		require.NoError(t, os.Chmod(dir, 0o500))
		_, err = statefile.OpenJournal(t.Context(), filepath.Join(dir, "state.json"))
		require.ErrorContains(t, err, "can't be written: permission denied")
		require.NoError(t, os.Chmod(dir, 0o700))
	}

	out, err := onFullDisk(t, filepath.Join(dir, "state.json"))
	require.NoError(t, err, out)
	assert.Contains(t, out, "can't be written: file too large")
	assert.Empty(t, strings.Join(files(t, dir), " "))
}

// onFullDisk opens a journal in a child process, and returns its output and error. The child process can't write files
// of more than 1 KiB, as on a nearly full disk. The limit can't apply to this process: it would cut the list that go
// test keeps of the files that a test opens.
func onFullDisk(t *testing.T, path string) (string, error) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "FULL_DISK="+path)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestMain(m *testing.M) {
	path := os.Getenv("FULL_DISK")
	if path == "" {
		os.Exit(m.Run())
	}
	limit := syscall.Rlimit{}
	err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit)
	limit.Cur = 1 << 10
	if err == nil {
		err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
	}
	if err == nil {
		_, err = statefile.OpenJournal(context.Background(), path)
	}
	fmt.Println(err)
}

// Who holds the lock isn't waited for after an interrupt.
func TestLockedByAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	j := open(t, path)
	add(t, j, "f#1 x/a")
	holder, err := os.Open(path + ".journal")
	require.NoError(t, err)
	defer holder.Close()
	require.NoError(t, syscall.Flock(int(holder.Fd()), syscall.LOCK_EX))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = statefile.Load(ctx, path)
	require.ErrorContains(t, err, "interrupted while another program has it locked")
	_, err = statefile.OpenJournal(ctx, path)
	require.ErrorContains(t, err, "interrupted while another program has it locked")

	freed := make(chan error)
	go func() {
		time.Sleep(50 * time.Millisecond)
		freed <- syscall.Flock(int(holder.Fd()), syscall.LOCK_UN)
	}()
	assert.Equal(t, []string{"f#1 x/a"}, loaded(t, path))
	require.NoError(t, <-freed)
}
