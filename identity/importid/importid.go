package importid

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
)

// ID names an object and the fields of it to import, in one line of text. It is comparable.
type ID struct {
	// Group and Version are the group and version of the kind, "" where the text has none. With a Version, an empty
	// Group is the core group. Without a Version, it is any group that serves the kind.
	Group, Version string
	// Kind is the kind as the text has it, "Deployment".
	Kind string
	// Namespace is empty for cluster-scoped objects.
	Namespace string
	Name      string
	fieldowner.Selection
}

// Form is what [Parse] accepts, as its errors show it.
const Form = "[NAMESPACE/][GROUP/]VERSION/KIND/NAME, NAMESPACE/KIND[.VERSION][.GROUP]/NAME or " +
	"KIND[.VERSION][.GROUP]/NAME, " +
	"then ?unowned or ?manager=NAME[&operation=Apply|Update[&subresource=NAME]]"

// Parse reads the text form of an import:
//
//	default/Deployment/web                         all fields of a namespaced object
//	ClusterRole/system:node                        of a cluster-scoped one
//	default/Deployment.apps/web                    with the group of the kind
//	default/Deployment.v1.apps/web                 with version and group
//	default/apps/v1/Deployment/web                 the same in the form of an apiVersion
//	default/v1/Secret/db                           in the core group
//	rbac.authorization.k8s.io/v1/ClusterRole/view  of a cluster-scoped one; if the first of four parts has a dot, it
//	                                               is the group, and otherwise the namespace
//	/v1/Namespace/web                              of a cluster-scoped one in the core group: the namespace is empty
//	default/Deployment/web?unowned                 the fields without an owner
//	default/Deployment/web?manager=helm            the fields of a manager
//
// Any character can be written as %XX. The characters %, ? and / in a name, and & in a manager, must be written like
// that; a server accepts no name with % or /. The error shows the forms expected.
func Parse(text string) (ID, error) {
	id, err := parse(text)
	if err != nil {
		return ID{}, fmt.Errorf("import ID %q: %w; expected %s", text, err, Form)
	}
	return id, nil
}

func parse(text string) (ID, error) {
	object, query, hasQuery := strings.Cut(text, "?")
	id, err := parseObject(object)
	if err == nil && hasQuery {
		id.Selection, err = parseSelection(query)
	}
	return id, err
}

func parseObject(text string) (ID, error) {
	segments := strings.Split(text, "/")
	for i, s := range segments {
		decoded, err := url.PathUnescape(s)
		if err != nil {
			return ID{}, err
		}
		segments[i] = decoded
	}
	id, err := arrange(segments)
	if err != nil {
		return ID{}, err
	}
	return id, id.check()
}

// arrange says which segment is what. Their number tells, and where two forms have the same number, whether the first
// segment has a dot.
func arrange(s []string) (ID, error) {
	n := len(s)
	id := ID{Name: s[n-1]}
	switch {
	case n == 2:
		return id, id.setKind(s[0])
	case n == 3:
		id.Namespace = s[0]
		return id, id.setKind(s[1])
	case n == 4 && strings.Contains(s[0], "."):
		id.Group, id.Version, id.Kind = s[0], s[1], s[2]
	case n == 4:
		id.Namespace, id.Version, id.Kind = s[0], s[1], s[2]
	case n == 5:
		id.Namespace, id.Group, id.Version, id.Kind = s[0], s[1], s[2], s[3]
	default:
		return id, fmt.Errorf("%d parts", n)
	}
	if id.Version == "" || n == 5 && id.Group == "" {
		return id, fmt.Errorf("an empty part")
	}
	return id, nil
}

// setKind reads KIND, KIND.GROUP and KIND.VERSION.GROUP.
func (id *ID) setKind(text string) error {
	var rest string
	var qualified bool
	id.Kind, rest, qualified = strings.Cut(text, ".")
	if !qualified {
		return nil
	}
	first, group, _ := strings.Cut(rest, ".")
	if isVersion(first) {
		id.Version, id.Group = first, group
	} else {
		id.Group = rest
	}
	if rest == "" {
		return fmt.Errorf("nothing behind the dot of %q", text)
	}
	return nil
}

