package planner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/e2e/authresilience/faultproxy"
)

// giveUp is how long a caller waits for a server that doesn't answer.
const giveUp = time.Second

// faultCase is a Secret on the real server, and a proxy in between.
type faultCase struct {
	*cluster
	proxy    *faultproxy.Proxy
	token    string
	manifest *unstructured.Unstructured
	state    *ssaplan.State
	secrets  []string
}

// outcome is what became of an operation under a fault.
type outcome struct {
	class  authresilience.Class
	result string
	lost   bool
	text   string
}

func newFaultCase(t *testing.T) *faultCase {
	c := newCluster(t)
	client, err := kubernetes.NewForConfig(controlplane.Shared(t).Config())
	require.NoError(t, err)
	c.install(t, []byte("{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot, namespace: "+c.namespace+"}}"))
	c.install(t, []byte(fmt.Sprintf("{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: %s}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}, subjects: [{kind: ServiceAccount, name: robot, namespace: %s}]}", c.namespace, c.namespace)))
	request, err := client.CoreV1().ServiceAccounts(c.namespace).CreateToken(t.Context(), "robot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.NoError(t, err)
	f := &faultCase{cluster: c, proxy: faultproxy.Start(t, controlplane.Shared(t).Config()), token: request.Status.Token}
	f.manifest = manifest(t, "{apiVersion: v1, kind: Secret, metadata: {name: faulty}, data: {password: Y2FuYXJ5LW9sZA==}}")
	f.state = c.apply(t, f.manifest)
	f.secrets = []string{f.token, "Y2FuYXJ5LW9sZA==", "canary-old", strings.Split(f.token, ".")[2]}
	return f
}

// operation is something that a host does with an object.
type operation struct {
	name string
	do   func(*faultCase, context.Context, *ssaplan.Planner) outcome
}

var operations = []operation{
	{"read", (*faultCase).read},
	{"plan", (*faultCase).plan},
	{"apply", (*faultCase).applyEdit},
}

func (f *faultCase) read(ctx context.Context, p *ssaplan.Planner) outcome {
	reading, err := p.Read(ctx, f.state)
	if err != nil {
		return failed(err)
	}
	// Whatever went wrong, the host still has what it remembered, and is never told that the object is gone.
	lost := reading.State == nil || !reading.State.Applied.Fields.Equal(f.state.Applied.Fields) ||
		reading.Presence == ssaplan.Recreated
	text := fmt.Sprintf("%v %+v %v", reading.Warning, reading.State, reading.Drift)
	return outcome{reading.State.Stale.Reason, string(reading.Presence), lost, text}
}

func (f *faultCase) plan(ctx context.Context, p *ssaplan.Planner) outcome {
	plan, err := p.Plan(ctx, ssaplan.Request{Manifest: f.manifest, Prior: f.state})
	if err != nil {
		return failed(err)
	}
	text, err := json.Marshal(plan)
	return outcome{"", string(plan.Action), err != nil, fmt.Sprintf("%+v %s", plan, text)}
}

// applyEdit applies another value. The server's own view afterwards says whether it is all there.
func (f *faultCase) applyEdit(ctx context.Context, p *ssaplan.Planner) outcome {
	m := f.manifest.DeepCopy()
	set(m, fmt.Sprint(time.Now().UnixNano()), "metadata", "annotations", "edit")
	plan, err := p.Plan(ctx, ssaplan.Request{Manifest: m})
	if err != nil {
		return failed(err)
	}
	if _, err = p.Apply(ctx, plan); err != nil {
		return failed(err)
	}
	return outcome{"", "Applied", false, fmt.Sprint(plan)}
}

func failed(err error) outcome {
	return outcome{authresilience.Classify(err), "failed", false, fmt.Sprintf("%v %+v %#v", err, err, err)}
}

// TestFaultsAtEveryRequest spoils each request of each operation in every way, and checks that nothing is lost, nothing
// secret is shown and nothing else is written.
func TestFaultsAtEveryRequest(t *testing.T) {
	faults := faultproxy.Faults()
	reports := make([]report, len(faults))
	t.Run("faults", func(t *testing.T) {
		for i, fault := range faults {
			t.Run(fault.Name, func(t *testing.T) {
				t.Parallel()
				reports[i] = newFaultCase(t).spoilEach(t, fault)
			})
		}
	})
	var all report
	table := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "fault\toperation\trequest\tclass\tresult")
	for _, r := range reports {
		_, _ = fmt.Fprint(table, strings.Join(r.rows, ""))
		all.lost += r.lost
		all.leaks += r.leaks
		all.rows = append(all.rows, r.rows...)
	}
	require.NoError(t, table.Flush())
	fmt.Printf("fault runs: %d\nstates lost: %d\nsecrets shown: %d\n", len(all.rows), all.lost, all.leaks)
	require.Greater(t, len(all.rows), len(faults)*len(operations))
}

