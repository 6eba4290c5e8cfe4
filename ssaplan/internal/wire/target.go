package wire

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	facts "github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/internal/precondition"
	"github.com/ssaplan/primitives/ssaplan/internal/scale"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
)

// Target is an object in the cluster, or a subresource of it: its identity with the namespace resolved, and access to
// it.
type Target struct {
	*Resource
	Identity identity.Identity
	Scope    identity.Scope
	// Warnings are about the namespace.
	Warnings []foreign.Text

	subresource string
	replicas    scale.Places // of a scale
	// unrecorded is the object that [Target.Recorded] asked for last, and recorded what it returned.
	unrecorded, recorded *unstructured.Unstructured
}

// ErrNoNamespace says that an object of a kind with namespaces names none, and there is no default.
var ErrNoNamespace = errors.New("metadata.namespace: missing, and there is no default namespace: name the one that the object is meant to be in")

// Remembered returns the object that a host remembers by its UID, nil if it isn't there or can't be read, and how many
// requests that took.
func (s *Server) Remembered(ctx context.Context, id identity.Identity, uid, defaultNamespace string) (*unstructured.Unstructured, int) {
	target, err := s.Locate(ctx, id, "", defaultNamespace)
	if err != nil {
		return nil, 0
	}
	live, err := target.Live(ctx)
	if err != nil || live == nil || string(live.GetUID()) != uid {
		return nil, target.Requests()
	}
	return live, target.Requests()
}

// Locate finds out where an object lives; one of a namespaced kind that names no namespace is in the default one, and
// [ErrNoNamespace] if that is empty. A kind that the server doesn't serve is an error for which meta.IsNoMatchError
// holds.
func (s *Server) Locate(ctx context.Context, id identity.Identity, subresource, defaultNamespace string) (*Target, error) {
	gvk := schema.GroupVersionKind{Group: id.Group(), Version: id.Version(), Kind: id.Kind}
	kind, err := s.Find(ctx, gvk)
	if err != nil {
		if meta.IsNoMatchError(err) {
			s.unserved.Store(gvk, true)
		}
		return nil, err
	}
	if s.learns {
		s.learn(ctx, gvk, kind.GroupVersionResource())
	}
	t := &Target{Scope: identity.ScopeCluster, subresource: subresource}
	if kind.Namespaced {
		t.Scope = identity.ScopeNamespaced
	}
	var warning string
	t.Identity, warning = id.Resolve(t.Scope, defaultNamespace)
	if kind.Namespaced && t.Identity.Namespace == "" {
		return nil, ErrNoNamespace
	}
	if warning != "" {
		t.Warnings = append(t.Warnings, foreign.Text(warning))
	}
	t.Resource = s.Resource(kind, t.Identity)
	if err := t.findReplicas(ctx); err != nil {
		return nil, err
	}
	return t, nil
}

// findReplicas finds out where the objects have their number of replicas, if that is what the target is. The definition
// of a custom resource says so. Where there is none, or the caller may not read it, spec.replicas is all that can be
// assumed.
func (t *Target) findReplicas(ctx context.Context) error {
	if t.subresource != "scale" || facts.IsBuiltin(map[string]any{"apiVersion": t.Identity.APIVersion}) {
		return nil
	}
	definition, err := t.Definitions().Get(ctx, t.resource.GroupResource().String(), metav1.GetOptions{})
	switch class := authresilience.Classify(err); {
	case err == nil:
		t.replicas = scale.Defined(definition)
	case class == authresilience.ClassAuthorization || class == authresilience.ClassNotFound:
		t.Warnings = append(t.Warnings, "the CRD can't be read, so the number of replicas is taken to be at spec.replicas")
	default:
		return err
	}
	return nil
}

// Supplied returns the live object that the host has, or nil if it has none that is of use: without managedFields,
// which some caches drop, it doesn't say who owns what, and without a version or for a manifest that names one, nothing
// can be tried for just that version. One without apiVersion and kind, as typed clients read it, is taken for what the
// target is.
func (t *Target) Supplied(live, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if live == nil {
		return nil, nil
	}
	if IsLossy(live) {
		live = t.completed(live)
	}
	id, err := identity.Of(live.Object)
	if err != nil {
		return nil, fmt.Errorf("supplied live object: %w", err)
	}
	if id != t.Identity {
		return nil, fmt.Errorf("the supplied live object is another one: %s", id)
	}
	metadata, _ := live.Object["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	if len(entries) == 0 || precondition.Complete(live) != nil || isConditional(manifest) {
		return nil, nil
	}
	return t.seen(live), nil
}

// isConditional reports whether a manifest says which object in which version it is for.
func isConditional(manifest *unstructured.Unstructured) bool {
	metadata, _ := manifest.Object["metadata"].(map[string]any)
	return slices.ContainsFunc(facts.Preconditions, func(name string) bool { return metadata[name] != nil })
}

// seen returns what of a live object the target is: the object itself, or its scale. Other subresources show in the
// object.
func (t *Target) seen(live *unstructured.Unstructured) *unstructured.Unstructured {
	if _, _, other := facts.OfSubresource(t.subresource); other {
		return scale.Of(live, t.replicas)
	}
	return live
}