// isVersion reports whether s looks like v1 or v2beta1, as no group begins.
func isVersion(s string) bool {
	digits, ok := strings.CutPrefix(s, "v")
	major := strings.TrimLeft(digits, "0123456789")
	if !ok || len(major) == len(digits) {
		return false
	}
	stage := strings.TrimRight(major, "0123456789")
	return major == "" || len(stage) < len(major) && (stage == "alpha" || stage == "beta")
}

// check rejects what can't be part of any object's URL. Whether there is such a kind or name is the server's to tell.
func (id ID) check() error {
	for _, part := range []struct{ what, value, allowed string }{
		{"namespace", id.Namespace, lower + digits + "-"},
		{"group", id.Group, lower + digits + "-."},
		{"version", id.Version, lower + digits + "-"},
		{"kind", id.Kind, lower + upper + digits + "-"},
	} {
		if bad := strings.Trim(part.value, part.allowed); bad != "" {
			return fmt.Errorf("%q is no %s", part.value, part.what)
		}
	}
	switch {
	case id.Group != "" && slices.Contains(strings.Split(id.Group, "."), ""):
		return fmt.Errorf("%q is no group", id.Group)
	case id.Group == "" && id.Version != "" && id.Version != "v1":
		return fmt.Errorf("the core group has no version %q", id.Version)
	case id.Kind == "":
		return fmt.Errorf("no kind")
	case id.Name == "":
		return fmt.Errorf("no name")
	case id.Name == "." || id.Name == ".." || strings.ContainsAny(id.Name, "/%"):
		return fmt.Errorf("%q is no name", id.Name)
	}
	return nil
}

const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
)

func parseSelection(query string) (fieldowner.Selection, error) {
	if query == "unowned" {
		return fieldowner.Selection{Strategy: fieldowner.UnownedFields}, nil
	}
	values := map[string]string{}
	for _, part := range strings.Split(query, "&") {
		name, text, _ := strings.Cut(part, "=")
		value, err := url.PathUnescape(text)
		if err != nil {
			return fieldowner.Selection{}, err
		}
		if _, twice := values[name]; twice || !slices.Contains([]string{"manager", "operation", "subresource"}, name) {
			return fieldowner.Selection{}, fmt.Errorf("unexpected %q after the name", part)
		}
		values[name] = value
	}
	s := fieldowner.Selection{
		Strategy: fieldowner.ManagerFields,
		Manager:  values["manager"], Operation: values["operation"], Subresource: values["subresource"],
	}
	return s, s.Validate()
}

// Identity returns the identity of the object as far as the text has it. Without a version, the apiVersion has only the
// group, if any, and is of no use for a request.
func (id ID) Identity() identity.Identity {
	apiVersion := id.Group
	if id.Version != "" {
		apiVersion = strings.TrimPrefix(id.Group+"/"+id.Version, "/")
	}
	return identity.Identity{APIVersion: apiVersion, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}
}

// String returns the text form of id. If id came from [Parse], parsing the text gives id again.
func (id ID) String() string {
	parts := []string{id.Kind, escape(id.Name)}
	switch {
	case id.Version != "" && id.Group != "":
		parts = append([]string{id.Namespace, id.Group, id.Version}, parts...)
	case id.Version != "":
		parts = append([]string{id.Namespace, id.Version}, parts...)
	case id.Group != "":
		parts[0] += "." + id.Group
	}
	if id.Version == "" && id.Namespace != "" {
		parts = append([]string{id.Namespace}, parts...)
	}
	return strings.Join(parts, "/") + query(id.Selection)
}

func query(s fieldowner.Selection) string {
	switch s.Strategy {
	case fieldowner.UnownedFields:
		return "?unowned"
	case fieldowner.ManagerFields:
		text := "?manager=" + escape(s.Manager)
		if s.Operation != "" {
			text += "&operation=" + escape(s.Operation)
		}
		if s.Subresource != "" {
			text += "&subresource=" + escape(s.Subresource)
		}
		return text
	}
	return ""
}

// escape leaves readable what may be: names have colons, and PathEscape doesn't escape the & that ends a manager.
func escape(s string) string {
	return strings.ReplaceAll(url.PathEscape(s), "&", "%26")
}
