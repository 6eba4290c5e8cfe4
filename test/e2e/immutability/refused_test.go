package immutability_test

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/test/lab"
)

// TestRefusedCreates changes immutable fields where the server would refuse a create for reasons outside of the object,
// and shows that deleting it would have left nothing. Only the probe can know that.
func TestRefusedCreates(t *testing.T) {
	c := newCluster(t)
	selector := []string{"spec.selector.matchLabels.app=b", "spec.template.metadata.labels.app=b"}
	frozen := "{apiVersion: v1, kind: ConfigMap, data: {a: '1'}, immutable: true}"
	tests := []struct {
		name   string
		before string
		edit   []string
		// guard makes the server refuse creates of the object, and returns the client to use. The name is that of the
		// object, or of its namespace if the test has one for it.
		guard   func(t *testing.T, c *cluster, name string) *cluster
		message string
		why     string
	}{
		{"no-right-to-create", deployment, selector, withoutCreate, `User "limited" cannot create resource "deployments"`,
			"patch and delete are allowed"},
		{"terminating", deployment + "metadata: {namespace: terminating, finalizers: [example.com/a]}\n", selector, terminate,
			"because it is being terminated", "updates go on in a terminating namespace, creates don't"},
		{"webhook-on-create", frozen, []string{"data.a='2'"}, denyCreate, "denied the request: no more of these", "the webhook doesn't see updates"},
		{"webhook-unreachable", frozen, []string{"data.a='2'"}, unreachable, "failed calling webhook", "the create would fail as long as the webhook is down"},
		{"policy-on-create", frozen, []string{"data.a='2'"}, policyOnCreate, "ValidatingAdmissionPolicy", "the policy doesn't see updates"},
		{"pod-security", pod + "metadata: {namespace: secured}\n", []string{"spec.hostname=other"}, secure, `violates PodSecurity "restricted:latest"`,
			"the pod is older than the rule"},
		{"quota-of-other-resources", pod, []string{"spec.hostname=other"}, podQuota, "exceeded quota",
			"what a pod frees isn't known from the message"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before, after := pair{name: tt.name, before: tt.before, edit: tt.edit, label: map[string]string{"guarded": tt.name}}.manifests(t)
			name := tt.name
			if before.GetNamespace() != "" { // another one in each run, as a terminating namespace stays
				name = before.GetNamespace() + "-" + rand.String(5)
				before.SetNamespace(name)
				after.SetNamespace(name)
				c.apply(t, lab.Object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: "+name+"}}"))
			}
			c.create(t, before)
			live := c.Get(t, before)
			user := tt.guard(t, c, name)

			_, refused := c.tryApply(t, after, metav1.DryRunAll)
			require.Error(t, refused)
			texts := immutability.Classify(refused)
			require.Equal(t, immutability.RefusalImmutable, texts.Refusal)
			probe := func() immutability.Verdict {
				return immutability.Probe(context.Background(), user.Resource(t, after), after, live, texts, immutability.ProbeOptions{})
			}
			lab.Eventually(t, "the create is refused", func() bool { return probe().Evidence.Create.Outcome == immutability.OutcomeRefused })

			probed := probe()
			assert.False(t, probed.Replaceable(), tt.why)
			assert.Equal(t, immutability.RefusalImmutable, probed.Refusal, "what the texts say")
			assert.Contains(t, probed.Uncertain, "the server would refuse to create the object: ")
			assert.Contains(t, probed.Evidence.Create.Message, tt.message, tt.why)
			user.delete(t, after)
			_, err := user.tryApply(t, after)
			assert.ErrorContains(t, err, tt.message, "the create fails for real")
		})
	}
}

func withoutCreate(t *testing.T, c *cluster, _ string) *cluster {
	c.install(t, `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: limited}
rules: [{apiGroups: [apps], resources: [deployments], verbs: [get, patch, update, delete]}]
`, `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: limited}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: limited}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: limited}]
`)
	c.WaitAllowed(t, "limited", "delete", "deployments.apps")
	return &cluster{c.As(t, "limited")}
}

func terminate(t *testing.T, c *cluster, namespace string) *cluster {
	c.Delete(t, lab.Object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: "+namespace+"}}"))
	return c
}

func denyCreate(t *testing.T, c *cluster, name string) *cluster {
	server := httptest.NewTLSServer(denyWith(metav1.Status{Code: 409, Reason: metav1.StatusReasonAlreadyExists, Message: "no more of these",
		Details: &metav1.StatusDetails{Name: name, Kind: "configmaps"}})) // looks as if the object existed
	t.Cleanup(server.Close)
	t.Cleanup(c.install(t, webhookConfiguration(name, "CREATE", server)))
	return c
}

func unreachable(t *testing.T, c *cluster, name string) *cluster {
	server := httptest.NewTLSServer(nil)
	server.Close()
	t.Cleanup(c.install(t, webhookConfiguration(name, "CREATE", server)))
	return c
}

func policyOnCreate(t *testing.T, c *cluster, name string) *cluster {
	t.Cleanup(c.installPolicy(t, name, "CREATE", "object.data.a == '1'"))
	return c
}

func secure(t *testing.T, c *cluster, namespace string) *cluster {
	c.patch(t, lab.Object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: "+namespace+"}}"),
		`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`)
	return c
}

func podQuota(t *testing.T, c *cluster, _ string) *cluster {
	t.Cleanup(c.installQuota(t, "pods", "1", "1"))
	return c
}

