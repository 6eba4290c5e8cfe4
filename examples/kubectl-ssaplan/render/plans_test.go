package render_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// now is the time at which the plans of these tests are looked at.
var now = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func path(t testing.TB, text string) projection.Path {
	t.Helper()
	p, err := projection.ParsePath(text)
	require.NoError(t, err)
	return p
}

func change(t testing.TB, text string, op projection.Op, before, after any) explain.Change {
	t.Helper()
	return explain.Change{
		Difference: projection.Difference{Path: path(t, text), Op: op, Before: before, After: after},
		Cause:      explain.CauseEdited,
	}
}

func object(apiVersion, kind, namespace, name string) identity.Identity {
	return identity.Identity{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name}
}

// plans holds one plan for each thing that a reviewer has to see.
func plans(t *testing.T) []*ssaplan.Plan {
	return []*ssaplan.Plan{
		{Object: object("v1", "Namespace", "", "shop"), Action: ssaplan.ActionNoOp, Reason: "the server would write nothing", Requests: 2},
		created(t), createdEmpty(), assigned(t), updated(t), secret(t), config(t), ownersOnly(t), renamed(), immutable(), conflicted(t),
		deferred(t),
		{Object: object("v1", "Service", "shop", "web"), Action: ssaplan.ActionNoOp, Reason: "the server would write nothing", Explanation: explain.Explanation{Warnings: []foreign.Text{"spec.sessionAffinity is ignored for headless services"}}, Requests: 2},
	}
}

func created(t *testing.T) *ssaplan.Plan {
	changes := []explain.Change{
		change(t, "metadata.labels.app", projection.OpAdd, nil, "web"),
		change(t, `spec.template.spec.containers[name="web"]`, projection.OpAdd, nil, map[string]any{
			"name": "web", "image": "registry.example.com/shop/web:1.4.0", "args": []any{"--listen=:8080", "--verbose"},
		}),
		change(t, "spec.replicas", projection.OpAdd, nil, int64(3)),
	}
	set := projection.NewFieldSet(path(t, "metadata.labels.app"), path(t, "spec.replicas"),
		path(t, `spec.template.spec.containers[name="web"].name`), path(t, `spec.template.spec.containers[name="web"].image`))
	return &ssaplan.Plan{
		Object: object("apps/v1", "Deployment", "shop", "new"), Action: ssaplan.ActionCreate, Reason: "does not exist",
		Explanation: explain.Explanation{Changes: changes, After: projection.Projection{Fields: set}}, Requests: 2,
	}
}

// deferred is an object of which nothing is known but what its manifest says.
func deferred(t *testing.T) *ssaplan.Plan {
	declared := map[string]any{"spec": map[string]any{"schedule": "@daily", "volumes": []any{"data", "logs"}}}
	return &ssaplan.Plan{
		Object: object("example.com/v1", "Backup", "shop", "nightly"), Action: ssaplan.ActionDeferred, Deferral: ssaplan.DeferralTypeNotServed,
		Reason:      "the server doesn't serve example.com/v1 Backup",
		Explanation: explain.Explanation{After: projection.Project(declared, projection.NewFieldSet(path(t, "spec.schedule"), path(t, "spec.volumes")))},
	}
}

func createdEmpty() *ssaplan.Plan {
	return &ssaplan.Plan{Object: object("v1", "ServiceAccount", "shop", "web"), Action: ssaplan.ActionCreate, Reason: "does not exist", Requests: 2}
}

// assigned is a Service that becomes one with ports on the nodes.
func assigned(t *testing.T) *ssaplan.Plan {
	port := change(t, `spec.ports[port=80,protocol="TCP"].nodePort`, projection.OpAdd, nil, nil)
	address := change(t, "spec.clusterIP", projection.OpChange, "None", nil)
	port.Cause, port.Assigned, address.Cause, address.Assigned = explain.CauseSideEffect, true, explain.CauseSideEffect, true
	return &ssaplan.Plan{
		Object: object("v1", "Service", "shop", "nodes"), Action: ssaplan.ActionUpdate, Reason: "1 edited", Requests: 2,
		Explanation: explain.Explanation{Changes: []explain.Change{address, port, change(t, "spec.type", projection.OpChange, "ClusterIP", "NodePort")}},
	}
}

