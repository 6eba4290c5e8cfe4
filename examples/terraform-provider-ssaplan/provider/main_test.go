package provider_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain lets more scenarios run side by side than there are cores, since several of them wait.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	if err := os.Unsetenv("KUBECONFIG"); err != nil { // tests name the cluster that they mean
		panic(err)
	}
	os.Exit(m.Run())
}
