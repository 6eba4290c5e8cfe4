package explain_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// A replacement is explained like an update, of the old object into the one that the server would create.
func TestReplace(t *testing.T) {
	const old = `{apiVersion: v1, kind: Pod, metadata: {name: web, labels: {gone: x}}, spec: {nodeName: n1, containers: [{name: a, image: a, tty: true}]}}`
	const renamed = `{apiVersion: v1, kind: Pod, metadata: {name: web2}, spec: {containers: [{name: a, image: b}]}}`
	const edited = `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: a, image: b}]}}`
	const a = `spec.containers[name="a"]`
	for _, row := range []struct {
		why, manifest string
		made          bool // by the server
		refused       []string
		want          []string
	}{
		{
			"with the server's answer all is compared", edited, true, []string{a + ".image"},
			[]string{
				`metadata.labels.gone: - "x" (dropped from the manifest)`, a + `.image: "a" -> "b" (can't change in place)`,
				a + ".tty: - true (dropped from the manifest)", `spec.nodeName: - "n1" (dropped from the manifest)`,
				`metadata.annotations.theirs: - "1" (side effect of the server)`,
			},
		},
		{
			"what contains or is in a refused field is marked, too", edited, true, []string{"spec.nodeName", a, "spec.containers", "metadata.labels.gone.x"},
			[]string{
				`metadata.labels.gone: - "x" (dropped from the manifest) (can't change in place)`, a + `.image: "a" -> "b" (can't change in place)`,
				a + ".tty: - true (dropped from the manifest) (can't change in place)",
				`spec.nodeName: - "n1" (dropped from the manifest) (can't change in place)`,
				`metadata.annotations.theirs: - "1" (side effect of the server)`,
			},
		},
		{
			"without one nothing is known but what was and is declared", edited, false, nil,
			[]string{
				`metadata.labels.gone: - "x" (dropped from the manifest)`, a + `.image: "a" -> "b"`,
				a + ".tty: - true (dropped from the manifest)", `spec.nodeName: - "n1" (dropped from the manifest)`,
			},
		},
		{
			"another name is a change, though nobody owns names", renamed, true, []string{"metadata.name"},
			[]string{
				`metadata.labels.gone: - "x" (dropped from the manifest)`, a + `.image: "a" -> "b"`,
				a + ".tty: - true (dropped from the manifest)", `spec.nodeName: - "n1" (dropped from the manifest)`,
				`metadata.annotations.theirs: - "1" (side effect of the server)`, `metadata.name: "web" -> "web2" (can't change in place)`,
			},
		},
		{
			"of another kind nothing is a side effect", `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {a: "1"}}`, true, nil,
			[]string{
				`data.a: + "1" (edited or changed by others)`, `metadata.labels.gone: - "x" (dropped from the manifest)`,
				a + `: - {"image":"a","name":"a","tty":true} (dropped from the manifest)`, `spec.nodeName: - "n1" (dropped from the manifest)`,
			},
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			m := newMemory(t)
			live := m.patch(m.apply(us, object(t, old)), `{metadata: {annotations: {theirs: "1"}}, status: {phase: Running}}`)
			live = changed(t, live, func(obj map[string]any) { obj["status"] = map[string]any{"phase": "Running"} })
			in := explain.Input{Manifest: object(t, row.manifest), Live: live, Manager: us}
			if row.made {
				in.Answer = newMemory(t).try(in.Manifest)
			}
			var refused []projection.Path
			for _, text := range row.refused {
				refused = append(refused, path(t, text))
			}
			e := mustReplace(t, in, refused)
			require.Equal(t, row.want, lines(e.Changes))
			for _, c := range e.Changes {
				require.NotContains(t, c.String(), "status")
			}
			require.Equal(t, row.made, len(e.Generated) > 0)
			require.Contains(t, lines(e.Ownership), `metadata.annotations.theirs: destroyed, was owned by "other" (Update)`)
			require.False(t, e.NoOp)
			require.Equal(t, projection.Project(object(t, row.manifest), e.After.Fields).Object, e.After.Object)
			require.Equal(t, e.Before.Object, e.Baseline.Object)
		})
	}
}

// Controllers write the status again, so nothing is said of who owns it. An item that is stored without its name goes
// like any other.
func TestReplaceOfAStatusAndANamelessItem(t *testing.T) {
	live := object(t, `{apiVersion: v1, kind: Pod, metadata: {name: web, managedFields: [
		{manager: client, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:imagePullSecrets": {".": {}, "k:{\"name\":\"\"}": {}}}}},
		{manager: us, operation: Apply, subresource: status, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:status": {}}}]},
		spec: {imagePullSecrets: [{}]}, status: {phase: Running}}`)
	manifest := `{apiVersion: v1, kind: Pod, metadata: {name: web%s}, spec: {imagePullSecrets: [{name: s2}]}, status: {phase: Running}}`
	answer := object(t, fmt.Sprintf(manifest, `, managedFields: [{manager: us, operation: Apply, apiVersion: v1, fieldsType: FieldsV1,
		fieldsV1: {"f:spec": {"f:imagePullSecrets": {"k:{\"name\":\"s2\"}": {}}}}}]`))
	e := mustReplace(t, explain.Input{Manifest: object(t, fmt.Sprintf(manifest, "")), Live: live, Answer: answer, Manager: "us"}, nil)
	require.Contains(t, lines(e.Changes), `spec.imagePullSecrets[name=""]: - {} (side effect of the server)`)
	for _, transfer := range e.Ownership {
		require.NotEqual(t, "status", transfer.Path[0].Name())
	}
}

