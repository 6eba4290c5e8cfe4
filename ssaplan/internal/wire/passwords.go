package wire

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/identity"
	builtin "github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// passwordsAge is how old the knowledge may be which fields are passwords.
const passwordsAge = time.Minute

// Passwords returns the fields of a kind that definitions mark with the format password: the served one and those of
// [Server.LearnDefinition]. All fields are if the marks aren't known: of a kind that wasn't located yet or isn't
// served, or whose definition can't be read. The kinds of Kubernetes that are served have no marks.
//
// Without [Options.Passwords] no field is one.
func (s *Server) Passwords(kind schema.GroupVersionKind) projection.Patterns {
	if !s.learns {
		return nil
	}
	var key any = kind // made once
	served, isLearned := s.passwords.Load(key)
	coming, isComing := s.coming.Load(key)
	_, isUnserved := s.unserved.Load(key)
	var patterns projection.Patterns
	switch {
	case isLearned:
		patterns = served.(projection.Patterns)
	case isComing && isUnserved, !isUnserved && isKubernetes(kind), s.shows[kind.GroupKind()]:
	default:
		return secrecy.Unmarked
	}
	if isComing {
		patterns = slices.Concat(patterns, coming.(projection.Patterns))
	}
	return patterns
}

// MarksUnknown reports whether all fields of a kind are passwords because its marks aren't known.
func (s *Server) MarksUnknown(kind schema.GroupVersionKind) bool {
	return secrecy.IsUnmarked(s.Passwords(kind))
}

// LearnCarried finds out which fields of the objects inside of an object are passwords, such as those of the manifest
// in an Object of Crossplane. All fields of a kind are that isn't known to be served.
func (s *Server) LearnCarried(ctx context.Context, obj *unstructured.Unstructured) {
	if !s.learns || obj == nil {
		return
	}
	for _, kind := range secrecy.Carried(obj.Object) {
		if _, err := s.FindAndLearn(ctx, kind); err != nil {
			s.unserved.Store(kind, true) // also if a mapper calls a version that isn't served ambiguous, or if the server can't be asked
		}
	}
}

// LearnDefinition makes known which fields the kinds of a definition mark as passwords, which the server doesn't serve
// yet or serves with another definition. A definition that can't be read marks all fields.
func (s *Server) LearnDefinition(definition map[string]any) {
	group, _, _ := unstructured.NestedString(definition, "spec", "group")
	name, _, _ := unstructured.NestedString(definition, "spec", "names", "kind")
	versions, _, _ := unstructured.NestedSlice(definition, "spec", "versions")
	for _, v := range versions {
		v, _ := v.(map[string]any)
		version, _ := v["name"].(string)
		marks := secrecy.Unmarked
		if found, err := schemaIn(definition, version); err == nil {
			marks = secrecy.Passwords(found, nil)
		}
		s.coming.Store(schema.GroupVersionKind{Group: group, Version: version, Kind: name}, marks)
	}
}

// isKubernetes reports whether a kind is in a group of Kubernetes itself.
func isKubernetes(kind schema.GroupVersionKind) bool {
	return kind.Version != "" && builtin.IsBuiltinGroup(kind.Group)
}

// FindAndLearn is [Server.Find], and finds out which fields of the kind are passwords.
func (s *Server) FindAndLearn(ctx context.Context, kind schema.GroupVersionKind) (server.Kind, error) {
	served, err := s.Find(ctx, kind)
	switch {
	case err == nil && s.learns:
		s.learn(ctx, kind, served.GroupVersionResource())
	case meta.IsNoMatchError(err):
		s.unserved.Store(kind, true)
	}
	return served, err
}

// learn finds out which fields of a kind that the server serves are passwords. The kinds of Kubernetes mark none. For
// others, the definition of the first kind of a group and version is read, and then the document of all schemas, so
// that many kinds take few requests. If neither can be read, all fields are.
func (s *Server) learn(ctx context.Context, kind schema.GroupVersionKind, resource schema.GroupVersionResource) {
	if _, was := s.unserved.Load(kind); was {
		s.unserved.Delete(kind)
	}
	if isKubernetes(kind) {
		return
	}
	seen, err := s.views.of("passwords of "+kind.String()).look(ctx, passwordsAge, func(ctx context.Context) (view, error) {
		marks, err := s.marksOf(ctx, kind, resource)
		return view{prints: map[string]string{"": marks}}, err
	})
	marks := seen.prints[""]
	if err != nil {
		marks = secrecy.EveryField
	}
	s.passwords.Store(kind, patternsOf(marks))
}

