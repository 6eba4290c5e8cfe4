//go:build unix

package wholefile_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/wholefile"
)

// TestMain writes a file again and again, or tries to write one, if a test asks for it.
func TestMain(m *testing.M) {
	if path := os.Getenv("TRY"); path != "" {
		to, err := wholefile.Find(path)
		if err == nil {
			err = to.Try(nil)
		}
		fmt.Print(err)
		return
	}
	if path := os.Getenv("WRITE"); path != "" {
		for {
			if err := write(path, large('b')); err != nil {
				panic(err)
			}
		}
	}
	os.Exit(m.Run())
}

func large(letter byte) []byte { return bytes.Repeat([]byte{letter}, 4<<20) }

func write(path string, content []byte) error {
	to, err := wholefile.Find(path)
	if err != nil {
		return err
	}
	return to.Write(content)
}

func names(t *testing.T, folder string) (names []string) {
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// openFolder returns a new folder with a mode. Unlike those of t.TempDir, other users can reach it.
func openFolder(t *testing.T, mode os.FileMode) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "wholefile")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	require.NoError(t, os.Chmod(folder, mode))
	return folder
}

// A process that is killed in the middle of a write leaves the old file or the new one. The next write removes its
// temporary files.
func TestKilledWrites(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	left := 0
	for round := range 40 {
		require.NoError(t, write(path, large('a')))
		require.Equal(t, []string{"file"}, names(t, folder))
		writer := exec.Command(os.Args[0])
		writer.Env = append(os.Environ(), "WRITE="+path)
		require.NoError(t, writer.Start())
		for deadline := time.Now().Add(time.Minute); len(names(t, folder)) < 2; { // until it has begun
			require.True(t, time.Now().Before(deadline))
		}
		time.Sleep(time.Duration(round%5) * time.Millisecond)
		require.NoError(t, writer.Process.Kill())
		_ = writer.Wait()
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, bytes.Equal(large('a'), content) || bytes.Equal(large('b'), content), "round %d", round)
		left += len(names(t, folder)) - 1
		if left >= 3 {
			break
		}
	}
	require.Positive(t, left, "none was killed in the middle")
	require.NoError(t, write(path, nil))
	require.Equal(t, []string{"file"}, names(t, folder))
}

// What others are writing isn't taken for left behind.
func TestWritersSideBySide(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	failed := make(chan error, 8)
	for range cap(failed) {
		go func() {
			var err error
			for i := 0; i < 50 && err == nil; i++ {
				err = write(path, []byte("x"))
			}
			failed <- err
		}()
	}
	for range cap(failed) {
		require.NoError(t, <-failed)
	}
	require.Equal(t, []string{"file"}, names(t, folder))
}

func TestLinks(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	require.NoError(t, os.Mkdir(at("there"), 0o700))
	require.NoError(t, os.WriteFile(at("public"), []byte("old"), 0o644))
	for link, to := range map[string]string{"one": "two", "two": "public", "dangling": "there/new", "loop": "loop", "lost": "nowhere/new"} {
		require.NoError(t, os.Symlink(to, at(link)))
	}
	for link, file := range map[string]string{"one": "public", "dangling": "there/new"} {
		require.NoError(t, write(at(link), []byte("new")))
		info, err := os.Lstat(at(file))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode())
		info, err = os.Lstat(at(link))
		require.NoError(t, err)
		require.NotZero(t, info.Mode()&os.ModeSymlink)
	}
	for link, problem := range map[string]string{"loop": "too many", "lost": "no such file", "there": "is a directory"} {
		require.ErrorContains(t, write(at(link), nil), problem)
	}
}

// What isn't a file stays what it is.
func TestPipesAndDevices(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	read := make(chan string, 1)
	go func() {
		file, err := os.Open(pipe)
		if err != nil {
			read <- err.Error()
			return
		}
		text, _ := io.ReadAll(file)
		read <- string(text)
	}()
	to, err := wholefile.Find(pipe)
	require.NoError(t, err)
	require.True(t, to.Through)
	require.NoError(t, to.Try(nil))
	require.NoError(t, to.Write([]byte("content")))
	require.Equal(t, "content", <-read)
	require.NoError(t, write("/dev/null", []byte("content")))
	for path, kind := range map[string]os.FileMode{pipe: os.ModeNamedPipe, "/dev/null": os.ModeCharDevice} {
		info, err := os.Lstat(path)
		require.NoError(t, err)
		require.NotZero(t, info.Mode()&kind)
	}
}

