package render_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/websocket"
)

// browser is a page in a headless Chromium, driven by its DevTools protocol.
type browser struct {
	t       *testing.T
	conn    *websocket.Conn
	session string
	calls   int
	refused []string // what the content policy refused
	loaded  bool
}

// message is what goes to the browser, and what comes from it.
type message struct {
	ID      int             `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// chromium is the program that the tests share: each has a page of its own in it.
var chromium struct {
	sync.Once
	address, folder string
	process         *exec.Cmd
}

func TestMain(m *testing.M) {
	code := m.Run()
	if chromium.process != nil {
		_ = chromium.process.Process.Kill()
		_ = chromium.process.Wait()
		_ = os.RemoveAll(chromium.folder)
	}
	os.Exit(code)
}

func startChromium(t *testing.T, program string) {
	t.Helper()
	folder, err := os.MkdirTemp("", "chromium")
	require.NoError(t, err)
	process := exec.Command(program, "--headless", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run",
		"--remote-debugging-port=0", "--remote-allow-origins=*", "--user-data-dir="+folder, "about:blank")
	stderr, err := process.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	chromium.folder, chromium.process = folder, process
	for lines := bufio.NewScanner(stderr); chromium.address == "" && lines.Scan(); {
		_, chromium.address, _ = strings.Cut(lines.Text(), "DevTools listening on ")
	}
	go func() { _, _ = bufio.NewReader(stderr).WriteTo(io.Discard) }() // Chromium goes on about D-Bus and the like
}

// newBrowser opens a page. Without Chromium the test is skipped.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("NOT RUN: there is no chromium (Debian's package of that name)")
	}
	chromium.Do(func() { startChromium(t, program) })
	require.NotEmpty(t, chromium.address, "chromium says where it listens")
	conn, err := websocket.Dial(chromium.address, "", "http://localhost")
	require.NoError(t, err)
	conn.MaxPayloadBytes = 64 << 20
	t.Cleanup(func() { _ = conn.Close() })
	b := &browser{t: t, conn: conn}
	var target struct{ TargetID string }
	b.call(&target, "Target.createTarget", map[string]any{"url": "about:blank"})
	t.Cleanup(func() {
		b.session = ""
		b.call(nil, "Target.closeTarget", map[string]any{"targetId": target.TargetID})
	})
	var attached struct{ SessionID string }
	b.call(&attached, "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true})
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Log", "Runtime"} {
		b.call(nil, domain+".enable", nil)
	}
	return b
}

// call sends a command and waits for its result.
func (b *browser) call(result any, method string, params any) {
	b.t.Helper()
	b.calls++
	require.NoError(b.t, b.conn.SetDeadline(time.Now().Add(time.Minute))) // the last one may be long ago
	require.NoError(b.t, websocket.JSON.Send(b.conn, message{ID: b.calls, Method: method, Params: params, Session: b.session}))
	for answer := b.receive(); ; answer = b.receive() {
		if answer.ID != b.calls {
			continue
		}
		require.Empty(b.t, string(answer.Error), method)
		if result != nil {
			require.NoError(b.t, json.Unmarshal(answer.Result, result))
		}
		return
	}
}

// receive returns what comes next, and notes the events that tests ask for.
func (b *browser) receive() message {
	b.t.Helper()
	require.NoError(b.t, b.conn.SetDeadline(time.Now().Add(time.Minute)))
	var event struct {
		message
		Params struct{ Entry struct{ Source, Text string } } `json:"params"`
	}
	require.NoError(b.t, websocket.JSON.Receive(b.conn, &event))
	switch event.Method {
	case "Page.loadEventFired":
		b.loaded = true
	case "Log.entryAdded":
		if event.Params.Entry.Source == "security" {
			b.refused = append(b.refused, event.Params.Entry.Text)
		}
	}
	return event.message
}

// open opens a page, and returns how long it took until it was painted.
func (b *browser) open(page string) time.Duration {
	b.t.Helper()
	start := time.Now()
	b.load(page)
	b.eval("new Promise(done => requestAnimationFrame(() => setTimeout(() => done(1), 0)))")
	return time.Since(start)
}

// load writes a page to a file and loads it.
func (b *browser) load(page string) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "plan.html")
	require.NoError(b.t, os.WriteFile(file, []byte(page), 0o600))
	b.loaded = false
	b.call(nil, "Page.navigate", map[string]any{"url": "file://" + file})
	for !b.loaded {
		b.receive()
	}
}

// eval returns the value of an expression.
func (b *browser) eval(expression string) any {
	b.t.Helper()
	var out struct {
		Result           struct{ Value any }
		ExceptionDetails any
	}
	b.call(&out, "Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true})
	require.Nil(b.t, out.ExceptionDetails, expression)
	return out.Result.Value
}

// size sets the size of the window.
func (b *browser) size(width, height int) {
	b.t.Helper()
	b.call(nil, "Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false})
}

// media sets the medium and the colour scheme.
func (b *browser) media(medium, scheme string) {
	b.t.Helper()
	b.call(nil, "Emulation.setEmulatedMedia", map[string]any{
		"media": medium, "features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}},
	})
}

// key presses a key.
func (b *browser) key(key string) {
	b.t.Helper()
	codes := map[string]int{"Enter": 13, "Tab": 9, "Escape": 27}
	params := map[string]any{"type": "keyDown", "key": key, "windowsVirtualKeyCode": codes[key]}
	switch {
	case key == "Enter":
		params["text"] = "\r"
	case codes[key] == 0:
		params["text"] = key
	}
	b.call(nil, "Input.dispatchKeyEvent", params)
	b.call(nil, "Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "windowsVirtualKeyCode": codes[key]})
}

// screenshot writes what is seen into the folder that SCREENSHOTS names, if it names any.
func (b *browser) screenshot(name string) {
	b.t.Helper()
	var shot struct{ Data string }
	b.call(&shot, "Page.captureScreenshot", map[string]any{"format": "png"})
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	require.NoError(b.t, err)
	require.Greater(b.t, len(data), 5000, "something is to be seen")
	if folder := os.Getenv("SCREENSHOTS"); folder != "" {
		require.NoError(b.t, os.WriteFile(filepath.Join(folder, name+".png"), data, 0o644))
	}
}

// until waits for an expression to be true.
func (b *browser) until(expression string) {
	b.t.Helper()
	for end := time.Now().Add(20 * time.Second); b.eval(expression) != true; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatal(fmt.Sprint("never true: ", expression))
		}
	}
}
