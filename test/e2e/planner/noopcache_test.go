package planner_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab"
)

// resync is an object that is planned again and again with a cache, as the server has it.
type resync struct {
	*cluster
	planner  *ssaplan.Planner
	cache    *ssaplan.NoOpCache
	manifest *unstructured.Unstructured
	live     *unstructured.Unstructured
	carried  bool // each plan is made by another process
	clock    *clock.Fake
}

// always looks at what the server is set up with each time.
const always = time.Nanosecond

// eachMemory runs a test with an object whose no-op a cache remembers, and with one whose no-op is carried from process
// to process. NAME in the text of the manifest is replaced by a unique name.
func (c *cluster) eachMemory(t *testing.T, text string, test func(t *testing.T, r *resync, name string)) {
	for _, how := range []string{"kept", "carried"} {
		t.Run(how, func(t *testing.T) {
			name := how + c.Namespace[strings.LastIndexByte(c.Namespace, '-'):]
			r := &resync{cluster: c, manifest: lab.Object(t, strings.ReplaceAll(text, "NAME", name)), carried: how == "carried", clock: &clock.Fake{}}
			r.begin(t, ssaplan.NoOpCacheOptions{Size: 1, ServerInterval: always, Portable: r.carried})
			test(t, r, name)
		})
	}
}

// begin applies the object, and plans it until its no-op is remembered.
func (r *resync) begin(t *testing.T, options ssaplan.NoOpCacheOptions) {
	t.Helper()
	r.cache = ssaplan.NewNoOpCache(options)
	r.planner = r.Planner(t, ssaplan.Options{FieldManager: manager, NoOps: r.cache})
	r.apply(t, r.manifest)
	r.live = r.Get(t, r.manifest)
	require.Equal(t, "NoOp 1", r.plan(t))
	lab.Eventually(t, "the server is looked at twice in the same state", func() bool { return r.plan(t) == "NoOp 0" })
}

// restart has another cache remember what this one does, as another process would.
func restart(t *testing.T, cache *ssaplan.NoOpCache, options ssaplan.NoOpCacheOptions) *ssaplan.NoOpCache {
	t.Helper()
	var file bytes.Buffer
	require.NoError(t, cache.Save(&file, "the server"))
	next := ssaplan.NewNoOpCache(options)
	require.NoError(t, next.Restore(&file, "the server"))
	return next
}

// plan returns the action and the requests that the plan took, or the error.
func (r *resync) plan(t *testing.T) string {
	t.Helper()
	if r.carried {
		r.cache = restart(t, r.cache, ssaplan.NoOpCacheOptions{Size: 1, ServerInterval: always, Portable: true})
		r.planner = r.Planner(t, ssaplan.Options{FieldManager: manager, NoOps: r.cache})
	}
	plan, err := r.planner.Plan(clock.With(t.Context(), r.clock), ssaplan.Request{Manifest: r.manifest, Live: r.live})
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s %d", plan.Action, plan.Requests)
}

// settling is longer than a server may take until it follows a change of what it is set up with. Until then an answer
// counts for so long only.
const settling = 11 * time.Second

// settle waits until the server follows what it was set up with: a plan without the cache has the text. Only then the
// time passes that a server may take at most, and the plan has the text too. A clock that went ahead of the server
// would have the cache trust an answer of a server that isn't ready.
func (r *resync) settle(t *testing.T, want string) {
	t.Helper()
	lab.Eventually(t, want, func() bool {
		plan, err := r.cluster.planner.Plan(t.Context(), ssaplan.Request{Manifest: r.manifest, Live: r.live})
		if err != nil {
			return strings.Contains(err.Error(), want)
		}
		return string(plan.Action) == want
	})
	r.clock.Advance(settling)
	require.Contains(t, r.plan(t), want)
}

// requireSeen changes what the server is set up with, which is noticed at once, and waits until the plan says so. The
// object stays as it is.
func (r *resync) requireSeen(t *testing.T, want string, change func()) {
	t.Helper()
	change()
	require.NotEqual(t, "NoOp 0", r.plan(t), "it is noticed")
	r.settle(t, want)
	require.Equal(t, r.live.GetResourceVersion(), r.Get(t, r.manifest).GetResourceVersion())
}

func (c *cluster) admit(t *testing.T, text string, args ...any) {
	t.Helper()
	obj := lab.Objectf(t, text, args...)
	c.Apply(t, installer, obj)
	t.Cleanup(func() {
		require.NoError(t, c.Resource(t, obj).Delete(context.Background(), obj.GetName(), metav1.DeleteOptions{}))
	})
}