// TestStandardOutput writes to /dev/stdout, which is a file here.
func TestStandardOutput(t *testing.T) {
	before := os.Stdout
	defer func() { os.Stdout = before }()
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	require.NoError(t, err)
	defer file.Close()
	os.Stdout = file
	_, err = file.WriteString("text\n")
	require.NoError(t, err)
	require.NoError(t, write(file.Name(), []byte("content\n")))
	text, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	require.Equal(t, "text\ncontent\n", string(text))
	require.True(t, wholefile.IsAt(file, file.Name()))
}

// A try leaves everything as it is, and says that a folder can't be written to.
func TestTry(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	to, err := wholefile.Find(path)
	require.NoError(t, err)
	require.NoError(t, to.Try(large('b')))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "old", string(text))
	require.Equal(t, []string{"file"}, names(t, folder))
	to.Path = filepath.Join(folder, "file", "below")
	require.Error(t, to.Try(nil))
	require.Error(t, wholefile.Target{Path: filepath.Join(folder, strings.Repeat("x", 300))}.Try(nil))
}

// tryAsNobody tries to write as a user who may do little, and returns the error.
func tryAsNobody(t *testing.T, path string) string {
	t.Helper()
	folder := openFolder(t, 0o755)
	program, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "try"), program, 0o755))
	cmd := exec.CommandContext(t.Context(), filepath.Join(folder, "try"))
	cmd.Env, cmd.Dir = append(os.Environ(), "TRY="+path), "/"
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

// What may not be written to is found out before, and who reads a pipe goes on waiting.
func TestTryOfWhatIsNoFile(t *testing.T) {
	folder := openFolder(t, 0o755)
	pipe := filepath.Join(folder, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	require.NoError(t, os.Chmod(pipe, 0o400))
	require.Equal(t, "write "+pipe+": permission denied", tryAsNobody(t, pipe))
	require.NoError(t, os.Chmod(pipe, 0o622))
	reader, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	require.NoError(t, err)
	defer reader.Close()
	require.Equal(t, "<nil>", tryAsNobody(t, pipe))

	socket, err := net.Listen("unix", filepath.Join(folder, "socket"))
	require.NoError(t, err)
	defer socket.Close()
	to, err := wholefile.Find(filepath.Join(folder, "socket"))
	require.NoError(t, err)
	require.ErrorContains(t, to.Try(nil), "is a socket")
}

// In a shared folder such as /tmp, a file of another user is refused.
func TestTryInSharedFolder(t *testing.T) {
	folder := openFolder(t, 0o777|os.ModeSticky)
	path := filepath.Join(folder, "file")
	require.Equal(t, "<nil>", tryAsNobody(t, path))
	if os.Getuid() != 0 {
		t.Skip("NOT RUN with a file of another user: only root can be another one")
	}
	require.NoError(t, os.WriteFile(path, nil, 0o666))
	require.Equal(t, "write "+path+": belongs to another user", tryAsNobody(t, path))
	require.NoError(t, os.Chown(path, 65534, -1))
	require.Equal(t, "<nil>", tryAsNobody(t, path))
}

// OpenOurs opens only a regular file that not every user may write. It follows no link and creates no file.
func TestOpenOurs(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	require.NoError(t, os.WriteFile(at("file"), []byte("text"), 0o644))
	require.NoError(t, os.Symlink("file", at("link")))
	require.NoError(t, os.Symlink("new", at("dangling")))
	require.NoError(t, syscall.Mkfifo(at("pipe"), 0o600))
	for _, flag := range []int{os.O_RDONLY, os.O_RDWR | os.O_CREATE} {
		file, err := wholefile.OpenOurs(at("file"), flag)
		require.NoError(t, err)
		require.NoError(t, file.Close())
		for _, name := range []string{"link", "dangling", "pipe", "."} {
			_, err := wholefile.OpenOurs(at(name), flag)
			require.EqualError(t, err, "is no file but a link, folder, device, pipe or socket; move it away", name)
		}
	}
	require.NoFileExists(t, at("new"))
	_, err := wholefile.OpenOurs(at("nothing"), os.O_RDONLY)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.Chmod(at("file"), 0o660))
	shared, err := wholefile.OpenOurs(at("file"), os.O_RDONLY)
	require.NoError(t, err, "its owner may share it with a group")
	require.NoError(t, shared.Close())
	require.NoError(t, os.Chmod(at("file"), 0o666))
	_, err = wholefile.OpenOurs(at("file"), os.O_RDONLY)
	require.EqualError(t, err, "every user may write it (mode -rw-rw-rw-), and decide what it says; read it, and run chmod o-w")

	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	defer write.Close()
	require.NoError(t, wholefile.CheckOurs(read))
}

// Where there are no locks, what was left behind is known by its age.
func TestRemoveOld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	wholefile.RemoveOld(path)
	require.FileExists(t, path)
	require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(-25*time.Hour)))
	wholefile.RemoveOld(path)
	require.NoFileExists(t, path)
}
