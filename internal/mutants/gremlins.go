package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A listed mutant is what gremlins says of one: what its mutator is called, and where the operator is.
type listedMutant struct {
	Type         string `json:"type"`
	Line, Column int
	file         string
}

// Those that gremlins leaves out unless told otherwise; with them it has all of its mutators.
var mutators = []string{
	"--invert-assignments", "--invert-bitwise", "--invert-bwassign", "--invert-logical", "--invert-loopctrl",
	"--remove-self-assignments",
}

// listMutants asks gremlins for the mutants of the package in a folder, not of those in folders below. It works on a
// copy of the module's sources, because gremlins copies all that lies in the module's folder, and without tests,
// because it would run them.
func listMutants(gremlins, folder string) ([]listedMutant, error) {
	temp, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	if err := copySources(temp); err != nil {
		return nil, err
	}
	output := filepath.Join(temp, "mutants.json")
	args := []string{"unleash", "--dry-run", "--workers", "1", "--exclude-files", "/", "--output", output}
	cmd := exec.Command(gremlins, append(append(args, mutators...), "./"+folder)...)
	cmd.Dir = temp
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return readListed(output)
}

func readListed(output string) ([]listedMutant, error) {
	data, err := os.ReadFile(output)
	if err != nil {
		return nil, err
	}
	var report struct {
		Files []struct {
			Name      string         `json:"file_name"`
			Mutations []listedMutant `json:"mutations"`
		} `json:"files"`
	}
	if err := json.Unmarshal(data, &report); err != nil {
		return nil, err
	}
	var listed []listedMutant
	for _, file := range report.Files {
		for _, m := range file.Mutations {
			m.file = file.Name
			listed = append(listed, m)
		}
	}
	return listed, nil
}

// copySources copies what the packages of the module in the current folder are made of, without tests.
func copySources(to string) error {
	out, err := output("go", "list", "-f", "{{range .GoFiles}}{{$.Dir}}/{{.}}\n{{end}}", "./...")
	if err != nil {
		return err
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	for _, name := range append(strings.Fields(out), filepath.Join(root, "go.mod"), filepath.Join(root, "go.sum")) {
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		if err := copyFile(name, filepath.Join(to, rel)); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), fs.ModePerm); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}
