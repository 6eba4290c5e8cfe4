package projection_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
)

// checkBytes decodes the managedFields of every object on the server and encodes them again. The bytes must be the
// same.
func (c *realCluster) checkBytes(t *testing.T) {
	entries := 0
	_, lists, err := c.Discovery.ServerGroupsAndResources()
	require.NoError(t, err)
	for _, list := range lists {
		for _, r := range list.APIResources {
			if strings.Contains(r.Name, "/") || !strings.Contains(strings.Join(r.Verbs, " "), "list") {
				continue
			}
			prefix := "/apis/" + list.GroupVersion
			if !strings.Contains(list.GroupVersion, "/") {
				prefix = "/api/" + list.GroupVersion
			}
			text, err := c.Discovery.RESTClient().Get().AbsPath(prefix, r.Name).Do(t.Context()).Raw()
			require.NoError(t, err)
			entries += checkEntries(t, text, r.Kind)
		}
	}
	assert.Greater(t, entries, 200)
}

// checkEntries returns the number of entries in the objects of a list.
func checkEntries(t *testing.T, list []byte, kind string) int {
	var objects struct {
		Items []struct {
			Metadata struct {
				ManagedFields []struct{ FieldsV1 json.RawMessage }
			}
		}
	}
	require.NoError(t, json.Unmarshal(list, &objects))
	entries := 0
	for _, obj := range objects.Items {
		for _, entry := range obj.Metadata.ManagedFields {
			set, err := projection.ParseFieldsV1(entry.FieldsV1)
			require.NoError(t, err)
			want, got := string(entry.FieldsV1), string(set.FieldsV1())
			if isCustom(kind) { // which the server decodes and encodes like any map, in the order of the text of keys
				want, got = inTextOrder(t, want), inTextOrder(t, got)
			}
			assert.Equal(t, want, got, kind)
			entries++
		}
	}
	return entries
}

func isCustom(kind string) bool { return kind == "Sample" || kind == "Plain" || kind == "Free" }

func inTextOrder(t *testing.T, text string) string {
	var decoded any
	require.NoError(t, json.NewDecoder(bytes.NewReader([]byte(text))).Decode(&decoded))
	out, err := json.Marshal(decoded)
	require.NoError(t, err)
	return string(out)
}
