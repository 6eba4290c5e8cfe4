package identity

import (
	"fmt"
	"strings"

	"github.com/ssaplan/primitives/projection/foreign"
)

// Identity names an object in a cluster: there is at most one object with the same group, kind, namespace and name. It
// is comparable, and usable as a map key. The zero value names nothing.
type Identity struct {
	// APIVersion is "group/version", or "version" alone for the core group.
	APIVersion string
	// Kind is the kind as the manifest spells it, "Deployment".
	Kind string
	// Namespace is empty for cluster-scoped kinds, and for manifests that leave the choice to the client.
	Namespace string
	// Name is metadata.name.
	Name string
}

// Of returns the identity that obj declares, exactly as it is written there. obj is a decoded manifest or the content
// of an unstructured object; it is not modified.
//
// A namespace that is absent or null is returned as "". Everything else that is missing or has the wrong type is an
// error of type [*FieldError]: an apiVersion that isn't "version" or "group/version", an absent kind or name, a name
// that the server generates (generateName without name), metadata that isn't a map.
func Of(obj map[string]any) (Identity, error) {
	if obj == nil {
		return Identity{}, &FieldError{Problem: "no object (nil)"}
	}
	r := reader{}
	id := Identity{
		APIVersion: r.required(obj, "apiVersion", "apiVersion"),
		Kind:       r.required(obj, "kind", "kind"),
	}
	r.check("apiVersion", id.APIVersion, apiVersionProblem)
	r.check("kind", id.Kind, slashProblem)

	meta := r.metadata(obj)
	id.Namespace = r.optional(meta, "namespace", "metadata.namespace")
	r.check("metadata.namespace", id.Namespace, slashProblem)
	id.Name = r.name(meta)
	r.check("metadata.name", id.Name, slashProblem)
	if r.err != nil {
		return Identity{}, r.err
	}
	return id, nil
}

// String returns the identity as it is printed to people: "apps/v1/Deployment default/web", or "v1/Namespace web" when
// there is no namespace. Parts that are too long for any server are cut, so that error messages stay readable.
func (id Identity) String() string {
	const longest = 300
	part := func(text string) foreign.Text { return foreign.Text(text).Cut(longest) }
	name := part(id.Name)
	if id.Namespace != "" {
		name = part(id.Namespace) + "/" + name
	}
	return (part(id.APIVersion) + "/" + part(id.Kind) + " " + name).String()
}

// Group returns the API group, "apps" of "apps/v1". It is empty for the core group.
func (id Identity) Group() string {
	group, _, found := strings.Cut(id.APIVersion, "/")
	if !found {
		return ""
	}
	return group
}

// Version returns the API version without its group, "v1" of "apps/v1".
func (id Identity) Version() string {
	group, version, found := strings.Cut(id.APIVersion, "/")
	if !found {
		return group
	}
	return version
}

// Unversioned returns the identity with the group alone as its APIVersion ("apps/", and "" for the core group), because
// the versions of a group are ways to write down the same object. Use it to compare identities and as a map key: two
// identities name the same object, in any version, if their unversioned forms are equal.
func (id Identity) Unversioned() Identity {
	id.APIVersion = strings.TrimSuffix(id.APIVersion, id.Version())
	return id
}

// FieldError describes which field of an object keeps it from having an identity.
type FieldError struct {
	// Field is the path of the field: "apiVersion", "kind", "metadata", "metadata.name", "metadata.generateName" or
	// "metadata.namespace". It is empty when there is no object at all.
	Field string
	// Value is the value of the field, "" if the field is absent or isn't a string.
	Value string
	// Problem says what is wrong, as the part of a sentence after a colon.
	Problem string
}

func (e *FieldError) Error() string {
	var b strings.Builder
	b.WriteString("identity: ")
	if e.Field != "" {
		b.WriteString(e.Field)
		if e.Value != "" {
			fmt.Fprintf(&b, " %q", foreign.Text(e.Value))
		}
		b.WriteString(": ")
	}
	b.WriteString(e.Problem)
	return b.String()
}

// reader reads fields and keeps the first error, so that the fields can be read one after the other.
type reader struct{ err error }

func (r *reader) fail(field, value, problem string) {
	if r.err == nil {
		r.err = &FieldError{Field: field, Value: value, Problem: problem}
	}
}

func (r *reader) check(field, value string, problem func(string) string) {
	if p := problem(value); p != "" {
		r.fail(field, value, p)
	}
}

// optional returns the string at key. Absent and null are the empty string, as for the server's own decoder.
func (r *reader) optional(m map[string]any, key, field string) string {
	switch v := m[key].(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		r.fail(field, "", fmt.Sprintf("expected a string, got %T", v))
		return ""
	}
}

func (r *reader) required(m map[string]any, key, field string) string {
	s := r.optional(m, key, field)
	if s == "" {
		r.fail(field, "", "missing")
	}
	return s
}

func (r *reader) metadata(obj map[string]any) map[string]any {
	switch v := obj["metadata"].(type) {
	case nil:
		r.fail("metadata", "", "missing")
		return nil
	case map[string]any:
		return v
	default:
		r.fail("metadata", "", fmt.Sprintf("expected a map, got %T", v))
		return nil
	}
}

// name reads metadata.name. A generateName beside a name is no obstacle: every object that was created with one has
// both.
func (r *reader) name(meta map[string]any) string {
	generate := r.optional(meta, "generateName", "metadata.generateName")
	if generate != "" && r.optional(meta, "name", "metadata.name") == "" {
		r.fail("metadata.generateName", generate,
			"the server would choose another name at each apply; set metadata.name")
		return ""
	}
	return r.required(meta, "name", "metadata.name")
}

func apiVersionProblem(s string) string {
	group, version, found := strings.Cut(s, "/")
	if found && (group == "" || version == "") || strings.Contains(version, "/") || dots(group) || dots(version) {
		return `expected "version" or "group/version"`
	}
	return ""
}

// dots reports whether s, as a segment of a URL, would lead elsewhere.
func dots(s string) bool { return s == "." || s == ".." }

// slashProblem rejects what no kind, namespace or name can contain, because each is one segment of a URL.
func slashProblem(s string) string {
	if strings.Contains(s, "/") {
		return `must not contain "/"`
	}
	return ""
}
