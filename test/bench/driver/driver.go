// Package driver is what the programs of the comparison have in common: one program for each tool that plans, so that
// tools whose dependencies clash can be measured in turns, each in a process and a module of its own.
//
//	TOOL KUBECONFIG MANIFESTS CONCURRENCY
//
// A program loads the manifests, plans them once to warm up, and writes the line "ready". For each line that it then
// reads it plans them all once, and writes a [Result] as one line of JSON. It ends with its input.
//
// It is a module of its own so that it works with any version of client-go that a tool asks for.
package driver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Manager is the field manager that has applied the objects, and that all tools plan as.
const Manager = "bench"

// Result is what one round took and what it found out.
type Result struct {
	Wall, CPU     time.Duration // CPU is that of the process and of those that it started
	Allocs, Bytes uint64        // 0 if a program that the driver started did the work
	PeakMemory    uint64        // resident, of the process, since its start
	Requests      int64
	Changed       []bool // the answer for each manifest; empty from a tool that gives none
}

// Setup is what a tool has to work with.
type Setup struct {
	Kubeconfig  string
	Manifests   string // a file of JSON documents
	Concurrency int
	Config      *rest.Config  // counts the requests
	Requests    *atomic.Int64 // for a tool that doesn't use Config
	Dir         string        // for files, removed at the end
}

// Round plans all manifests once, and reports for each whether applying it changes something.
type Round func(context.Context) (changed []bool, err error)

// Main runs the program of a tool.
func Main(prepare func(Setup) (Round, error)) {
	if err := run(prepare, os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[0], err)
		os.Exit(1)
	}
}

func run(prepare func(Setup) (Round, error), args []string) error {
	setup, err := newSetup(args)
	if err != nil {
		return err
	}
	defer os.RemoveAll(setup.Dir)
	round, err := prepare(setup)
	if err != nil {
		return err
	}
	if _, err := round(context.Background()); err != nil {
		return err
	}
	stop, err := profile(args)
	if err != nil {
		return err
	}
	defer stop()
	fmt.Println("ready")
	for input := bufio.NewScanner(os.Stdin); input.Scan(); {
		result, err := measure(round, setup.Requests)
		if err != nil {
			return err
		}
		if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
			return err
		}
	}
	return nil
}

// profile writes what the rounds spend CPU on into the folder PROFILE of the environment, if it is set: of each row a
// file.
func profile(args []string) (stop func(), err error) {
	folder := os.Getenv("PROFILE")
	if folder == "" {
		return func() {}, nil
	}
	name := fmt.Sprintf("%d-%s-%s.pprof", time.Now().Unix(), filepath.Base(os.Args[0]), args[2])
	file, err := os.Create(filepath.Join(folder, name))
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		file.Close()
	}, nil
}

func newSetup(args []string) (Setup, error) {
	if len(args) != 3 {
		return Setup{}, fmt.Errorf("usage: %s KUBECONFIG MANIFESTS CONCURRENCY", os.Args[0])
	}
	concurrency, err := strconv.Atoi(args[2])
	if err != nil {
		return Setup{}, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", args[0])
	if err != nil {
		return Setup{}, err
	}
	config.QPS = -1 // no client-side throttle
	config.WarningHandler = rest.NoWarnings{}
	requests := new(atomic.Int64)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return Counter{next, requests} })
	dir, err := os.MkdirTemp("", "bench-tool-")
	return Setup{args[0], args[1], concurrency, config, requests, dir}, err
}

// Counter is a transport that counts requests.
type Counter struct {
	http.RoundTripper
	Requests *atomic.Int64
}

func (c Counter) RoundTrip(request *http.Request) (*http.Response, error) {
	c.Requests.Add(1)
	return c.RoundTripper.RoundTrip(request)
}

// CountAt counts the requests of a tool that doesn't use Config: do has it send them to another server, which is a
// proxy.
func (s Setup) CountAt(do func(server string) error) (int64, error) {
	server, err := url.Parse(s.Config.Host)
	if err != nil {
		return 0, err
	}
	transport, err := rest.TransportFor(s.Config)
	if err != nil {
		return 0, err
	}
	proxy := httputil.NewSingleHostReverseProxy(server)
	proxy.Transport = transport
	listener := httptest.NewServer(proxy)
	defer listener.Close()
	before := s.Requests.Load()
	err = do(listener.URL)
	return s.Requests.Load() - before, err
}

// Objects reads the manifests.
func (s Setup) Objects() ([]*unstructured.Unstructured, error) {
	file, err := os.Open(s.Manifests)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var objects []*unstructured.Unstructured
	for documents := json.NewDecoder(file); documents.More(); {
		var document json.RawMessage
		if err := documents.Decode(&document); err != nil {
			return nil, err
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(document); err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// Resource returns the resource of an object of the kinds that are planned.
func Resource(object *unstructured.Unstructured) schema.GroupVersionResource {
	gvk := object.GroupVersionKind()
	return gvk.GroupVersion().WithResource(strings.ToLower(gvk.Kind) + "s")
}

// measure does a round. What it takes includes the collection of the garbage that it makes, as far as the collector
// gets to that, and none of what earlier rounds made.
func measure(round Round, requests *atomic.Int64) (Result, error) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	sent, used, start := requests.Load(), ProcessorTime(), time.Now()

	changed, err := round(context.Background())
	if err != nil {
		return Result{}, err
	}
	result := Result{Wall: time.Since(start), CPU: ProcessorTime() - used, Requests: requests.Load() - sent,
		Changed: changed}
	runtime.ReadMemStats(&after)
	if result.PeakMemory = childMemory(); result.PeakMemory == 0 {
		result.Allocs, result.Bytes = after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc
		result.PeakMemory = ownMemory()
	}
	return result, nil
}
