package explain_test

import (
	"cmp"
	"context"
	stdjson "encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/test/lab"
)

// player plays one scenario, in a namespace of the scenario's name.
type player struct {
	*lab.Cluster
	scenario
	t       *testing.T
	answers answers
	// began are the seconds in which the steps began, last is that in which the server answered last.
	began []int64
	last  int64
}

func (p *player) play() *recording {
	if !p.NoNamespace {
		p.Apply(p.t, "namespaces", lab.Objectf(p.t, "{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", p.Name))
	}
	defer p.remove()
	for _, st := range p.Steps {
		p.step(st)
	}
	sent := p.sent(p.planned(), p.Raw)
	p.try(sent)
	return &recording{why: p.Why, manifest: sent.Object, answers: p.answers.anonymous(p.t, p.scenario, p.began)}
}

// sent returns the manifest as the player sends it: with the namespace, and normalized unless raw is true.
func (p *player) sent(manifest map[string]any, raw bool) *unstructured.Unstructured {
	if !raw {
		manifest, _ = projection.Normalize(manifest, "")
	}
	obj := &unstructured.Unstructured{Object: manifest}
	kind := obj.GroupVersionKind()
	mapping, err := p.Mapper.RESTMapping(kind.GroupKind(), kind.Version)
	require.NoError(p.t, err)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		obj.SetNamespace(p.Name)
	}
	return obj
}

// nextSecond waits for the second after the last answer, so that the times of managedFields show the order of the
// steps.
func (p *player) nextSecond() {
	for time.Now().Unix() <= p.last {
		time.Sleep(10 * time.Millisecond)
	}
	p.began = append(p.began, time.Now().Unix())
}

// step does what a step says, and waits until the server has done with it.
func (p *player) step(st step) {
	p.nextSecond()
	defer func() { p.last = time.Now().Unix() }()
	st.By = cmp.Or(st.By, manager)
	switch st.Do {
	case "apply":
		p.apply(st)
	case "create", "update":
		p.write(st)
	case "delete":
		p.done(p.delete())
	default:
		p.patch(st)
	}
}

// done expects that a request of a step didn't fail.
func (p *player) done(err error) {
	p.t.Helper()
	require.NoError(p.t, err, "step %d", len(p.began))
}

// object returns the object that the scenario is about, as far as it is named.
func (p *player) object() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: p.Manifest}
}

// apply applies with force, also a subresource if one is named.
func (p *player) apply(st step) {
	body, _ := p.body(st).(map[string]any)
	sent := p.sent(body, false)
	options := metav1.PatchOptions{FieldManager: st.By, Force: new(true)}
	answer, err := p.TryApply(p.t, sent, options, below(st.Subresource)...)
	p.done(err)
	if p.Remember && st.By == manager {
		p.answers.PriorManifest, p.answers.PriorObject = runtime.DeepCopyJSON(sent.Object), answer.Object
	}
	p.settle()
}

func below(subresource string) []string {
	if subresource == "" {
		return nil
	}
	return []string{subresource}
}

// write creates or updates the object.
func (p *player) write(st step) {
	body, _ := p.body(st).(map[string]any)
	obj := &unstructured.Unstructured{Object: body}
	resource := p.Resource(p.t, obj)
	if st.Do == "create" {
		_, err := resource.Create(p.t.Context(), obj, metav1.CreateOptions{FieldManager: st.By})
		p.done(err)
		p.settle()
		return
	}
	live := p.Get(p.t, obj)
	live.Object, _ = mergePatched(live.Object, body).(map[string]any)
	_, err := resource.Update(p.t.Context(), live, metav1.UpdateOptions{FieldManager: st.By}, below(st.Subresource)...)
	p.done(err)
}