func updated(t *testing.T) *ssaplan.Plan {
	container := `spec.template.spec.containers[name="web"]`
	drifted := change(t, "spec.replicas", projection.OpChange, int64(7), int64(3))
	drifted.Cause, drifted.Manager, drifted.Time = explain.CauseDrifted, "kubectl-scale", now.Add(-90*time.Minute)
	drifted.Operation, drifted.Subresource = "Update", "scale"
	unknown := change(t, "spec.paused", projection.OpChange, true, false)
	unknown.Cause = explain.CauseDrifted
	dropped := change(t, `metadata.annotations["example.com/owner"]`, projection.OpRemove, "team-a", nil)
	dropped.Cause = explain.CauseDropped
	effect := change(t, `metadata.annotations["webhook.example.com/hash"]`, projection.OpChange, "1f", "2e")
	effect.Cause = explain.CauseSideEffect
	return &ssaplan.Plan{
		Object: object("apps/v1", "Deployment", "shop", "web"), Action: ssaplan.ActionUpdate, Reason: "the server would change values",
		Explanation: explain.Explanation{
			Changes: []explain.Change{
				dropped, drifted, unknown,
				change(t, container+".image", projection.OpChange, "web:1.4", "web:1.5"),
				change(t, container+`.env[name="LEVEL"].value`, projection.OpChange, "5", int64(5)),
				change(t, container+`.env[name="NEW"]`, projection.OpAdd, nil, map[string]any{"name": "NEW", "value": "<&>"}),
				change(t, container+`.env[name="LEVEL"]`, projection.OpMove, int64(0), int64(1)),
				change(t, container+".args", projection.OpChange,
					[]any{"--listen=:8080", "--log-format=json", "--upstream=http://backend.shop.svc:80"},
					[]any{"--listen=:8080", "--log-format=text", "--upstream=http://backend.shop.svc:80"}),
				change(t, container+`.ports[containerPort=9113,protocol="TCP"]`, projection.OpRemove, map[string]any{"containerPort": int64(9113)}, nil),
				change(t, `metadata.finalizers[="example.com/wait"]`, projection.OpAdd, nil, "example.com/wait"),
				change(t, `metadata.finalizers[="example.com/twice"]`, projection.OpDuplicate,
					[]any{"example.com/twice", "example.com/twice"}, []any{"example.com/twice"}),
				change(t, container+`.env[name="TWICE"]`, projection.OpDuplicate,
					[]any{map[string]any{"name": "TWICE", "value": "1"}, map[string]any{"name": "TWICE", "value": "2"}},
					[]any{map[string]any{"name": "TWICE", "value": "1"}}),
				effect,
			},
			Ownership: []fieldowner.Transfer{
				{Path: path(t, "spec.replicas"), Kind: fieldowner.TransferTaken, Owners: []fieldowner.Owner{{Manager: "kubectl-scale", Operation: "Update", Subresource: "scale"}}},
				{Path: path(t, "spec.paused"), Kind: fieldowner.TransferGivenUp},
			},
			Ignored: []explain.IgnoredField{
				{Path: path(t, "spec.template.spec.nodeName"), Handling: explain.HandlingLive},
				{Path: path(t, "spec.template.spec.priority"), Handling: explain.HandlingOmitted, Owners: []fieldowner.Owner{{Manager: "injector", Operation: "Update"}}},
				{Path: path(t, container+`.env[name="NEW"].value`), Handling: explain.HandlingSent},
			},
			Writers: []fieldowner.Writer{
				{Owner: fieldowner.Owner{Manager: "helm", Operation: "Update"}, Tool: "Helm 3"},
				{Owner: fieldowner.Owner{Manager: "kubectl-edit", Operation: "Update"}, Tool: "kubectl edit", Stays: []projection.Path{
					path(t, "spec.minReadySeconds"), path(t, container+`.ports[containerPort=9114,protocol="TCP"]`),
				}},
			},
			Warnings: []foreign.Text{`unknown field "spec.foo"`},
		},

		Requests: 2,
	}
}

func secret(t *testing.T) *ssaplan.Plan {
	changes := []explain.Change{
		change(t, "data.changed", projection.OpChange, "b2xkLWNhbmFyeQ==", "bmV3LWNhbmFyeQ=="),
		change(t, "data.gone", projection.OpRemove, "b2xkLWNhbmFyeQ==", nil),
		change(t, "data.new", projection.OpAdd, nil, "bmV3LWNhbmFyeQ=="),
	}
	for i := range changes {
		changes[i].Sensitive = true
	}
	return &ssaplan.Plan{Object: object("v1", "Secret", "shop", "db"), Action: ssaplan.ActionUpdate, Reason: "the server would change values", Explanation: explain.Explanation{Changes: changes}, Requests: 2}
}

