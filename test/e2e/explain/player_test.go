package explain_test

import (
	"cmp"
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/ssaplan/primitives/projection"
)

// player plays one scenario.
type player struct {
	stage
	scenario
	answers answers
	// began are the seconds in which the steps began, last is that in which the server answered last.
	began []int64
	last  int64
}

func (p *player) play(ctx context.Context) (r *recording, err error) {
	if !p.NoNamespace {
		if err := p.makeNamespace(ctx); err != nil {
			return nil, err
		}
	}
	defer func() { err = errors.Join(err, p.remove(ctx)) }()
	for i, st := range p.Steps {
		if err := p.step(ctx, st); err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	sent := p.sent(p.planned(), p.Raw)
	if err := p.try(ctx, sent); err != nil {
		return nil, err
	}
	anonymous, err := p.answers.anonymous(p.scenario, p.began)
	return &recording{why: p.Why, manifest: sent.Object, answers: anonymous}, err
}

func (p *player) makeNamespace(ctx context.Context) error {
	namespace := &unstructured.Unstructured{}
	namespace.SetAPIVersion("v1")
	namespace.SetKind("Namespace")
	namespace.SetName(p.Name)
	resource, _, err := p.resource(namespace)
	if err != nil {
		return err
	}
	if _, err = resource.Create(ctx, namespace, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
		return nil // of a run before this one
	}
	return err
}

// resource returns access to the objects of obj's kind, and whether they are in the scenario's namespace.
func (p *player) resource(obj *unstructured.Unstructured) (dynamic.ResourceInterface, bool, error) {
	kind := obj.GroupVersionKind()
	mapping, err := p.Mapper.RESTMapping(schema.GroupKind{Group: kind.Group, Kind: kind.Kind}, kind.Version)
	if err != nil {
		return nil, false, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return p.Client.Resource(mapping.Resource), false, nil
	}
	return p.Client.Resource(mapping.Resource).Namespace(p.Name), true, nil
}

// sent returns the manifest as the player sends it: with the namespace, and normalized unless raw is true.
func (p *player) sent(manifest map[string]any, raw bool) *unstructured.Unstructured {
	if !raw {
		manifest, _ = projection.Normalize(manifest, "")
	}
	obj := &unstructured.Unstructured{Object: manifest}
	if _, namespaced, err := p.resource(obj); err == nil && namespaced {
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
func (p *player) step(ctx context.Context, st step) (err error) {
	p.nextSecond()
	defer func() { p.last = time.Now().Unix() }()
	if st.By == "" {
		st.By = manager
	}
	switch st.Do {
	case "apply":
		return p.apply(ctx, st)
	case "create", "update":
		return p.write(ctx, st)
	case "delete":
		resource, _, err := p.resource(p.object())
		if err != nil {
			return err
		}
		return resource.Delete(ctx, p.object().GetName(), metav1.DeleteOptions{GracePeriodSeconds: new(int64)})
	}
	return p.patch(ctx, st)
}

// object returns the object that the scenario is about, as far as it is named.
func (p *player) object() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: p.Manifest}
}

func (p *player) apply(ctx context.Context, st step) error {
	body, _ := p.body(st).(map[string]any)
	sent := p.sent(body, false)
	answer, err := p.dispatch(ctx, sent, metav1.PatchOptions{FieldManager: st.By, Force: new(true)}, st.Subresource)
	if err != nil {
		return err
	}
	if p.Remember && st.By == manager {
		p.answers.PriorManifest, p.answers.PriorObject = runtime.DeepCopyJSON(sent.Object), answer.Object
	}
	return p.settle(ctx)
}

// dispatch sends an apply, of a subresource if one is named, and returns the server's answer.
func (p *player) dispatch(
	ctx context.Context, sent *unstructured.Unstructured, options metav1.PatchOptions, subresource string,
) (*unstructured.Unstructured, error) {
	resource, _, err := p.resource(sent)
	if err != nil {
		return nil, err
	}
	body, err := stdjson.Marshal(sent.Object)
	if err != nil {
		return nil, err
	}
	return resource.Patch(ctx, sent.GetName(), types.ApplyPatchType, body, options, below(subresource)...)
}

func below(subresource string) []string {
	if subresource == "" {
		return nil
	}
	return []string{subresource}
}

// write creates or updates the object.
func (p *player) write(ctx context.Context, st step) error {
	body, _ := p.body(st).(map[string]any)
	obj := &unstructured.Unstructured{Object: body}
	resource, _, err := p.resource(obj)
	if err != nil {
		return err
	}
	if st.Do == "create" {
		_, err = resource.Create(ctx, obj, metav1.CreateOptions{FieldManager: st.By})
		return errors.Join(err, p.settle(ctx))
	}
	live, err := resource.Get(ctx, obj.GetName(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	live.Object, _ = mergePatched(live.Object, body).(map[string]any)
	_, err = resource.Update(ctx, live, metav1.UpdateOptions{FieldManager: st.By}, below(st.Subresource)...)
	return err
}

func (p *player) patch(ctx context.Context, st step) error {
	patches := map[string]types.PatchType{
		"merge": types.MergePatchType, "strategic": types.StrategicMergePatchType, "json": types.JSONPatchType,
	}
	kind, known := patches[st.Do]
	if !known {
		return fmt.Errorf("what is %q?", st.Do)
	}
	resource, _, err := p.resource(p.object())
	if err != nil {
		return err
	}
	body, err := stdjson.Marshal(st.Body)
	if err != nil {
		return err
	}
	options := metav1.PatchOptions{FieldManager: st.By}
	_, err = resource.Patch(ctx, p.object().GetName(), kind, body, options, below(st.Subresource)...)
	return err
}

// settle waits until the server itself writes a definition no more.
func (p *player) settle(ctx context.Context) error {
	if p.object().GetKind() != "CustomResourceDefinition" {
		return nil
	}
	resource, _, err := p.resource(p.object())
	if err != nil {
		return err
	}
	version := ""
	isDone := func(ctx context.Context) (bool, error) {
		live, err := resource.Get(ctx, p.object().GetName(), metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		conditions, _, _ := unstructured.NestedSlice(live.Object, "status", "conditions")
		same := version == live.GetResourceVersion()
		version = live.GetResourceVersion()
		isInstalling := slices.ContainsFunc(conditions, func(condition any) bool {
			c, _ := condition.(map[string]any)
			return c["reason"] == "Installing"
		})
		return same && len(conditions) >= 2 && !isInstalling, nil
	}
	return wait.PollUntilContextTimeout(ctx, 500*time.Millisecond, time.Minute, true, isDone)
}

// try reads the object and tries the apply. It fails if another client changed the object in between.
func (p *player) try(ctx context.Context, sent *unstructured.Unstructured) error {
	p.nextSecond()
	live, err := p.read(ctx, sent)
	if err != nil {
		return err
	}
	answer, refusal := p.dryRun(ctx, sent, !p.RefuseConflicts)
	if (refusal != nil) != p.Refused {
		return fmt.Errorf("refused: %v, but: %w", p.Refused, cmp.Or(refusal, errors.New("it isn't")))
	}
	if p.answers.Refusal, err = statusOf(refusal); err != nil {
		return err
	}
	p.answers.Live, p.answers.Answer = content(live), content(answer)
	if p.RefuseConflicts && apierrors.IsConflict(refusal) {
		forced, err := p.dryRun(ctx, sent, true)
		if err != nil {
			return err
		}
		p.answers.Forced = content(forced)
	}
	now, err := p.read(ctx, sent)
	if err == nil && !reflect.DeepEqual(live, now) {
		return errors.New("the object changed while the apply was tried")
	}
	return err
}

func (p *player) dryRun(
	ctx context.Context, sent *unstructured.Unstructured, force bool,
) (*unstructured.Unstructured, error) {
	options := metav1.PatchOptions{FieldManager: manager, Force: &force, DryRun: []string{metav1.DryRunAll}}
	return p.dispatch(ctx, sent, options, "")
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
func statusOf(refusal error) (status any, err error) {
	var known apierrors.APIStatus
	if refusal == nil {
		return nil, nil
	}
	if !errors.As(refusal, &known) {
		return nil, refusal
	}
	content := known.Status()
	if content.Details != nil {
		slices.SortFunc(content.Details.Causes, func(a, b metav1.StatusCause) int {
			return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Message, b.Message))
		})
	}
	text, err := stdjson.Marshal(content)
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(text, &status)
	return status, err
}

// read returns the object, in the version of the manifest, or nil if there is none.
func (p *player) read(ctx context.Context, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	resource, _, err := p.resource(manifest)
	if err != nil {
		return nil, err
	}
	obj, err := resource.Get(ctx, manifest.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return obj, err
}

// remove deletes the object, so that the scenario can be played again.
func (p *player) remove(ctx context.Context) error {
	resource, _, err := p.resource(p.object())
	if err != nil || len(p.Steps) == 0 {
		return err
	}
	name := p.object().GetName()
	err = resource.Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	unheld := []byte(`{"metadata":{"finalizers":null}}`)
	_, err = resource.Patch(ctx, name, types.MergePatchType, unheld, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
