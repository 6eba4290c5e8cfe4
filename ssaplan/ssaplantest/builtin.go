package ssaplantest

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
)

// builtinKinds returns the kinds that Kubernetes brings, as far as the client-go that the program is built with knows
// them. Its typed clients say everything of them: which ones are objects, their names in URLs, their scopes, and which
// have a status or a scale subresource.
func builtinKinds() []Kind {
	var kinds []Kind
	for client := range results(reflect.TypeFor[kubernetes.Interface]()) {
		for access, method := range results(client) {
			if kind, ok := builtinKind(access); ok {
				kind.Resource = strings.ToLower(method.Name)
				kind.ClusterScoped = method.Type.NumIn() == 0
				kinds = append(kinds, kind)
			}
		}
	}
	return slices.DeleteFunc(kinds, superseded(kinds))
}

// results yields the interfaces that the methods of an interface return.
func results(t reflect.Type) func(yield func(reflect.Type, reflect.Method) bool) {
	return func(yield func(reflect.Type, reflect.Method) bool) {
		for i := range t.NumMethod() {
			method := t.Method(i)
			if method.Type.NumOut() == 1 && method.Type.Out(0).Kind() == reflect.Interface &&
				!yield(method.Type.Out(0), method) {
				return
			}
		}
	}
}

// builtinKind returns the kind whose objects an interface such as PodInterface gives access to. Kinds that can't be
// read, such as reviews, are not objects.
func builtinKind(access reflect.Type) (Kind, bool) {
	get, ok := access.MethodByName("Get")
	if !ok || get.Type.NumOut() != 2 || get.Type.Out(0).Kind() != reflect.Pointer {
		return Kind{}, false
	}
	example, ok := reflect.New(get.Type.Out(0).Elem()).Interface().(runtime.Object)
	if !ok {
		return Kind{}, false
	}
	kinds, _, err := scheme.Scheme.ObjectKinds(example)
	if err != nil {
		return Kind{}, false
	}
	_, status := access.MethodByName("UpdateStatus")
	out := Kind{GroupVersionKind: kinds[0], StatusSubresource: status, builtin: true}
	if _, ok := access.MethodByName("GetScale"); ok {
		out.ScaleSubresource = &Scale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas",
			LabelSelectorPath: ".spec.selector"}
	}
	return out, true
}

var stableVersion = regexp.MustCompile(`^v[0-9]+$`)

// superseded reports whether servers stopped to serve a kind in its version: its group is gone, or it has a stable
// version and this one isn't.
func superseded(kinds []Kind) func(Kind) bool {
	stable := map[schema.GroupKind]bool{}
	for _, kind := range kinds {
		stable[kind.GroupKind()] = stable[kind.GroupKind()] || stableVersion.MatchString(kind.Version)
	}
	return func(kind Kind) bool {
		return kind.Group == "extensions" || stable[kind.GroupKind()] && !stableVersion.MatchString(kind.Version)
	}
}
