// Compare measures tools that plan, in turns, for the same objects on the same server, and prints a table and figures.
//
//	compare -bin DIR [-n 500] [-rounds 3] [-row 2m] [-tools floor,raw,planner,reads,…] [-kinds REGEXP]
//
// The server is that of KUBECONFIG. DIR has one program for each tool; see the package driver for how they are run. A
// wrong answer of the planner is an error.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/ssaplan/primitives/test/bench/scenario"
)

// The tools whose figures are printed. All ratios are to the floor.
const (
	floor   = "floor"
	planner = "planner"
	flux    = "flux"
	kubectl = "kubectl"
)

type comparison struct {
	bin, kubeconfig string
	n, rounds       int
	row             time.Duration
	tools           []string
	dir             string // for the manifests
	cluster         *scenario.Cluster
}

func main() {
	c := &comparison{kubeconfig: os.Getenv("KUBECONFIG")}
	flag.StringVar(&c.bin, "bin", "", "folder with the tools' programs")
	flag.IntVar(&c.n, "n", 500, "objects of each kind")
	flag.IntVar(&c.rounds, "rounds", 3, "rounds of each tool in each row, at least")
	flag.DurationVar(&c.row, "row", 2*time.Minute, "how long to go on with the rounds of a row, at least")
	tools := flag.String("tools", "floor,raw,dryruns,planner,reads,flux,argo,kubectl", "what to compare, in this order")
	kinds := flag.String("kinds", "", "only kinds whose name this regular expression matches")
	flag.Parse()
	c.tools = strings.Split(*tools, ",")
	if err := c.run(context.Background(), *kinds); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func (c *comparison) run(ctx context.Context, kinds string) error {
	wanted, err := regexp.Compile(kinds)
	if err != nil {
		return err
	}
	if c.n < 1 || c.rounds < 1 {
		return fmt.Errorf("-n %d -rounds %d: it takes at least 1 of each", c.n, c.rounds)
	}
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	if c.cluster, err = scenario.NewCluster(ctx, client); err != nil {
		return err
	}
	if c.dir, err = os.MkdirTemp("", "bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(c.dir)
	fmt.Printf("%d objects of each kind; medians of at least %d rounds and %s, in turns; %d processors\n", c.n,
		c.rounds, c.row, runtime.NumCPU())
	var rows []row
	for _, kind := range scenario.Kinds {
		if !wanted.MatchString(kind.Name) {
			continue
		}
		measured, err := c.compare(ctx, kind)
		if err != nil {
			return fmt.Errorf("%s: %w", kind.Name, err)
		}
		rows = append(rows, measured...)
	}
	if len(rows) == 0 {
		return fmt.Errorf("-kinds %s: no kind has such a name", kinds)
	}
	printFigures(rows)
	return nil
}

// compare measures the rows of one kind of objects.
func (c *comparison) compare(ctx context.Context, kind scenario.Kind) ([]row, error) {
	if err := c.cluster.Apply(ctx, c.n, kind.Make); err != nil {
		return nil, err
	}
	var rows []row
	for _, changed := range []bool{false, true} {
		file := filepath.Join(c.dir, "manifests.json")
		if err := write(file, c.n, kind, changed); err != nil {
			return nil, err
		}
		for _, concurrency := range []int{1, 8} {
			r := row{kind: kind.Name, n: c.n, changed: changed, concurrency: concurrency}
			if err := c.measure(&r, file); err != nil {
				return nil, err
			}
			r.print()
			if err := r.check(); err != nil {
				return nil, err
			}
			rows = append(rows, r)
		}
	}
	return rows, nil
}

func write(path string, n int, kind scenario.Kind, changed bool) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	for i := range n {
		object := kind.Make(i)
		if changed {
			kind.Edit(object)
		}
		if err := unstructured.UnstructuredJSONScheme.Encode(object, file); err != nil {
			return err
		}
	}
	return file.Close()
}

// measure has all tools plan the manifests, in turns.
func (c *comparison) measure(r *row, manifests string) error {
	var programs []*program
	defer func() {
		for _, p := range programs {
			p.stop()
		}
	}()
	for _, name := range c.tools {
		p, err := start(filepath.Join(c.bin, name), c.kubeconfig, manifests, r.concurrency)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		programs = append(programs, p)
		r.tools = append(r.tools, tool{name: name})
	}
	began := time.Now()
	for round := 0; round < c.rounds || time.Since(began) < c.row; round++ {
		for i := range programs {
			i = (i + round) % len(programs) // not always after the same one
			result, err := programs[i].round()
			if err != nil {
				return fmt.Errorf("%s: %w", r.tools[i].name, err)
			}
			r.tools[i].results = append(r.tools[i].results, result)
		}
	}
	return nil
}
