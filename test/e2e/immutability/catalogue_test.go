package immutability_test

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/test/lab"
)

// minor is the minor version of the server under test.
var minor = cmp.Or(os.Getenv("SSAPLAN_SERVER"), "1.37")

// isPlayed reports whether a run has a case, given its number: a third of them, each day another one, as what the
// server answers is recorded. A run that records, or has another server, has all.
func isPlayed(number int) bool {
	return *update || os.Getenv("SSAPLAN_SERVER") != "" || lab.Today(number, 3)
}

// fixtures are the objects that pairs refer to.
var fixtures = []string{
	`{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: expandable}, provisioner: example.com, allowVolumeExpansion: true}`,
	`{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fixed}, provisioner: example.com}`,
	`{apiVersion: scheduling.k8s.io/any, kind: Workload, metadata: {name: w}, spec: {podGroupTemplates: [{name: t, schedulingPolicy: {gang: {minCount: 2}}}, {name: u, schedulingPolicy: {gang: {minCount: 2}}}]}}`,
	`{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: urgent}, value: 1000}`,
	definition(),
}

// TestCatalogue plans updates that the server refuses, tries for real what could be done about each, and compares. It
// fails on every wrong replacement, with and without the probe, and with the probe on every missed one.
func TestCatalogue(t *testing.T) {
	c := newCluster(t)
	for _, text := range fixtures {
		if obj := lab.Object(t, text); c.pickVersion(obj) {
			c.apply(t, obj)
		}
	}
	awaitEstablished(t, c, lab.Object(t, definition()))
	meta.MaybeResetRESTMapper(c.Mapper)

	var results []result
	all := slices.DeleteFunc(slices.Concat(readPairs(t), admission()), func(p pair) bool { return p.only != "" && p.only != minor })
	assert.GreaterOrEqual(t, len(all), 240, "pairs")
	for i, p := range all {
		if !isPlayed(i) {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			if r, served := p.run(t, c); served {
				results = append(results, r)
				r.check(t)
			}
		})
	}
	assert.GreaterOrEqual(t, len(results), 70, "pairs that are served")
	t.Logf("%s: %d pairs\n\nwithout the probe:\n%s\nwith the probe:\n%s", c.Server.Version(), len(results),
		matrix(results, func(r result) immutability.Verdict { return r.texts }),
		matrix(results, func(r result) immutability.Verdict { return r.probed }))
}

// result is what was found for one pair.
type result struct {
	pair   pair
	truth  truth
	texts  immutability.Verdict // without the probe
	probed immutability.Verdict
}

// run plans the update and then does it for real. It reports false if the server doesn't serve the kind.
func (p pair) run(t *testing.T, c *cluster) (r result, served bool) {
	before, after := p.manifests(t)
	if !c.pickVersion(before) {
		t.Logf("not served: %s %s", before.GetAPIVersion(), before.GetKind())
		return result{}, false
	}
	after.SetAPIVersion(before.GetAPIVersion())
	c.create(t, before)
	if p.prepare != nil {
		p.prepare(t, c, before)
	}
	live := c.Get(t, before)

	_, refused := c.tryApply(t, after, metav1.DryRunAll)
	require.Error(t, refused, "the server accepts the edit")
	manifestBefore, liveBefore := after.DeepCopy(), live.DeepCopy()
	r = result{pair: p, texts: immutability.Classify(refused)}
	server := &recorder{Writer: c.Resource(t, after), addresses: c.addresses()}
	r.probed = immutability.Probe(context.Background(), server, after, live, r.texts,
		immutability.ProbeOptions{FieldManager: manager, IPAddresses: server, Definitions: c.definitions()})
	read := 0 // definitions, which are not recorded
	if r.probed.Evidence.Rules != nil {
		read = 1
	}
	assert.Equal(t, len(server.replies)+read, r.probed.Evidence.Requests)
	assert.Equal(t, manifestBefore, after, "inputs are left alone")
	assert.Equal(t, liveBefore, live, "inputs are left alone")

	r.truth = p.find(t, c, before, after, live)
	compareRecord(t, c.Server.Version(), p.name, record{
		Truth: r.truth, Manifest: after, Live: live, Apply: statusOf(t, refused), Replies: server.replies,
	})
	t.Logf("%v\ntruth:  %s\ntexts:  %s %s\nprobed: %s (%s)\nfields: %v", refused, r.truth,
		r.texts.Refusal, r.texts.Uncertain, r.probed.Refusal, r.probed.Evidence, r.probed.Fields)
	return r, true
}

