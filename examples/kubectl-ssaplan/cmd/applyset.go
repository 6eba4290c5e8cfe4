package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/applyset"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/input"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/statefile"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/manifest"
	"github.com/ssaplan/primitives/ssaplan/set"
)

// applySet is the memory of a set in its cluster.
type applySet struct {
	parent  applyset.Parent
	planner *ssaplan.Planner // of the parent
	client  dynamic.Interface
	mapper  meta.RESTMapper
	manager string // whose apply makes members
	late    bool   // the parent is written as soon as its namespace is there, which comes with the set
}

// openApplySet finds the parent, or what it is going to be, and makes the manifests members. Nothing is written.
func (p *planning) openApplySet(ctx context.Context) (err error) {
	a := &applySet{manager: p.manager}
	disco, err := discovery.NewDiscoveryClientForConfig(p.cluster.config)
	if err != nil {
		return err
	}
	a.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(disco))
	if a.client, err = dynamic.NewForConfig(p.cluster.config); err != nil {
		return err
	}
	a.planner, err = newPlanner(p.cluster.config,
		ssaplan.Options{FieldManager: p.manager + "-applyset", ThrottleRetries: throttleRetries})
	if err != nil {
		return err
	}
	if a.parent.Object, err = a.find(p.applyset, p.cluster.namespace); err != nil {
		return err
	}
	if err := a.read(ctx, p.tooling); err != nil {
		return err
	}
	for i, m := range p.manifests {
		if p.manifests[i].Object, err = applyset.Mark(m.Object, applyset.ID(a.parent.Object)); err != nil {
			p.fail(inputFailures([]*manifest.Error{{Source: m.Source, Object: m.Identity, Problem: err.Error()}})...)
			err = nil
		}
	}
	p.applySet = a
	return nil
}

// find returns the identity of the parent that NAME or RESOURCE.GROUP/NAME means, which is a Secret unless told
// otherwise.
func (a *applySet) find(name, namespace string) (id identity.Identity, err error) {
	resource, name, named := strings.Cut(name, "/")
	if !named {
		resource, name = "secrets", resource
	}
	kind, err := a.mapper.KindFor(schema.ParseGroupResource(resource).WithVersion(""))
	if err != nil {
		return id, fmt.Errorf("--applyset: %w", authresilience.Redact(err))
	}
	mapping, err := a.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return id, fmt.Errorf("--applyset: %w", authresilience.Redact(err))
	}
	id = identity.Identity{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Name: name}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		id.Namespace = namespace
	}
	return id, nil
}

// read reads the parent, if it is there. One that isn't a Secret or a ConfigMap has to be.
func (a *applySet) read(ctx context.Context, tooling string) error {
	id := a.parent.Object
	a.parent.Tooling = tooling
	reading, err := a.planner.Read(ctx, &explain.State{Identity: id})
	switch {
	case err != nil:
		return fmt.Errorf("--applyset: %w", err)
	case reading.Live != nil:
		parent, err := applyset.Read(reading.Live, tooling)
		if err != nil {
			return fmt.Errorf("--applyset: %w", err)
		}
		a.parent = *parent
	case reading.Presence == ssaplan.PresenceUnreadable:
		return fmt.Errorf("--applyset: %s can't be read: %v", id, reading.Warning)
	case id.APIVersion != "v1" || id.Kind != "Secret" && id.Kind != "ConfigMap":
		return fmt.Errorf("--applyset: %s: there is no such object; only a Secret or ConfigMap is made", id)
	}
	return nil
}

// write applies the parent.
func (a *applySet) write(ctx context.Context, parent applyset.Parent) error {
	plan, err := a.planner.Plan(ctx, ssaplan.Request{Manifest: parent.Manifest()})
	if err == nil {
		if a.late = plan.Deferral == ssaplan.DeferralNamespaceNotFound; a.late {
			return nil
		}
		_, err = a.planner.Apply(ctx, plan)
	}
	if err != nil {
		return fmt.Errorf("--applyset: %w", err)
	}
	a.parent = parent
	return nil
}

// isHome reports whether a manifest is that of the parent's namespace.
func (a *applySet) isHome(manifest *unstructured.Unstructured) bool {
	return manifest.GetAPIVersion() == "v1" && manifest.GetKind() == "Namespace" &&
		manifest.GetName() == a.parent.Object.Namespace
}

// stages returns those of a set: the namespace of its parent comes before all that the parent has to tell of.
func (a *applySet) stages() []set.Stage {
	return append([]set.Stage{{Name: "the namespace of the ApplySet", Has: a.isHome}}, set.DefaultStages()...)
}

