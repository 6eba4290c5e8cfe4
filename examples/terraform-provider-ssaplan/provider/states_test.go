package provider_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan/explain"
)

// recordedState is what Terraform wrote of a resource.
type recordedState struct {
	Resources []struct {
		Mode, Type string
		Instances  []struct {
			SchemaVersion int64 `json:"schema_version"`
			Attributes    json.RawMessage
			Private       string
		}
	}
}

// States that a release wrote are read by all later ones: testdata/states/VERSION has those of each version of the
// schema, as the real program recorded them (RECORD=1 TF_ACC=1, scenario "states"), and a version that grows needs an
// upgrader.
func TestRecordedStates(t *testing.T) {
	files, err := filepath.Glob("testdata/states/*/*.tfstate")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	recorded := map[string]map[int64]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var state recordedState
		require.NoError(t, json.Unmarshal(text, &state))
		for _, resource := range state.Resources {
			tf := newCoreOf(t, resource.Type, nil)
			for _, instance := range resource.Instances {
				require.Equal(t, filepath.Base(filepath.Dir(file)), "v"+strconv.FormatInt(instance.SchemaVersion, 10))
				upgraded, err := tf.server.UpgradeResourceState(t.Context(), &tfprotov6.UpgradeResourceStateRequest{
					TypeName: resource.Type, Version: instance.SchemaVersion, RawState: &tfprotov6.RawState{JSON: instance.Attributes},
				})
				require.NoError(t, err)
				require.Empty(t, upgraded.Diagnostics, file)
				tf.state = tf.read(t, upgraded.UpgradedState)
				keeps(t, tf.state, instance.Attributes)
				if recorded[resource.Type] == nil {
					recorded[resource.Type] = map[int64]bool{}
				}
				recorded[resource.Type][instance.SchemaVersion] = true
				if resource.Type != "ssaplan_wait" {
					tf.private, err = base64.StdEncoding.DecodeString(instance.Private)
					require.NoError(t, err)
					remembered := tf.remembers(t)
					require.NotEmpty(t, remembered.UID)
					require.Equal(t, explain.State{}.Stale, remembered.Stale)
				}
			}
		}
	}
	for _, name := range []string{"ssaplan_object", "ssaplan_patch", "ssaplan_wait"} {
		require.True(t, recorded[name][newCoreOf(t, name, nil).schema.Version], "%s: record states of this version", name)
	}
}

// What version 0 called allow_version_change = true is version_change = "in_place".
func TestStateOfVersion0(t *testing.T) {
	for stored, want := range map[string]string{"true": "in_place", "false": "", "null": ""} {
		tf := newCore(t)
		resp, err := tf.server.UpgradeResourceState(t.Context(), &tfprotov6.UpgradeResourceStateRequest{TypeName: typeName, RawState: &tfprotov6.RawState{
			JSON: []byte(`{"id": "shop/v1/ConfigMap/a", "yaml_body": "{}", "allow_version_change": ` + stored + `, "fields": {"data.a": "1"}, "gone": 1}`),
		}})
		require.NoError(t, err)
		require.Empty(t, resp.Diagnostics)
		state := tf.read(t, resp.UpgradedState)
		var got string
		require.NoError(t, attribute(t, state, "version_change").As(&got))
		require.Equal(t, want, got, stored)
		require.Equal(t, map[string]string{"data.a": "1"}, rows(t, state, "fields"))
	}
	resp, err := newCore(t).server.UpgradeResourceState(t.Context(), &tfprotov6.UpgradeResourceStateRequest{TypeName: typeName, RawState: &tfprotov6.RawState{JSON: []byte("[]")}})
	require.NoError(t, err)
	require.Len(t, resp.Diagnostics, 1)
}

// keeps checks that no attribute of the recorded state is lost.
func keeps(t *testing.T, state tftypes.Value, recorded json.RawMessage) {
	t.Helper()
	var before map[string]any
	require.NoError(t, json.Unmarshal(recorded, &before))
	for name, v := range before {
		if v != nil && name != "allow_version_change" { // which has another name now
			require.False(t, attribute(t, state, name).IsNull(), name)
		}
	}
}

// record writes what the real program wrote, for TestRecordedStates.
func (tf *terraform) record(t *testing.T) {
	t.Helper()
	if os.Getenv("RECORD") == "" {
		return
	}
	version := newCore(t).schema.Version
	folder := filepath.Join("testdata", "states", "v"+strconv.FormatInt(version, 10))
	require.NoError(t, os.MkdirAll(folder, 0o755))
	text := strings.ReplaceAll(tf.file(t, "terraform.tfstate"), tf.Server.Config().Host, "https://127.0.0.1:6443")
	writeFile(t, filepath.Join(folder, "states.tfstate"), text)
}
