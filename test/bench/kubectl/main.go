// Kubectl plans with "kubectl diff --server-side", run once for all manifests. It uses the kubectl of PATH.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"strconv"
	"strings"

	"github.com/ssaplan/primitives/test/bench/driver"
)

func main() { driver.Main(prepare) }

func prepare(setup driver.Setup) (driver.Round, error) {
	names, err := readNames(setup.Manifests)
	if err != nil {
		return nil, err
	}
	arguments := []string{
		"diff", "--server-side", "--force-conflicts", "--field-manager", driver.Manager, "--concurrency",
		strconv.Itoa(setup.Concurrency),
		"--cache-dir", setup.Dir, "--kubeconfig", setup.Kubeconfig, "--filename", setup.Manifests,
	}
	ctx := context.Background()
	if _, err := diff(ctx, arguments); err != nil { // fills the cache
		return nil, err
	}
	requests, err := setup.CountAt(func(server string) error {
		_, err := diff(ctx, append(arguments, "--server", server))
		return err
	})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) ([]bool, error) {
		setup.Requests.Add(requests) // a proxy in every round would slow it down
		differing, err := diff(ctx, arguments)
		if err != nil {
			return nil, err
		}
		changed := make([]bool, len(names))
		for i, name := range names {
			changed[i] = differing[name]
		}
		return changed, nil
	}, nil
}

// readNames returns the names of the objects, without keeping the manifests in memory.
func readNames(manifests string) ([]string, error) {
	file, err := os.Open(manifests)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var names []string
	for documents := json.NewDecoder(file); documents.More(); {
		var object struct{ Metadata struct{ Name string } }
		if err := documents.Decode(&object); err != nil {
			return nil, err
		}
		names = append(names, object.Metadata.Name)
	}
	return names, nil
}

// diff runs kubectl, and returns the names of the objects that differ. Of each it prints a line "diff -u -N LIVE
// MERGED" with files that are called by the object.
func diff(ctx context.Context, arguments []string) (map[string]bool, error) {
	command := exec.CommandContext(ctx, "kubectl", arguments...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	differing := map[string]bool{}
	lines := bufio.NewReader(output)
	for line, err := lines.ReadString('\n'); err == nil; line, err = lines.ReadString('\n') {
		if strings.HasPrefix(line, "diff -u -N ") {
			name := path.Ext(strings.TrimSpace(line)) // apps.v1.Deployment.bench.NAME
			differing[strings.TrimPrefix(name, ".")] = true
		}
	}
	const someDiffer = 1
	var exit *exec.ExitError
	if err := command.Wait(); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == someDiffer) {
		return nil, fmt.Errorf("kubectl: %w: %s", err, stderr.String())
	}
	return differing, nil
}