// report is what one fault did to all operations.
type report struct {
	rows        []string
	lost, leaks int
}

func (f *faultCase) spoilEach(t *testing.T, fault faultproxy.Fault) (r report) {
	for _, operation := range operations {
		for n, request := range f.requestsOf(t, operation) {
			got := f.run(t, n+1, fault, operation)
			if got.lost {
				r.lost++
				t.Errorf("%s at %s: state lost: %s", operation.name, request, got.text)
			}
			if leak := f.leakIn(got.text); leak != "" {
				r.leaks++
				t.Errorf("%s at %s: shows a secret: %s", operation.name, request, got.text)
			}
			f.checkResult(t, operation.name, fault, request, got)
			r.rows = append(r.rows, fmt.Sprintf("%s\t%s\t%s\t%s\t%s\n", fault, operation.name, short(request), got.class, got.result))
		}
	}
	return r
}

// checkResult checks what must hold whatever the fault: an answer that doesn't come from the API server proves nothing.
func (f *faultCase) checkResult(t *testing.T, operation string, fault faultproxy.Fault, request faultproxy.Request, got outcome) {
	t.Helper()
	gone := []string{string(ssaplan.Absent), string(ssaplan.NamespaceGone)}
	if slices.Contains(gone, got.result) && fault.Name != "404 Status" {
		t.Errorf("%s at %s: the object is called %s", fault, request, got.result)
	}
	if operation == "plan" && got.result == string(ssaplan.Create) && fault.Name != "404 Status" {
		t.Errorf("%s at %s: planned to create an object that exists", fault, request)
	}
	if got.result == string(ssaplan.Unreadable) && !got.class.Degradable() {
		t.Errorf("%s at %s: kept for the class %s", fault, request, got.class)
	}
	if operation == "apply" && got.class.Degradable() && got.result != "failed" {
		t.Errorf("%s at %s: a write that was refused is %s", fault, request, got.result)
	}
}

// requestsOf returns the requests of an operation that goes well.
func (f *faultCase) requestsOf(t *testing.T, operation operation) []faultproxy.Request {
	f.proxy.Heal()
	got := operation.do(f, t.Context(), f.plannerAs(t, f.proxy.Client(f.token), nil))
	require.NotEqual(t, "failed", got.result, got.text)
	return f.proxy.Requests()
}

func (f *faultCase) run(t *testing.T, n int, fault faultproxy.Fault, operation operation) outcome {
	ctx, cancel := context.WithTimeout(t.Context(), giveUp)
	defer cancel()
	f.proxy.Inject(n, fault)
	got := operation.do(f, ctx, f.plannerAs(t, f.proxy.Client(f.token), nil))
	_, spoiled := f.proxy.Spoiled()
	require.True(t, spoiled, "%s did not happen", fault)
	return got
}

func (f *faultCase) leakIn(text string) string {
	for _, secret := range f.secrets {
		if strings.Contains(text, secret) {
			return secret
		}
	}
	return ""
}

func short(r faultproxy.Request) string {
	path, query, _ := strings.Cut(r.URI, "?")
	if strings.Contains(query, "dryRun") {
		return "dry-run " + r.Method
	}
	if strings.Contains(path, "/secrets/") {
		return r.Method
	}
	return r.Method + " " + path
}