func (p *player) patch(st step) {
	patches := map[string]types.PatchType{
		"merge": types.MergePatchType, "strategic": types.StrategicMergePatchType, "json": types.JSONPatchType,
	}
	require.Contains(p.t, patches, st.Do)
	body, err := stdjson.Marshal(st.Body)
	p.done(err)
	_, err = p.Resource(p.t, p.object()).Patch(p.t.Context(), p.object().GetName(), patches[st.Do], body,
		metav1.PatchOptions{FieldManager: st.By}, below(st.Subresource)...)
	p.done(err)
}

func (p *player) delete() error {
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
	return p.Resource(p.t, p.object()).Delete(p.t.Context(), p.object().GetName(), now)
}

// settle waits until the server itself writes a definition no more.
func (p *player) settle() {
	if p.object().GetKind() != "CustomResourceDefinition" {
		return
	}
	version := ""
	isDone := func(context.Context) (bool, error) {
		live := p.Get(p.t, p.object())
		conditions, _, _ := unstructured.NestedSlice(live.Object, "status", "conditions")
		same := version == live.GetResourceVersion()
		version = live.GetResourceVersion()
		isInstalling := slices.ContainsFunc(conditions, func(condition any) bool {
			c, _ := condition.(map[string]any)
			return c["reason"] == "Installing"
		})
		return same && len(conditions) >= 2 && !isInstalling, nil
	}
	p.done(wait.PollUntilContextTimeout(p.t.Context(), 500*time.Millisecond, time.Minute, true, isDone))
}

// try reads the object and tries the apply. It fails if another client changed the object in between.
func (p *player) try(sent *unstructured.Unstructured) {
	p.nextSecond()
	live := p.Lookup(p.t, sent)
	answer, refusal := p.dryRun(sent, !p.RefuseConflicts)
	require.Equal(p.t, p.Refused, refusal != nil, "%v", refusal)
	p.answers.Live, p.answers.Answer, p.answers.Refusal = content(live), content(answer), p.statusOf(refusal)
	if p.RefuseConflicts && apierrors.IsConflict(refusal) {
		forced, err := p.dryRun(sent, true)
		require.NoError(p.t, err)
		p.answers.Forced = content(forced)
	}
	require.Equal(p.t, live, p.Lookup(p.t, sent), "the object changed while the apply was tried")
}

func (p *player) dryRun(sent *unstructured.Unstructured, force bool) (*unstructured.Unstructured, error) {
	options := metav1.PatchOptions{FieldManager: manager, Force: &force, DryRun: []string{metav1.DryRunAll}}
	return p.TryApply(p.t, sent, options)
}

// content returns what is in the object, and nil if there is none.
func content(obj *unstructured.Unstructured) any {
	if obj == nil {
		return nil
	}
	return obj.Object
}

// statusOf returns the status of a rejection, and nil if there was none. It sorts the causes, because a server lists
// conflicts in no fixed order.
func (p *player) statusOf(refusal error) (status any) {
	if refusal == nil {
		return nil
	}
	var known apierrors.APIStatus
	require.True(p.t, errors.As(refusal, &known), "%v", refusal)
	content := known.Status()
	if content.Details != nil {
		slices.SortFunc(content.Details.Causes, func(a, b metav1.StatusCause) int {
			return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Message, b.Message))
		})
	}
	text, err := stdjson.Marshal(content)
	require.NoError(p.t, err)
	require.NoError(p.t, json.Unmarshal(text, &status))
	return status
}

// remove deletes the object, so that the scenario can be played again.
func (p *player) remove() {
	if len(p.Steps) == 0 {
		return
	}
	require.NoError(p.t, utilerrors.FilterOut(p.delete(), apierrors.IsNotFound))
	unheld := []byte(`{"metadata":{"finalizers":null}}`)
	resource, name := p.Resource(p.t, p.object()), p.object().GetName()
	_, err := resource.Patch(p.t.Context(), name, types.MergePatchType, unheld, metav1.PatchOptions{})
	require.NoError(p.t, utilerrors.FilterOut(err, apierrors.IsNotFound))
}
