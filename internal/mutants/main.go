// Mutants measures how much the unit tests of a package notice. It changes one operator of the package at a time and
// runs the tests that reach that operator: a mutant for which no test fails has survived.
//
//	mutants [-gremlins PROGRAM] [-workers 2] FOLDER…
//
// Which mutants there are is gremlins' answer, with all eleven of its mutators. They are run here and not by gremlins:
// its version 0.6.0 counts a mutant that doesn't compile as killed and the condition of a case as not covered, builds
// each mutant anew, and copies the whole folder of the module first. Here the mutants of a package are built into one
// test program, in which the environment variable MUTANT switches one of them on.
//
// A package passes if at least 90 % of its mutants are covered, if at least 95 % of those are killed or listed in
// survivors.txt with the reason why they may live, and if that list has neither too few nor too many of them. Mutants
// that loop or wait for ever are killed, after a limit of CPU time or else of minutes, and are counted apart.
package main

import (
	"flag"
	"fmt"
	"os"
	"path"
	"strings"
)

func main() {
	gremlins := flag.String("gremlins", "gremlins", "the program that lists the mutants")
	workers := flag.Int("workers", 2, "how many mutants to test at a time")
	list := flag.String("survivors", "internal/mutants/survivors.txt", "the mutants that may survive")
	flag.Parse()
	if err := run(*gremlins, *list, *workers, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(gremlins, list string, workers int, folders []string) error {
	allowed, err := readSurvivors(list)
	if err != nil {
		return err
	}
	failed := false
	fmt.Printf("%-33s %7s %8s %7s %6s %8s %7s\n", "package", "mutants", "covered", "killed", "listed", "together",
		"time")
	for _, folder := range folders {
		folder = path.Clean(strings.TrimPrefix(folder, "./"))
		result, err := test(gremlins, folder, workers)
		if err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
		failed = result.print(allowed.of(folder)) || failed
	}
	if failed {
		return fmt.Errorf("below %d %% covered or %d %% killed, or other survivors than %s lists", minCovered,
			minKilled, list)
	}
	return nil
}