// Live returns the object as it is, or nil if there is none. Only the API server's own word counts for that: a proxy's
// 404 is an error. A subresource is read through the object.
func (t *Target) Live(ctx context.Context) (*unstructured.Unstructured, error) {
	obj, err := t.Resource.Get(ctx, t.Identity.Name, metav1.GetOptions{})
	switch authresilience.Classify(err) {
	case authresilience.ClassNotFound:
		return nil, absent(t.Identity.Name, err)
	case authresilience.ClassNamespaceNotFound:
		return nil, nil
	}
	if obj, err = answered(t.Identity, obj, err); err == nil {
		err = precondition.Complete(obj)
	}
	if err != nil {
		return nil, err
	}
	t.server.LearnCarried(ctx, obj)
	return t.seen(obj), nil
}

// NotFound returns the error that the object isn't there, as a server words it.
func (t *Target) NotFound() error {
	return apierrors.NewNotFound(t.resource.GroupResource(), t.Identity.Name)
}

// absent returns an error if a 404 is about an object of another name, as one can be that a cache or a proxy has mixed
// up.
func absent(name string, err error) error {
	var missing apierrors.APIStatus
	if !errors.As(err, &missing) || missing.Status().Details == nil {
		return nil
	}
	if other := missing.Status().Details.Name; other != "" && other != name {
		return secrecy.Quoting(fmt.Sprintf("the server was asked for %q and answers that another object isn't there: check the proxies in front "+
			"of the server", foreign.Text(name)), "%q", other)
	}
	return nil
}

// WithNamespace reports whether an object that is gone went with its namespace. A caller who may not read namespaces
// doesn't learn that.
func (t *Target) WithNamespace(ctx context.Context) bool {
	if t.Identity.Namespace == "" {
		return false
	}
	namespaces := t.Resource.beside(namespaceKind)
	_, err := namespaces.Get(ctx, t.Identity.Namespace, metav1.GetOptions{})
	class := authresilience.Classify(err)
	return class == authresilience.ClassNotFound || class == authresilience.ClassNamespaceNotFound
}

// Apply sends a server-side apply, and returns the object as the server made it, or for a dry run would make it. Live
// is the object as it was, nil if there was none or it isn't known; the answer may share memory with it.
func (t *Target) Apply(ctx context.Context, live *unstructured.Unstructured, body []byte,
	options metav1.PatchOptions, dryRun ...string) (*unstructured.Unstructured, error) {
	options.DryRun = dryRun
	id := t.Identity
	if t.subresource == "" {
		obj, err := t.Resource.Apply(ctx, id.Name, body, options)
		return answered(id, obj, err)
	}
	apiVersion, kind, other := facts.OfSubresource(t.subresource)
	if other {
		id.APIVersion, id.Kind = apiVersion, kind
	}
	obj, err := t.Resource.Apply(ctx, id.Name, body, options, t.subresource)
	if obj, err = answered(id, obj, err); err != nil || !other {
		return obj, t.replicas.Refused(t.Identity.APIVersion, err)
	}
	applier := fieldowner.Applier{Manager: options.FieldManager, Subresource: t.subresource}
	return scale.Applied(obj, live, applier, t.Identity.APIVersion), nil
}

// Patch sends a JSON patch of the live object itself, and returns the object as the server made it, or for a dry run
// would make it. The patch has to name the live object's resourceVersion or, unless it is a dry run, to be
// [precondition.ByRecord]. An answer to a dry run in another version proves that it wrote, and is an error. Otherwise
// the answer has to be [precondition.Written].
func (t *Target) Patch(ctx context.Context, live *unstructured.Unstructured, patch []byte, manager string,
	dryRun ...string) (*unstructured.Unstructured, error) {
	obj, err := t.Resource.JSONPatch(ctx, t.Identity.Name, patch, metav1.PatchOptions{FieldManager: manager, DryRun: dryRun})
	obj, err = answered(t.Identity, obj, precondition.AsOutdated(err, patch, t.resource.GroupResource(), t.Identity.Name))
	if err == nil {
		err = precondition.Complete(obj)
	}
	switch {
	case err != nil:
	case len(dryRun) == 0:
		err = precondition.Written(live, obj)
	default:
		if err = precondition.Tried(live, obj); err == nil && obj.GetResourceVersion() != live.GetResourceVersion() {
			t.wrote = precondition.DryRunWrote(obj)
			err = t.wrote
		}
	}
	if err != nil {
		return nil, err
	}
	return obj, nil
}

// answered returns the object that a request was answered with, if it is the one of that identity: whatever stands in
// front of a server can answer 200 with something else.
func answered(want identity.Identity, obj *unstructured.Unstructured, err error) (*unstructured.Unstructured, error) {
	if err != nil {
		return nil, err
	}
	if id, err := identity.Of(obj.Object); err != nil || id != want {
		return nil, secrecy.Quoting("the answer is another object: check the server's address", "%q, kind %q", obj.GetName(), obj.GetKind())
	}
	return obj, nil
}
