// Package rows reads the rows of tables from files, for tables that are data and nothing else. It is for tests.
package rows

import (
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"
)

// Read returns the rows of testdata/name.yaml. A row with a field that T doesn't have is an error, and so is a file
// without rows, which would test nothing.
func Read[T any](t testing.TB, name string) []T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []T
	if err := yaml.UnmarshalStrict(data, &rows); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if len(rows) == 0 {
		t.Fatalf("%s has no rows", name)
	}
	return rows
}