// A dropped map is compared without what the server makes up in it.
func TestReplaceKnowsWhatIsMadeUpInAMap(t *testing.T) {
	const job = `{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {template: {%sspec: {containers: [{name: a, image: a}]}}}}`
	const uid = `spec.template.metadata.labels["batch.kubernetes.io/controller-uid"]: assigned at apply`
	with := func(obj map[string]any, labels map[string]any) map[string]any {
		return changed(t, obj, func(obj map[string]any) {
			template := obj["spec"].(map[string]any)["template"].(map[string]any)
			template["metadata"] = map[string]any{"labels": labels}
		})
	}
	for _, row := range []struct {
		why     string
		labels  map[string]any // of the old object
		changes []string
	}{
		{"nothing else differs", map[string]any{"batch.kubernetes.io/controller-uid": "1"}, []string{uid}},
		{
			"something else goes", map[string]any{"batch.kubernetes.io/controller-uid": "1", "theirs": "x"},
			[]string{`spec.template.metadata: {"labels":{"batch.kubernetes.io/controller-uid":"1","theirs":"x"}} -> {"labels":{}} (side effect of the server)`, uid},
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			m := newMemory(t)
			live := with(m.apply(us, object(t, fmt.Sprintf(job, "metadata: {}, "))), row.labels)
			manifest := object(t, fmt.Sprintf(job, ""))
			made := with(newMemory(t).try(manifest), map[string]any{"batch.kubernetes.io/controller-uid": "2"})
			e := mustReplace(t, explain.Input{Manifest: manifest, Live: live, Answer: made, Manager: us}, nil)
			require.Equal(t, row.changes, lines(e.Changes))
		})
	}
}

// Of a list item that the manifest doesn't have, no keys are filled in.
func TestReplaceWithoutAnAnswerAndWithoutAnItem(t *testing.T) {
	m := newMemory(t)
	two := object(t, `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80}, {port: 81}]}}`)
	one := object(t, `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80}]}}`)
	e := mustReplace(t, explain.Input{Manifest: one, Live: m.apply(us, two), Manager: us}, nil)
	require.Equal(t, []string{`spec.ports[port=81,protocol="TCP"]: - {"port":81,"protocol":"TCP"} (dropped from the manifest)`}, lines(e.Changes))
}

// A version that isn't served names no list items. What the manifest declares isn't dropped all the same.
func TestReplaceByAVersionThatIsNotServed(t *testing.T) {
	m := newMemory(t)
	live := m.apply(us, object(t, `{apiVersion: v1, kind: Service, metadata: {name: web},
		spec: {ports: [{port: 80, protocol: TCP}, {port: 81, protocol: TCP}]}}`))
	manifest := object(t, `{apiVersion: v2, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80, protocol: TCP}]}}`)
	e := mustReplace(t, explain.Input{Manifest: manifest, Live: live, Manager: us}, nil)
	require.NotEmpty(t, e.Dropped, "of the port 81")
	for _, d := range e.Dropped {
		require.Contains(t, d.Path.String(), "port=81")
	}
	for _, o := range e.Ownership {
		require.NotContains(t, o.Path.String(), "port=80")
	}
}

// Of an old object that can't be read all that is declared comes.
func TestReplaceOfWhatIsNotKnown(t *testing.T) {
	manifest := object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: A}}`)
	e := mustReplace(t, explain.Input{Manifest: manifest, Manager: us}, nil)
	require.Equal(t, []string{`data.a: + "A"`}, lines(e.Changes))
	for _, broken := range []explain.Input{
		{Manifest: manifest, Manager: us, Answer: object(t, `{metadata: {managedFields: [{manager: m, fieldsV1: {odd: 5}}]}}`)},
		{Manifest: manifest, Manager: us, Live: object(t, `{metadata: {managedFields: [{manager: m, fieldsV1: {odd: 5}}]}}`)},
	} {
		_, err := explain.Replace(broken, nil)
		require.Error(t, err)
	}
}

// A headless Service has no address that the server picks.
func TestReplaceByAHeadlessService(t *testing.T) {
	const service = `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {%sports: [{port: 80}]}}`
	with := func(obj map[string]any, ip string) map[string]any {
		return changed(t, obj, func(obj map[string]any) {
			spec := obj["spec"].(map[string]any)
			spec["clusterIP"], spec["clusterIPs"] = ip, []any{ip}
		})
	}
	live := with(newMemory(t).apply(us, object(t, fmt.Sprintf(service, ""))), "10.0.0.1")
	manifest := object(t, fmt.Sprintf(service, "clusterIP: None, "))
	answer := with(newMemory(t).try(manifest), "None")
	e := mustReplace(t, explain.Input{Manifest: manifest, Live: live, Answer: answer, Manager: us}, nil)
	require.Contains(t, lines(e.Changes), `spec.clusterIPs: ["10.0.0.1"] -> ["None"] (side effect of the server)`)
}