// printed returns patterns as a text, of which [patternsOf] makes the patterns again.
func printed(patterns projection.Patterns) string {
	texts := make([]string, len(patterns))
	for i, p := range patterns {
		texts[i] = p.String()
	}
	return strings.Join(texts, "\n")
}

func patternsOf(text string) (patterns projection.Patterns) {
	for line := range strings.Lines(text) {
		if p, err := projection.ParsePattern(strings.TrimSuffix(line, "\n")); err == nil { // as it was one before
			patterns = append(patterns, p)
		}
	}
	return patterns
}

// marksOf returns the patterns of a kind's passwords as a text. The first kind of a group and version is looked up in
// its definition, and others in the document of all schemas. Where one of these lacks it, as for the kinds of an
// aggregated API, or can't be read, the other has it.
func (s *Server) marksOf(ctx context.Context, kind schema.GroupVersionKind, resource schema.GroupVersionResource) (string, error) {
	look := []func() (string, error){
		func() (string, error) { return s.marksInDefinition(ctx, kind, resource) },
		func() (string, error) { return s.marksInDocument(ctx, kind) },
	}
	if first, _ := s.firstOf.LoadOrStore(kind.GroupVersion(), kind); first != kind {
		slices.Reverse(look)
	}
	marks, err := look[0]()
	if err == nil {
		return marks, nil
	}
	marks, otherErr := look[1]()
	if otherErr != nil {
		return "", errors.Join(err, otherErr)
	}
	return marks, nil
}

func (s *Server) marksInDefinition(ctx context.Context, kind schema.GroupVersionKind, resource schema.GroupVersionResource) (string, error) {
	definitions := s.Resource(server.Kind{}, identity.Identity{}).Definitions()
	definition, err := definitions.Get(ctx, resource.GroupResource().String(), metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	found, err := schemaIn(definition.Object, kind.Version)
	return printed(secrecy.Passwords(found, nil)), err
}

// marksInDocument looks a kind up in the document of all schemas of its group and version, which is read once for all.
func (s *Server) marksInDocument(ctx context.Context, kind schema.GroupVersionKind) (string, error) {
	seen, err := s.views.of("schemas of "+kind.GroupVersion().String()).look(ctx, passwordsAge, func(ctx context.Context) (view, error) {
		text, err := s.kinds.schemas(ctx, kind.GroupVersion())
		if err != nil {
			return view{}, err
		}
		marks, err := marksAmong(text, kind.GroupVersion())
		return view{prints: marks}, err
	})
	if err != nil {
		return "", err
	}
	marks, found := seen.prints[kind.Kind]
	if !found {
		return "", errNoSchema
	}
	return marks, nil
}

// errNoSchema says that a definition, or a document, has no schema of a kind.
var errNoSchema = errors.New("no schema of the kind")

// schemaIn returns the schema of a version from a definition.
func schemaIn(definition map[string]any, version string) (map[string]any, error) {
	spec, _ := definition["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		v, _ := v.(map[string]any)
		if v["name"] != version {
			continue
		}
		schemas, _ := v["schema"].(map[string]any)
		if found, ok := schemas["openAPIV3Schema"].(map[string]any); ok {
			return found, nil
		}
	}
	return nil, errNoSchema
}

// marksAmong returns the patterns of the passwords of each kind in a document, as texts.
func marksAmong(text []byte, gv schema.GroupVersion) (map[string]string, error) {
	var document struct {
		Components struct {
			Schemas map[string]map[string]any `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	marks := map[string]string{}
	for _, found := range document.Components.Schemas {
		kinds, _ := found["x-kubernetes-group-version-kind"].([]any)
		for _, of := range kinds {
			of, _ := of.(map[string]any)
			if name, isText := of["kind"].(string); isText && of["group"] == gv.Group && of["version"] == gv.Version {
				marks[name] = printed(secrecy.Passwords(found, document.Components.Schemas))
			}
		}
	}
	return marks, nil
}
