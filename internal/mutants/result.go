package main

import (
	"fmt"
	"os"
	"time"
)

// The limits that each package has to keep, in percent.
const (
	minCovered = 90
	minKilled  = 95
)

// A result is what became of the mutants of a package.
type result struct {
	folder   string
	mutants  []*mutant
	unviable int
	took     time.Duration
}

// test lists, builds and runs the mutants of a package.
func test(gremlins, folder string, workers int) (*result, error) {
	start := time.Now()
	pkg, err := load(folder)
	if err != nil {
		return nil, err
	}
	listed, err := listMutants(gremlins, folder)
	if err != nil {
		return nil, err
	}
	if err := pkg.find(listed); err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	suite, err := newSuite(pkg, temp)
	if err != nil {
		return nil, err
	}
	if err := suite.run(workers); err != nil {
		return nil, err
	}
	return &result{folder: folder, mutants: pkg.mutants, unviable: pkg.unviable, took: time.Since(start)}, nil
}

// print prints the figures and the mutants that count against the package, and reports whether the package fails.
func (r *result) print(allowed map[string]int) (failed bool) {
	counts := map[verdict]int{}
	covered, listed := 0, 0
	var complaints []string
	for _, m := range r.mutants {
		if !m.reached {
			complaints = append(complaints, "not covered: "+m.description())
			continue
		}
		covered++
		counts[m.verdict]++
		if m.verdict != survived {
			continue
		}
		if allowed[m.description()] > 0 {
			allowed[m.description()]--
			listed++
			continue
		}
		failed = true
		complaints = append(complaints, "survived: "+m.description())
	}
	for description, count := range allowed {
		if count > 0 {
			failed = true
			complaints = append(complaints, "listed, but no survivor: "+description)
		}
	}
	dead := covered - counts[survived]
	fmt.Printf("%-33s %7d %6.1f %% %5.1f %% %6d %6.1f %% %6.0fs   %d don't compile, %d loop, %d hang\n",
		r.folder, len(r.mutants),
		percent(covered, len(r.mutants)), percent(dead, covered), listed, percent(dead+listed, covered),
		r.took.Seconds(),
		r.unviable, counts[looped], counts[hung])
	for _, complaint := range complaints {
		fmt.Println("  " + complaint)
	}
	return failed || percent(covered, len(r.mutants)) < minCovered || percent(dead+listed, covered) < minKilled
}

func percent(part, whole int) float64 {
	if whole == 0 {
		return 100
	}
	return 100 * float64(part) / float64(whole)
}
