package provider_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The examples of the pages, all of them in one configuration.
func examplesOfThePages(t *testing.T, tf *terraform) {
	c := tf.cluster
	files, err := filepath.Glob("../examples/*/ssaplan_*/*")
	require.NoError(t, err)
	functions, err := filepath.Glob("../examples/functions/*/*.tf")
	require.NoError(t, err)
	require.Len(t, append(files, functions...), 12)
	c.helm(t, "secrets", secret(oldCanary))
	tf.write(t, "")
	for _, file := range append(files, functions...) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		name := filepath.Base(file)
		if strings.HasSuffix(name, ".tf") {
			name = strings.ReplaceAll(filepath.Dir(file)[len("../examples/"):], "/", "-") + ".tf"
		}
		// The namespace of the test takes the place of the shop.
		writeFile(t, filepath.Join(tf.dir, name), strings.NewReplacer("shop.example.com", c.Namespace+".example.com", "shop", c.Namespace).Replace(string(text)))
	}
	output := tf.apply(t)
	require.Contains(t, output, `phase = "Active"`)
	require.Contains(t, output, `name = "five"`)
	tf.do(t, command{verb: "clean"})

	provider, err := os.ReadFile("../examples/provider/provider.tf")
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(tf.dir+"/main.tf"))
	writeFile(t, filepath.Join(tf.dir, "main.tf"), string(provider))
	writeFile(t, filepath.Join(tf.dir, "ca.pem"), string(c.Server.Config().CAData))
	code, output := tf.run(t, "validate")
	require.Equal(t, 0, code, output)
}