// What the server is set up with changes, and the object doesn't: the no-op that was remembered is none any more.
func TestRememberedNoOpsEndWithTheServersConfiguration(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	const widget = "{apiVersion: example.com/v1, kind: Widget, metadata: {name: NAME, labels: {resync: NAME}}, spec: {mode: fast}}"
	const selected = "matchConstraints: {objectSelector: {matchLabels: {resync: %s}}, resourceRules: [{apiGroups: [example.com], apiVersions: [v1], operations: ['*'], resources: [widgets]}]}"
	for name, change := range map[string]struct {
		want string
		make func(t *testing.T, name string)
	}{
		"validating-policy": {"denied request: never", func(t *testing.T, name string) {
			c.admit(t, "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: %s}, spec: {"+selected+", validations: [{expression: 'false', message: never}]}}", name, name)
			c.admit(t, "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: %s}, spec: {policyName: %s, validationActions: [Deny]}}", name, name)
		}},
		"mutating-policy": {"Update", func(t *testing.T, name string) {
			c.admit(t, "{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicy, metadata: {name: %s}, spec: {"+selected+", failurePolicy: Fail, reinvocationPolicy: Never, mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: 'Object{metadata: Object.metadata{labels: {\"injected\": \"yes\"}}}'}}]}}", name, name)
			c.admit(t, "{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicyBinding, metadata: {name: %s}, spec: {policyName: %s}}", name, name)
		}},
		"webhook": {"failed calling webhook", func(t *testing.T, name string) {
			c.admit(t, "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: %s}, webhooks: [{name: resync.example.com, objectSelector: {matchLabels: {resync: %s}}, admissionReviewVersions: [v1], sideEffects: None, failurePolicy: Fail, timeoutSeconds: 1, clientConfig: {url: 'https://127.0.0.1:1/'}, rules: [{apiGroups: [example.com], apiVersions: [v1], operations: ['*'], resources: [widgets]}]}]}", name, name)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c.eachMemory(t, strings.ReplaceAll(widget, "NAME", "NAME-"+name), func(t *testing.T, r *resync, prefix string) {
				r.requireSeen(t, change.want, func() { change.make(t, prefix+"-"+name) })
			})
		})
	}
}

func TestRememberedNoOpsEndWithTheDefinition(t *testing.T) {
	c := newCluster(t)
	const definition = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: shrinks.resync.example.com}, spec: {group: resync.example.com, scope: Namespaced, names: {plural: shrinks, kind: Shrink}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {mode: {type: string}%s}}}}}}]}}"
	c.Define(t, lab.Objectf(t, definition, ", size: {type: integer}"))
	const shrink = "{apiVersion: resync.example.com/v1, kind: Shrink, metadata: {name: NAME}, spec: {mode: fast, size: 3}}"
	c.eachMemory(t, shrink, func(t *testing.T, r *resync, _ string) {
		r.requireSeen(t, ".spec.size: field not declared in schema", func() { c.Apply(t, "definitions", lab.Objectf(t, definition, "")) })
		c.Apply(t, "definitions", lab.Objectf(t, definition, ", size: {type: integer}"))
		r.settle(t, "NoOp")
	})
}

// A remembered no-op ends when the conversion of the kind changes. The conversion is in the CRD, and not in its
// schemas.
func TestRememberedNoOpsEndWithTheConversion(t *testing.T) {
	c := newCluster(t)
	const definition = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: turns.resync.example.com}, spec: {group: resync.example.com, scope: Namespaced, names: {plural: turns, kind: Turn}, conversion: %s, versions: [{name: v1, served: true, storage: true, schema: &any {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {mode: {type: string}}}}}}}, {name: v2, served: true, storage: false, schema: *any}]}}"
	c.Define(t, lab.Objectf(t, definition, "{strategy: None}"))
	const turn = "{apiVersion: resync.example.com/v2, kind: Turn, metadata: {name: NAME}, spec: {mode: fast}}"
	c.eachMemory(t, turn, func(t *testing.T, r *resync, _ string) {
		// Once nothing converts, nothing of the kind could be deleted, or applied once more.
		defer func() {
			c.Apply(t, "definitions", lab.Objectf(t, definition, "{strategy: None}"))
			r.settle(t, "NoOp")
		}()
		c.Apply(t, "definitions", lab.Objectf(t, definition, "{strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://127.0.0.1:1/'}}}"))
		r.settle(t, "conversion webhook for")
	})
}