func config(t *testing.T) *ssaplan.Plan {
	var lines []string
	for _, word := range strings.Fields("a b c d e f g h i j k l m n o p q r s t u v") {
		lines = append(lines, word+" = 1")
	}
	before := strings.Join(lines, "\n") + "\n"
	after := strings.Replace(strings.Replace(before, "e = 1", "e = 2\nee = 2", 1), "v = 1\n", "", 1)
	long := strings.Repeat("0123456789", 30)
	return &ssaplan.Plan{
		Object: object("v1", "ConfigMap", "shop", "web"), Action: ssaplan.ActionUpdate, Reason: "the server would change values",
		Explanation: explain.Explanation{
			Changes: []explain.Change{
				change(t, `data["app.conf"]`, projection.OpChange, before, after),
				change(t, `data["other.conf"]`, projection.OpAdd, nil, before),
				change(t, "data.end", projection.OpChange, "a\nb\n", "a\nb"),
				change(t, "data.windows", projection.OpChange, "a\r\nb\n", "a\nb\n"),
				change(t, "data.minified", projection.OpAdd, nil, "first\n"+long),
				change(t, "data.blob", projection.OpChange, long+"x"+long, long+"y"+long),
				change(t, "data.json", projection.OpChange, "first\n"+long+"x"+long, "first\n"+long+"y"+long),
				change(t, "data.token", projection.OpRemove, long, nil),
				change(t, "data.weird", projection.OpChange, "a\x1b[31mb\u202e", "tab\there"),
			},
		}, Requests: 2,
	}
}

func ownersOnly(t *testing.T) *ssaplan.Plan {
	var shared []fieldowner.Transfer
	for _, p := range []string{"spec.a", "spec.b", "spec.c", "spec.d", "spec.e"} {
		shared = append(shared, fieldowner.Transfer{Path: path(t, p), Kind: fieldowner.TransferShared, Owners: []fieldowner.Owner{
			{Manager: "helm", Operation: "Update"}, {Manager: "argo", Operation: "Apply"},
		}})
	}
	shared = append(shared, fieldowner.Transfer{Path: path(t, "spec.z"), Kind: fieldowner.TransferLost, Owners: []fieldowner.Owner{{Manager: "x", Operation: "Apply"}}})
	return &ssaplan.Plan{
		Object: object("apps/v1", "StatefulSet", "shop", "db"), Action: ssaplan.ActionUpdate,
		Reason: "no value changes, only who owns the fields", Explanation: explain.Explanation{Ownership: shared}, Requests: 2,
	}
}

func renamed() *ssaplan.Plan {
	return &ssaplan.Plan{
		Object: object("v1", "ConfigMap", "shop", "settings"), Action: ssaplan.ActionReplace,
		Reason: "different object: v1/ConfigMap shop/web -> v1/ConfigMap shop/settings",
		Replacement: &ssaplan.Replacement{
			Evidence: "identity", Old: object("v1", "ConfigMap", "shop", "web"),
			Fields: []immutability.Field{{Text: "metadata.name", Message: `"web" -> "settings"`}},
		},
	}
}

func immutable() *ssaplan.Plan {
	id := object("v1", "PersistentVolumeClaim", "shop", "data")
	return &ssaplan.Plan{
		Object: id, Action: ssaplan.ActionReplace, Reason: "can't change in place: spec.storageClassName",
		Replacement: &ssaplan.Replacement{
			Evidence: "probe", Old: id,
			Fields:  []immutability.Field{{Text: "spec.storageClassName", Message: "field is immutable"}},
			Hazards: []immutability.Hazard{{Kind: immutability.HazardData, Message: "the data in the volume is lost"}},
		}, Requests: 4,
	}
}

func conflicted(t *testing.T) *ssaplan.Plan {
	return &ssaplan.Plan{
		Object: object("autoscaling/v2", "HorizontalPodAutoscaler", "shop", "web"), Action: ssaplan.ActionConflict,
		Reason: "2 fields have other values and other owners",
		Conflicts: []fieldowner.Conflict{
			{Path: path(t, "spec.maxReplicas"), Owner: fieldowner.Owner{Manager: "ops", Operation: "Apply", Time: now.Add(-50 * time.Hour)}},
			{Path: path(t, "spec.minReplicas"), Owner: fieldowner.Owner{Manager: "e\x1b[2Jvil", Operation: "Update", Subresource: "scale"}},
		}, Requests: 2,
	}
}
