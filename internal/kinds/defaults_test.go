package kinds_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/internal/kinds"
)

func TestIsItemDefault(t *testing.T) {
	image := func(name string) map[string]any { return map[string]any{"image": name} }
	for _, row := range []struct {
		why, list string
		item      map[string]any
		names     []string
		value     any
		want      bool
	}{
		{"a text", "containers", nil, []string{"terminationMessagePolicy"}, "File", true},
		{"another value", "containers", nil, []string{"terminationMessagePolicy"}, "FallbackToLogsOnError", false},
		{"another list", "volumes", nil, []string{"terminationMessagePolicy"}, "File", false},
		{"an empty map", "initContainers", nil, []string{"resources"}, map[string]any{}, true},
		{"something in the map", "initContainers", nil, []string{"resources"}, map[string]any{"limits": nil}, false},
		{"below a probe", "ephemeralContainers", nil, []string{"startupProbe", "periodSeconds"}, int64(10), true},
		{"below a hook", "containers", nil, []string{"lifecycle", "preStop", "httpGet", "scheme"}, "HTTP", true},
		{"what has no default", "containers", nil, []string{"securityContext", "privileged"}, true, false},
		{"null is none", "containers", nil, []string{"tty"}, nil, false},
		{"the port of a service", "ports", map[string]any{"port": int64(80)}, []string{"targetPort"}, int64(80), true},
		{"another port", "ports", map[string]any{"port": int64(80)}, []string{"targetPort"}, int64(81), false},
		{"a volume", "volumes", nil, []string{"configMap", "defaultMode"}, int64(420), true},
		{"a webhook", "webhooks", nil, []string{"clientConfig", "service", "port"}, int64(443), true},
		{"no tag is latest", "containers", image("a"), []string{"imagePullPolicy"}, "Always", true},
		{"latest", "containers", image("host:5000/a:latest"), []string{"imagePullPolicy"}, "Always", true},
		{"a port is no tag", "containers", image("host:5000/a"), []string{"imagePullPolicy"}, "Always", true},
		{"a tag", "containers", image("host:5000/a:1"), []string{"imagePullPolicy"}, "IfNotPresent", true},
		{"a digest", "containers", image("a@sha256:01"), []string{"imagePullPolicy"}, "IfNotPresent", true},
		{"latest with a digest", "containers", image("a:latest@sha256:01"), []string{"imagePullPolicy"}, "Always", true},
		{"no name of an image", "containers", image("3Gi"), []string{"imagePullPolicy"}, "IfNotPresent", true},
		{"nor one behind a registry", "containers", image("host:5000/A"), []string{"imagePullPolicy"}, "IfNotPresent", true},
		{"no name at all", "containers", image("host:5000/"), []string{"imagePullPolicy"}, "IfNotPresent", true},
		{"capitals in a registry", "containers", image("Host/a__b/c-d"), []string{"imagePullPolicy"}, "Always", true},
		{"the registry of this machine", "containers", image("localhost/a.b"), []string{"imagePullPolicy"}, "Always", true},
		{"changed by a policy", "containers", image("a:1"), []string{"imagePullPolicy"}, "Always", false},
	} {
		assert.Equal(t, row.want, kinds.IsItemDefault(row.list, row.item, row.names, row.value), row.why)
	}
}

func TestSetsAgain(t *testing.T) {
	for _, row := range []struct {
		kind  string
		names []string
		value any
		want  bool
	}{
		{"Namespace", []string{"metadata", "labels", "kubernetes.io/metadata.name"}, "x", true},
		{"Namespace", []string{"metadata", "labels", "other"}, "x", false},
		{"Service", []string{"spec", "clusterIP"}, "None", true},
		{"Service", []string{"spec", "type"}, "ClusterIP", true},
		{"Service", []string{"spec", "type"}, "NodePort", false},
		{"Deployment", []string{"spec", "template", "spec", "dnsPolicy"}, "ClusterFirst", true},
		{"Deployment", []string{"spec", "template", "spec", "dnsPolicy"}, "Default", false},
		{"CronJob", []string{"spec", "jobTemplate", "spec", "template", "spec", "securityContext"}, map[string]any{}, true},
		{"Pod", []string{"spec", "schedulerName"}, "default-scheduler", true},
		{"ConfigMap", []string{"dnsPolicy"}, "ClusterFirst", false},
	} {
		assert.Equal(t, row.want, kinds.SetsAgain(row.kind, row.names, row.value), "%s %v", row.kind, row.names)
	}
}
