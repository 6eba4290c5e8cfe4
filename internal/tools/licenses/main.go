// Command licenses lists the licences of all modules that packages are built of, on each system that is released:
//
//	licenses -systems linux/amd64,windows/arm64 FOLDER:PACKAGES...
//
// It fails for a licence that isn't allowed, for a text that it doesn't know, and for a module without one.
package main

import (
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// own are the modules whose licence is the repository's.
const own = "github.com/ssaplan/primitives"

// allowed demand no more than that their text is passed on, and, MPL-2.0, that changes of the files are published.
var allowed = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0"}

// known is the percentage of a text that has to be the text of licences; the rest is names, dates and headings.
const known = 75

var named = regexp.MustCompile(`(?i)^(licen[sc]e|copying|unlicense)([.-].*)?$`)

func main() {
	log.SetFlags(0)
	systems := flag.String("systems", "", "for which systems, as linux/amd64,windows/arm64")
	flag.Parse()
	files := map[string][]string{} // by module: its licences' files
	for _, argument := range flag.Args() {
		folder, packages, _ := strings.Cut(argument, ":")
		for system := range strings.SplitSeq(*systems, ",") {
			list, err := list(folder, system, strings.Fields(packages))
			if err != nil {
				log.Fatalf("%s on %s: %v", argument, system, err)
			}
			for _, p := range list {
				files[p.module] = append(files[p.module], licences(p)...)
			}
		}
	}
	failed := false
	for _, module := range slices.Sorted(maps.Keys(files)) {
		line, err := describe(files[module])
		if err != nil {
			failed, line = true, "NOT ALLOWED: "+err.Error()
		}
		fmt.Printf("%s: %s\n", module, line)
	}
	fmt.Printf("%d modules\n", len(files))
	if failed || len(files) == 0 {
		os.Exit(1)
	}
}

// built is a package that something is built of.
type built struct{ module, root, dir string }

// list returns the packages of other modules that packages are built of on a system.
func list(folder, system string, packages []string) (out []built, err error) {
	goos, goarch, _ := strings.Cut(system, "/")
	command := exec.Command("go", append([]string{"list", "-deps", "-f",
		"{{with .Module}}{{.Path}}@{{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}"}, packages...)...)
	command.Dir, command.Stderr = folder, os.Stderr
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	text, err := command.Output()
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Split(strings.TrimSpace(line), "\t"); len(fields) == 3 &&
			!strings.HasPrefix(fields[0], own) {
			out = append(out, built{module: fields[0], root: fields[1], dir: fields[2]})
		}
	}
	return out, nil
}

// licences returns the files in the package's folder and in those above it, up to the module's.
func licences(p built) (files []string) {
	for dir := p.dir; ; dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			log.Fatal(err)
		}
		for _, entry := range entries {
			if !entry.IsDir() && named.MatchString(entry.Name()) && filepath.Ext(entry.Name()) != ".go" {
				files = append(files, filepath.Join(dir, entry.Name()))
			}
		}
		if len(dir) <= len(p.root) {
			return files
		}
	}
}

// describe returns the names of the licences in files, and an error unless all of them are allowed.
func describe(files []string) (string, error) {
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		found := licensecheck.Scan(text)
		if found.Percent < known {
			return "", fmt.Errorf("%s is not the text of a known licence", file)
		}
		for _, match := range found.Match {
			if !slices.Contains(allowed, match.ID) {
				return "", fmt.Errorf("%s has the licence %s", file, match.ID)
			}
			names = append(names, match.ID)
		}
	}
	if len(names) == 0 {
		return "", fmt.Errorf("there is no licence")
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", "), nil
}