// The cache reports which resources the user may not list: webhooks and policies. Every user may read the server's
// schemas and its version.
func TestUnseenConfigurationIsTold(t *testing.T) {
	c := newCluster(t)
	c.Apply(t, installer, lab.Object(t, "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: resyncer}, rules: [{apiGroups: [''], resources: [configmaps], verbs: [get, patch, create]}]}"))
	c.Apply(t, installer, lab.Object(t, "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: resyncer}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: resyncer}, subjects: [{kind: User, name: resyncer, apiGroup: rbac.authorization.k8s.io}]}"))
	c.WaitAllowed(t, "resyncer", "get", "configmaps")
	user := &cluster{Cluster: c.As(t, "resyncer")}
	cache := ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{})
	planner := user.Planner(t, ssaplan.Options{FieldManager: manager, NoOps: cache})
	m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: cached}, data: {a: A}}")
	c.apply(t, m)
	for _, want := range []int{2, 1} {
		plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: m})
		require.NoError(t, err)
		require.Equal(t, want, plan.Requests)
	}
	require.Equal(t, []string{
		"mutatingwebhookconfigurations", "validatingwebhookconfigurations", "validatingadmissionpolicies", "validatingadmissionpolicybindings",
		"mutatingadmissionpolicies", "mutatingadmissionpolicybindings",
	}, cache.Stats().Unseen)
}

// A cluster whose etcd is restored from a copy goes on from there. Its objects can have the UIDs and resourceVersions
// that other contents had before.
func testRestoredObjects(t *testing.T, server *controlplane.Server) {
	c := clusterOn(t, server)
	const many = 6
	var live []*unstructured.Unstructured
	item := func(i int) *unstructured.Unstructured {
		return manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {v: %s}}", fmt.Sprintf("c%02d", i), `"A"`)
	}
	for i := range many {
		c.Apply(t, manager, item(i))
		c.Patch(t, "somebody", item(i), `{"data":{"v":"before"}}`)
	}
	backup := filepath.Join(t.TempDir(), "backup")
	require.NoError(t, server.Backup(t.Context(), backup))

	// tick writes something else until the revision is at least that.
	ticks := 0
	tick := func(revision int) (now int) {
		for ; now < revision; ticks++ {
			clock := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: clock}, data: {tick: '%d'}}", ticks)
			now = number(t, c.Apply(t, "somebody", clock).GetResourceVersion())
		}
		return now
	}

	// In the first history the objects become as declared, and that they are is remembered.
	cache := ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{Size: many, ServerInterval: -1})
	planner := c.Planner(t, ssaplan.Options{FieldManager: manager, NoOps: cache})
	portable := ssaplan.NoOpCacheOptions{Size: many, ServerInterval: -1, Portable: true}
	file := ssaplan.NewNoOpCache(portable)
	carrying := c.Planner(t, ssaplan.Options{FieldManager: manager, NoOps: file})
	tick(tick(1) + 250) // what a server writes when it starts is over until then
	for i := range many {
		live = append(live, c.Apply(t, manager, item(i)))
		tick(number(t, live[i].GetResourceVersion()) + 2) // room for what the server writes by itself later
		for _, planner := range []*ssaplan.Planner{planner, carrying} {
			plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: item(i), Live: live[i]})
			require.NoError(t, err)
			require.Equal(t, ssaplan.ActionNoOp, plan.Action)
		}
	}
	carrying = c.Planner(t, ssaplan.Options{FieldManager: manager, NoOps: restart(t, file, portable)})
	plan, err := carrying.Plan(t.Context(), ssaplan.Request{Manifest: item(0), Live: live[0]})
	require.NoError(t, err)
	require.Zero(t, plan.Requests, "it is remembered")

	// In the second one another manager writes other values to the same objects.
	require.NoError(t, server.Restore(t.Context(), backup))
	seen := map[string]bool{}
	for _, obj := range live {
		seen[string(obj.GetUID())+obj.GetResourceVersion()] = true
	}
	same := 0
	for i := range many {
		tick(number(t, live[i].GetResourceVersion()) - 1) // the next is that of then, unless the server has just written something
		c.Patch(t, "somebody", item(i), `{"data":{"v":"B"}}`)
		restored := c.Get(t, item(i))
		if seen[string(restored.GetUID())+restored.GetResourceVersion()] {
			same++
		}
		for _, planner := range []*ssaplan.Planner{planner, carrying} {
			plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: item(i), Live: restored})
			require.NoError(t, err)
			require.Equal(t, ssaplan.ActionUpdate, plan.Action, "%s at %s", item(i).GetName(), restored.GetResourceVersion())
		}
	}
	t.Logf("%d of %d objects have the UID and resourceVersion of before", same, many)
	require.NotZero(t, same, "the test tests nothing")
}

func number(t *testing.T, text string) (n int) {
	t.Helper()
	_, err := fmt.Sscan(text, &n)
	require.NoError(t, err)
	return n
}
