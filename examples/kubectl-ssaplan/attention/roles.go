package attention

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// grant is one verb for one resource, or for one path of the server.
type grant struct{ group, resource, name, verb string }

// every stands for all verbs, resources or groups.
const every = "*"

// covers reports whether who has g has the other grant, too.
func (g grant) covers(other grant) bool {
	has := func(a, b string) bool { return a == b || a == every }
	return has(g.group, other.group) && has(g.resource, other.resource) && has(g.verb, other.verb) &&
		(g.name == "" || g.name == other.name)
}

// grants returns what the rules of a role allow.
func grants(role map[string]any) (out []grant) {
	for _, rule := range list(at(role, "rules")) {
		names := words(at(rule, "resourceNames"))
		if len(names) == 0 {
			names = []string{""}
		}
		for _, verb := range words(at(rule, "verbs")) {
			for _, path := range words(at(rule, "nonResourceURLs")) {
				out = append(out, grant{"", path, "", verb})
			}
			for _, group := range words(at(rule, "apiGroups")) {
				for _, resource := range words(at(rule, "resources")) {
					for _, name := range names {
						out = append(out, grant{group, resource, name, verb})
					}
				}
			}
		}
	}
	return out
}

// roleRights are what a role newly allows, the most dangerous first.
func roleRights(before, after map[string]any) []right {
	const most = 3
	var order []string
	verbs := map[string][]string{}
	for _, g := range gained(grants(before), grants(after)) {
		at := g.at()
		if verbs[at] == nil {
			order = append(order, at)
		}
		verbs[at] = append(verbs[at], g.verb)
	}
	if len(order) == 0 {
		return nil
	}
	var texts []string
	for _, at := range order[:min(most, len(order))] {
		texts = append(texts, strings.Join(verbs[at], ", ")+" "+at)
	}
	if n := len(order) - most; n > 0 {
		texts = append(texts, fmt.Sprintf("and as much with %d more", n))
	}
	return []right{{"a role may do more", strings.Join(texts, "; ")}}
}

// gained returns the grants that aren't covered, the most dangerous first.
func gained(before, after []grant) (out []grant) {
	had := map[grant]bool{}
	var wide []grant
	for _, g := range before {
		had[g] = true
		if g.group == every || g.resource == every || g.verb == every {
			wide = append(wide, g)
		}
	}
	for _, g := range after {
		ofAll := grant{g.group, g.resource, "", g.verb}
		if !had[g] && !had[ofAll] && !slices.ContainsFunc(wide, func(w grant) bool { return w.covers(g) }) {
			out = append(out, g)
		}
	}
	slices.SortStableFunc(out, func(a, b grant) int { return cmp.Compare(b.danger(), a.danger()) })
	return out
}

// at returns what may be dealt with, as "deployments.apps" or "secrets named key".
func (g grant) at() string {
	text := g.resource
	if g.group != "" {
		text += "." + g.group
	}
	if g.name != "" {
		text += " named " + g.name
	}
	return text
}

// Who has these may get all others, or read what isn't for him.
var (
	dangerousVerbs     = []string{every, "escalate", "bind", "impersonate"}
	dangerousResources = []string{
		every, "secrets", "pods/exec", "pods/attach", "serviceaccounts/token", "nodes/proxy", "roles", "clusterroles",
		"rolebindings",
		"clusterrolebindings", "mutatingwebhookconfigurations", "validatingwebhookconfigurations",
		"certificatesigningrequests/approval",
	}
)

// danger is higher for what is more dangerous. Reading alone is less so, but for secrets.
func (g grant) danger() (n int) {
	if slices.Contains(dangerousVerbs, g.verb) {
		n += 4
	}
	if slices.Contains(dangerousResources, g.resource) {
		n += 2
	}
	if !slices.Contains([]string{"get", "list", "watch"}, g.verb) {
		n++
	}
	return n
}