// left returns the members that are none of the manifests, and why each that can't be the tool's own is kept.
func (a *applySet) left(ctx context.Context, all []manifest.Manifest,
	namespace string) (entries []statefile.Entry, keep []string, err error) {
	stays := map[identity.Identity]bool{}
	for _, m := range all {
		stays[input.Key(m.Identity, namespace)] = true
	}
	for _, kind := range a.parent.Kinds {
		mapping, err := a.mapper.RESTMapping(kind)
		if meta.IsNoMatchError(err) { // its definition is gone, and with it the objects
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		for _, in := range a.namespaces(mapping) {
			members, err := a.client.Resource(mapping.Resource).Namespace(in).List(ctx,
				metav1.ListOptions{LabelSelector: applyset.PartOfLabel + "=" + applyset.ID(a.parent.Object)})
			if err != nil {
				return nil, nil, fmt.Errorf("--applyset: list of %s: %w", kind, authresilience.Redact(err))
			}
			for _, member := range members.Items {
				id := identityOf(&member)
				if !stays[input.Key(id, namespace)] {
					entries = append(entries,
						statefile.Entry{State: &explain.State{Identity: id, UID: string(member.GetUID())}})
					keep = append(keep, a.notOurs(&member))
				}
			}
		}
	}
	return entries, keep, nil
}

// namespaces returns where members of a kind can be.
func (a *applySet) namespaces(mapping *meta.RESTMapping) []string {
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return []string{""}
	}
	all := slices.Clone(a.parent.Namespaces)
	if own := a.parent.Object.Namespace; own != "" && !slices.Contains(all, own) {
		all = append(all, own)
	}
	return all
}

// notOurs returns why an object with the label isn't a member: a controller, or a person, may have copied the label to
// it.
func (a *applySet) notOurs(obj *unstructured.Unstructured) string {
	if owners := obj.GetOwnerReferences(); len(owners) > 0 {
		return fmt.Sprintf("it belongs to %s %s, which may have given it the label", foreign.Text(owners[0].Kind),
			foreign.Text(owners[0].Name))
	}
	label, err := projection.ParsePath(fmt.Sprintf("metadata.labels[%q]", applyset.PartOfLabel))
	if err != nil {
		return err.Error()
	}
	ownership, err := fieldowner.Read(obj.Object)
	if err != nil {
		return err.Error()
	}
	tools := []string{a.manager}
	if strings.HasPrefix(a.parent.Tooling, "kubectl/") {
		tools = append(tools, "kubectl", fieldowner.ClientSideApply)
	}
	for _, owner := range ownership.Of(label) {
		if slices.Contains(tools, owner.Manager.String()) {
			return ""
		}
	}
	return "its label was set by others than " + strings.Join(tools, ", ")
}

// widen makes the parent tell also of what is going to be applied, before that is, so that nothing is lost if the
// program is killed.
func (p *planning) widen(ctx context.Context) error {
	if p.applySet == nil {
		return nil
	}
	if err := p.applySet.write(ctx, p.applySet.parent.With(p.members())); err != nil || !p.applySet.late {
		return err
	}
	if slices.ContainsFunc(p.manifests, func(m manifest.Manifest) bool { return p.applySet.isHome(m.Object) }) {
		return nil
	}
	return fmt.Errorf("--applyset: namespace %q: doesn't exist, and the manifests don't have it",
		foreign.Text(p.applySet.parent.Object.Namespace))
}

// widenLate does what widen does once the namespace of the parent is there, before anything else is applied.
func (p *planning) widenLate(ctx context.Context) error {
	if p.applySet == nil || !p.applySet.late {
		return nil
	}
	err := p.applySet.write(ctx, p.applySet.parent.With(p.members()))
	if err == nil && p.applySet.late {
		err = fmt.Errorf("--applyset: namespace %q: isn't there", foreign.Text(p.applySet.parent.Object.Namespace))
	}
	return err
}

// narrow makes the parent tell of no more than what is there, after everything went well.
func (p *planning) narrow(ctx context.Context) error {
	if p.applySet == nil || !p.prune {
		return nil
	}
	ctx, cancel := lastly(ctx)
	defer cancel()
	members := p.members()
	if p.removing != nil {
		members = append(members, p.removing.remaining()...)
	}
	return p.applySet.write(ctx, p.applySet.parent.Of(members))
}

// members returns the objects of the manifests, as far as is known in which namespaces they are.
func (p *planning) members() (members []identity.Identity) {
	for _, m := range p.all {
		members = append(members, m.Identity)
	}
	for _, item := range p.items {
		if item != nil {
			members = append(members, item.Object)
		}
	}
	return members
}

// remaining returns the objects that were not deleted.
func (r *removing) remaining() (left []identity.Identity) {
	for i, e := range r.entries {
		if !r.gone[i] {
			left = append(left, e.State.Identity)
		}
	}
	return left
}

// keeping makes members that the host keeps of those for which there is a reason.
func keeping(members []set.Member, keep []string) []set.Member {
	for i := range keep {
		members[i].Keep = keep[i]
	}
	return members
}

// validateApplySet returns an error if the flags don't go together.
func (o *options) validateApplySet() error {
	switch {
	case o.prune && o.state == "" && o.applyset == "" || o.prune && o.subresource != "":
		return errors.New(
			"--prune: deletes what a state file or an ApplySet remembers; name one with --state or --applyset, and " +
				"no --subresource")
	case o.applyset != "" && o.subresource != "":
		return errors.New("--applyset: only of objects themselves; leave it out with --subresource")
	}
	return nil
}