// installQuota does what the quota controller does. It returns a function that deletes the quota.
func (c *cluster) installQuota(t *testing.T, resource, hard, used string) (remove func()) {
	t.Helper()
	text := "{apiVersion: v1, kind: ResourceQuota, metadata: {name: full}, spec: {hard: {" + resource + ": '" + hard + "'}}}"
	remove = c.install(t, text)
	c.setUsed(t, resource, hard, used)
	return remove
}

func (c *cluster) setUsed(t *testing.T, resource, hard, used string) {
	t.Helper()
	c.patch(t, lab.Object(t, "{apiVersion: v1, kind: ResourceQuota, metadata: {name: full}}"),
		`{"status":{"hard":{"`+resource+`":"`+hard+`"},"used":{"`+resource+`":"`+used+`"}}}`, "status")
}

// TestFullQuota shows that a quota which counts objects doesn't stop a replacement, though it stops the dry-run create.
func TestFullQuota(t *testing.T) {
	c := newCluster(t)
	const counted = "count/endpointslices.discovery.k8s.io"
	p := pair{name: "full-quota", before: endpointSlice, edit: []string{"addressType=IPv6", "endpoints[0].addresses=['2001:db8::1']"}}
	before, after := p.manifests(t)
	c.create(t, before)
	live := c.Get(t, before)
	t.Cleanup(c.installQuota(t, counted, "1", "1"))

	_, refused := c.tryApply(t, after, metav1.DryRunAll)
	texts := immutability.Classify(refused)
	probe := func(manifest *unstructured.Unstructured) immutability.Verdict {
		return immutability.Probe(context.Background(), c.Resource(t, after), manifest, live, texts, immutability.ProbeOptions{})
	}
	lab.Eventually(t, "the create has a message", func() bool { return probe(after).Evidence.Create.Message != "" })

	probed := probe(after)
	assert.True(t, probed.Replaceable(), probed.Evidence)
	assert.Equal(t, foreign.Text("the quota is full, and the delete makes room"), probed.Evidence.Create.Message)
	invalid := probe(edited(t, before, []string{"addressType=IPv6"}))
	assert.Equal(t, immutability.RefusalInvalid, invalid.Refusal, "validation comes before the quota")

	c.delete(t, after)
	c.setUsed(t, counted, "1", "0")
	lab.Eventually(t, "the quota has room", func() bool {
		_, err := c.tryApply(t, after, metav1.DryRunAll)
		return err == nil
	})
	c.apply(t, after)
}

// TestPortsOutOfRange changes immutable fields of Services along with ports that the server wouldn't give them. No dry
// run notices: neither those of the probe nor that of the apply.
func TestPortsOutOfRange(t *testing.T) {
	c := newCluster(t)
	for name, edit := range map[string][]string{
		"ports-health": {"spec.healthCheckNodePort=99"},
		"ports-node":   {"spec.loadBalancerClass=example.com/b", "spec.ports[0].nodePort=99"},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := pair{name: name, before: loadBalancer, edit: edit}.manifests(t)
			c.apply(t, before)
			_, refused := c.tryApply(t, after, metav1.DryRunAll)
			texts := immutability.Classify(refused)
			assert.False(t, texts.Replaceable())
			probed := immutability.Probe(context.Background(), c.Resource(t, after), after, c.Get(t, before), texts, immutability.ProbeOptions{})
			assert.Equal(t, immutability.OutcomeValid, probed.Evidence.Create.Outcome, "the dry-run create")
			assert.False(t, probed.Replaceable())
			assert.Equal(t, "no dry run shows whether node port 99 is in the server's range", probed.Uncertain)
			c.delete(t, after)
			_, err := c.tryApply(t, after)
			assert.ErrorContains(t, err, "provided port is not in the valid range", "the create fails for real")
		})
	}
}

// TestLeftoverRemedy shows that what the verdict advises works: afterwards the manifest can be applied.
func TestLeftoverRemedy(t *testing.T) {
	c := newCluster(t)
	tests := []struct {
		name     string
		before   string
		edit     string
		leftover string
		patch    types.PatchType
		body     string
	}{
		{"remedy", deployment, "spec.strategy={type: Recreate}", "spec.strategy.rollingUpdate",
			types.MergePatchType, `{"spec":{"strategy":{"type":"Recreate","rollingUpdate":null}}}`},
		{"remedy-in-list", deployment + "      volumes: [{name: v}]\n", "spec.template.spec.volumes=[{name: v, secret: {secretName: s}}]",
			`spec.template.spec.volumes[name="v"].emptyDir`, types.StrategicMergePatchType,
			`{"spec":{"template":{"spec":{"volumes":[{"name":"v","emptyDir":null,"secret":{"secretName":"s"}}]}}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before, after := pair{name: tt.name, before: tt.before, edit: []string{tt.edit}}.manifests(t)
			c.create(t, before)
			_, refused := c.tryApply(t, after, metav1.DryRunAll)
			verdict := immutability.Probe(context.Background(), c.Resource(t, after), after, c.Get(t, before), immutability.Classify(refused), immutability.ProbeOptions{})
			assert.Equal(t, "remove "+tt.leftover+" by a merge patch that makes the change as well (inside lists a strategic one), "+
				"or update the object with the whole manifest (PUT), which also drops what others have set", verdict.Remedy)

			_, err := c.Resource(t, before).Patch(context.Background(), before.GetName(), tt.patch, []byte(tt.body), metav1.PatchOptions{FieldManager: "other"})
			require.NoError(t, err)
			c.apply(t, after)
		})
	}
}