// find does for real what could be done about the refused apply, and deletes the object.
func (p pair) find(t *testing.T, c *cluster, before, after, live *unstructured.Unstructured) truth {
	t.Helper()
	defer c.delete(t, after)
	accepts := func(obj *unstructured.Unstructured) bool {
		_, err := c.tryApply(t, obj)
		return err == nil
	}
	require.False(t, accepts(after), "the real apply is refused like the dry run")
	lifted := false
	if p.lift != nil {
		p.lift(t, c, func() { lifted = accepts(after) })
	}
	switch {
	case lifted:
		return policy
	case p.without != nil && accepts(edited(t, after, p.without)):
		return badMetadata
	case p.accepted != nil && accepts(edited(t, before, p.accepted)):
		return oneWay
	case c.put(t, after, live) == nil:
		return updateWorks
	}
	c.delete(t, after)
	if p.late {
		lab.Eventually(t, "admission accepts the new object", func() bool { return accepts(after) })
	}
	if accepts(after) {
		return replaceWorks
	}
	return notValid
}

// verdictFor is the verdict that a truth asks for.
var verdictFor = map[truth]immutability.Refusal{
	replaceWorks: immutability.RefusalImmutable,
	updateWorks:  immutability.RefusalMergeLeftover,
	notValid:     immutability.RefusalInvalid,
	oneWay:       immutability.RefusalDirectional,
	badMetadata:  immutability.RefusalMetadataPrecondition,
	policy:       immutability.RefusalAdmissionDenied,
}

// check holds the verdicts against the truth.
func (r result) check(t *testing.T) {
	assert.Equal(t, r.pair.truth, r.truth, "what the server does")
	if r.texts.Replaceable() {
		assert.Equal(t, replaceWorks, r.truth, "wrong replacement without the probe")
	}
	assert.Equal(t, r.truth == replaceWorks, r.probed.Replaceable(), "wrong or missed replacement with the probe")
	assert.Equal(t, verdictFor[r.truth], r.probed.Refusal)
	assert.Empty(t, r.probed.Uncertain)
	var leftovers []string
	for _, p := range r.probed.Leftovers {
		leftovers = append(leftovers, p.String())
	}
	assert.Equal(t, r.pair.leftovers, leftovers)
	assert.NotEmpty(t, r.probed.Fields, "the user is told why")
	if !strings.HasPrefix(r.pair.name, "service-") { // cluster IPs take further requests
		most := 2
		if r.probed.Evidence.Rules != nil {
			most++ // the definition
		}
		if r.texts.Refusal != immutability.RefusalMergeLeftover {
			most += len(r.probed.Leftovers) // each is tried
		}
		assert.LessOrEqual(t, r.probed.Evidence.Requests, most)
	}
	if r.pair.name == "service-clusterip-taken-invalid" {
		assert.Equal(t, immutability.OutcomeValid, r.probed.Evidence.Create.Outcome,
			"a dry run of a create accepts an address that another Service has")
	}
	if strings.HasSuffix(r.pair.name, "-invalid") {
		assert.Equal(t, notValid, r.truth, "the pair's name")
	}
}

// recorder passes requests on and keeps the replies.
type recorder struct {
	immutability.Writer
	addresses immutability.Getter
	replies   []reply
}

func (r *recorder) Get(ctx context.Context, name string, options metav1.GetOptions, subresources ...string) (*unstructured.Unstructured, error) {
	found, err := r.addresses.Get(ctx, name, options, subresources...)
	r.replies = append(r.replies, newReply("get", found, err))
	return found, err
}

func (r *recorder) Create(ctx context.Context, obj *unstructured.Unstructured, options metav1.CreateOptions, subresources ...string) (*unstructured.Unstructured, error) {
	created, err := r.Writer.Create(ctx, obj, options, subresources...)
	r.replies = append(r.replies, newReply("create", created, err))
	return created, err
}

func (r *recorder) Update(ctx context.Context, obj *unstructured.Unstructured, options metav1.UpdateOptions, subresources ...string) (*unstructured.Unstructured, error) {
	updated, err := r.Writer.Update(ctx, obj, options, subresources...)
	r.replies = append(r.replies, newReply("update", updated, err))
	return updated, err
}
