package noop

import (
	"context"
	"crypto/sha256"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/cached"
	"github.com/ssaplan/primitives/internal/clock"
	facts "github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/ssaplan/internal/ordered"
	"github.com/ssaplan/primitives/ssaplan/internal/warnings"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// Configuration is the part of a server's configuration that the result of an apply depends on: the server's version,
// the CRD of the object's kind, webhooks, and admission policies with their bindings.
type Configuration struct {
	// Fingerprint changes when the configuration changes. It has three parts: one for webhooks and policies, one for
	// the server's version, and one for the CRD and for the schemas of the kind's group and version.
	Fingerprint [3]string
	// Since is when the server was first seen with it.
	Since time.Time
	// Unseen names the parts that the caller can't read. A change of these parts isn't noticed.
	Unseen []string
}

// ConfigurationReader reads the configuration of one server. It is safe for concurrent use; see
// [NewConfigurationReader].
type ConfigurationReader struct {
	server *wire.Server
	parts  cached.Values[view]
}

// NewConfigurationReader returns the reader of a server's configuration. It reads nothing yet.
func NewConfigurationReader(of *wire.Server) *ConfigurationReader {
	return &ConfigurationReader{server: of}
}

// view is how a part of the configuration looked.
type view struct {
	// prints are texts that change when the part changes. The key is the group and version that a text is about, and ""
	// for the rest of the part.
	prints map[string]string
	unseen []string  // what the caller may not look at
	since  time.Time // when it was seen first
}

// look returns a part as it was at most interval ago.
func (r *ConfigurationReader) look(ctx context.Context, part string, interval time.Duration,
	read func(context.Context) (view, error)) (view, error) {
	return r.parts.Of(part).Get(ctx, interval, func(ctx context.Context, before view) (view, error) {
		seen, err := read(warnings.Quiet(ctx))
		if err != nil {
			return view{}, err
		}
		seen.since = clock.Now(ctx)
		if !before.since.IsZero() && maps.Equal(seen.prints, before.prints) &&
			slices.Equal(seen.unseen, before.unseen) {
			seen.since = before.since
		}
		return seen, nil
	})
}

// Read returns the configuration that decides about applies to an object of a resource, as it was at most interval ago.
// A part that the caller may not read is no error.
func (r *ConfigurationReader) Read(ctx context.Context, resource schema.GroupVersionResource,
	interval time.Duration) (Configuration, error) {
	admission, err := r.look(ctx, "admission", interval, r.admission)
	if err != nil {
		return Configuration{}, err
	}
	definition, about, err := r.definition(ctx, resource, interval)
	if err != nil {
		return Configuration{}, err
	}
	custom, err := r.customDefinition(ctx, resource, interval)
	if err != nil {
		return Configuration{}, err
	}
	c := Configuration{
		Fingerprint: [3]string{admission.prints[""], definition.prints[""],
			definition.prints[about] + custom.prints[""]},
		Since:  slices.MaxFunc([]time.Time{admission.since, definition.since, custom.since}, time.Time.Compare),
		Unseen: slices.Concat(admission.unseen, definition.unseen, custom.unseen),
	}
	if _, seen := definition.prints[about]; !seen {
		c.Unseen = append(c.Unseen, "the schemas of "+about)
	}
	return c, nil
}

// customDefinition looks at the CRD of a custom resource, and at nothing for other kinds. It has what no schema has:
// how objects are converted.
func (r *ConfigurationReader) customDefinition(ctx context.Context, resource schema.GroupVersionResource,
	interval time.Duration) (view, error) {
	if facts.IsBuiltin(map[string]any{"apiVersion": resource.GroupVersion().String()}) {
		return view{}, nil
	}
	name := resource.GroupResource().String()
	return r.look(ctx, name, interval, func(ctx context.Context) (view, error) {
		obj, err := r.server.Definitions().Get(ctx, name, metav1.GetOptions{})
		p := partOf("", err)
		if err == nil {
			p.print = string(obj.GetUID()) + "@" + obj.GetResourceVersion()
		}
		seen := view{prints: map[string]string{"": p.print}}
		if p.unseen {
			seen.unseen = []string{"the CRD " + name}
		}
		return seen, p.err
	})
}

// part is what was read of a part of the configuration.
type part struct {
	print  string
	unseen bool // because the caller may not
	err    error
}

// partOf returns the part that was read, or the part for an error of the read. A missing kind is no error, and a
// forbidden read makes the part unseen.
func partOf(print string, err error) part {
	switch class := authresilience.Classify(err); {
	case err == nil:
		return part{print: print}
	case apierrors.IsForbidden(err): // by RBAC or another authorizer
		return part{unseen: true}
	case class == authresilience.ClassTypeNotServed, class == authresilience.ClassNotFound:
		return part{}
	}
	return part{err: err}
}

// admission reads the versions of the webhooks, and of the admission policies with their bindings.
func (r *ConfigurationReader) admission(ctx context.Context) (view, error) {
	var unseen, prints []string
	if !r.server.Lists() {
		for _, kind := range facts.AdmissionKinds {
			unseen = append(unseen, kind.Resource)
		}
		return view{prints: map[string]string{"": ""}, unseen: unseen}, nil
	}
	for i, p := range ordered.Map(ctx, len(facts.AdmissionKinds), len(facts.AdmissionKinds), r.admissionKind) {
		if p.err != nil {
			return view{}, p.err
		}
		if p.unseen {
			unseen = append(unseen, facts.AdmissionKinds[i].Resource)
		}
		prints = append(prints, p.print)
	}
	return view{prints: map[string]string{"": digest(strings.Join(prints, " "))}, unseen: unseen}, nil
}

func (r *ConfigurationReader) admissionKind(ctx context.Context, i int) part {
	kind := facts.AdmissionKinds[i]
	for _, version := range kind.Versions {
		gv := schema.GroupVersion{Group: facts.AdmissionGroup, Version: version}
		served := server.Kind{GroupVersionKind: gv.WithKind(kind.Kind), Resource: kind.Resource}
		objects := r.server.Resource(served, identity.Identity{APIVersion: gv.String(), Kind: kind.Kind})
		print, err := objects.Versions(ctx)
		if authresilience.Classify(err) != authresilience.ClassTypeNotServed {
			return partOf(print, err)
		}
	}
	return part{}
}

// definition looks at the server's version and at the versions of its schemas. A server that isn't a Versioner shows
// neither; then only the CRD of a custom resource is seen.
func (r *ConfigurationReader) definition(ctx context.Context, resource schema.GroupVersionResource,
	interval time.Duration) (seen view, about string, err error) {
	about = resource.GroupVersion().String()
	if !r.server.HasVersions() {
		return view{prints: map[string]string{"": "", about: ""}, unseen: unseenVersion}, about, nil
	}
	seen, err = r.look(ctx, "definitions", interval, r.versions)
	return seen, about, err
}

// unseenVersion is the unseen part of a caller that may not read the version of the server.
var unseenVersion = []string{"the server's version"}

func (r *ConfigurationReader) versions(ctx context.Context) (view, error) {
	version, schemas, err := r.server.Versions(ctx)
	if err != nil {
		return view{}, err
	}
	seen := view{prints: map[string]string{"": digest(version)}}
	if version == "" {
		seen.unseen = unseenVersion
	}
	for gv, text := range schemas {
		seen.prints[gv.String()] = digest(text)
	}
	return seen, nil
}

// digest returns a short text for a long one.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return string(sum[:])
}
