package ssaplan_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/leak"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

// printer prints values, and all that they have, in every way.
type printer struct {
	t      *testing.T
	values []string // that nothing may show
	seen   map[reflect.Type]int
	texts  map[string]bool // that were searched
	leaks  []string
}

const most = 40 // values of a type that are printed

// visit prints a value, its exported fields and items, and what its methods return.
func (p *printer) visit(at string, v reflect.Value) {
	if !v.IsValid() || !v.CanInterface() || isRaw(v.Type()) || at != "" && strings.Count(at, ".") > 6 {
		return
	}
	if p.seen[v.Type()]++; p.seen[v.Type()] > most {
		return
	}
	p.print(at+" "+v.Type().String(), v.Interface())
	if isOurs(v.Type()) {
		for i := range v.NumMethod() {
			if method := v.Type().Method(i); v.Method(i).Type().NumIn() == 0 && !isNil(v) && !v.Method(i).Type().IsVariadic() {
				for _, result := range v.Method(i).Call(nil) {
					p.visit(at+"."+method.Name+"()", result)
				}
			}
		}
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		p.visit(at, v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			p.visit(fmt.Sprintf("%s[%d]", at, i), v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			p.visit(at+"."+v.Type().Field(i).Name, v.Field(i))
		}
	}
}

// isRaw reports whether values of a type are the content of objects, or the fields to apply, which have nothing
// redacted.
func isRaw(t reflect.Type) bool {
	switch t {
	case reflect.TypeFor[fieldowner.Declaration](), reflect.TypeFor[*unstructured.Unstructured](), reflect.TypeFor[map[string]any](), reflect.TypeFor[any](), reflect.TypeFor[[]byte](), reflect.TypeFor[json.RawMessage]():
		return true
	}
	return t.Kind() == reflect.Func || t.Kind() == reflect.Chan
}

func isOurs(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return strings.HasPrefix(t.PkgPath(), "github.com/ssaplan/primitives") && t != reflect.TypeFor[projection.FieldSet]()
}

func isNil(v reflect.Value) bool {
	return (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && v.IsNil()
}

func (p *printer) print(what string, v any) {
	text, _ := json.Marshal(v)
	out := &strings.Builder{}
	fmt.Fprintf(out, "%s\n%v\n%+v\n%#v\n%s\n%q\n%x\n", text, v, v, v, v, v, v)
	withoutTime := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}
	slog.New(slog.NewTextHandler(out, withoutTime)).Info("", "value", v)
	slog.New(slog.NewJSONHandler(out, withoutTime)).Info("", "value", v)
	if p.texts[out.String()] {
		return
	}
	p.texts[out.String()] = true
	for _, value := range p.values {
		if forms := leak.In(out.String(), value); len(forms) > 0 {
			p.leaks = append(p.leaks, fmt.Sprintf("%s shows %s as %v", what, value, forms))
		}
	}
}

// resultTypes are those of the methods of a Planner.
func resultTypes() (out []reflect.Type) {
	planner := reflect.TypeFor[*ssaplan.Planner]()
	for i := range planner.NumMethod() {
		method := planner.Method(i).Type
		for j := range method.NumOut() {
			if t := method.Out(j); isOurs(t) && t.Kind() != reflect.Func {
				out = append(out, t)
			}
		}
	}
	return out
}

// No result of a Planner, and nothing that is in one, shows a secret value when it is printed, logged or encoded.
func TestPrintedResultsShowNoSecrets(t *testing.T) {
	const first, second, theirs = "hunter2-correct-horse", "battery-staple-9", "tr0ub4dor-and-3"
	server, err := ssaplantest.NewServer(ssaplantest.Options{Kinds: []ssaplantest.Kind{{
		GroupVersionKind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Vault"},
		Schema: map[string]any{"type": "object", "properties": map[string]any{"spec": map[string]any{"type": "object", "properties": map[string]any{
			"size":     map[string]any{"type": "integer"},
			"password": map[string]any{"type": "string"},
			"tokens":   map[string]any{"type": "array", "x-kubernetes-list-type": "set", "items": map[string]any{"type": "string"}},
			"users": map[string]any{
				"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"key"},
				"items": map[string]any{"type": "object", "properties": map[string]any{"key": map[string]any{"type": "string"}, "name": map[string]any{"type": "string"}}},
			},
			"manifest": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
		}}}},
	}}})
	require.NoError(t, err)
	options := ssaplan.Options{FieldManager: "m", Sensitive: patterns(t, "spec.password", "spec.tokens[*]", "spec.users[*].key")}
	planner := mustNew(t, server.API(), options)
	options.RefuseConflicts = true
	polite := mustNew(t, server.API(), options)
	options.FieldManager = "stranger"
	stranger := mustNew(t, server.API(), options)
	p := &printer{t: t, values: []string{first, second, theirs}, seen: map[reflect.Type]int{}, texts: map[string]bool{}}
	visit := func(what string, values ...any) {
		for _, v := range values {
			clear(p.seen)
			p.visit(what, reflect.ValueOf(v))
		}
	}

	objects := map[string]func(value string) *unstructured.Unstructured{
		"a Secret": func(value string) *unstructured.Unstructured {
			obj := secret("a", value)
			obj.SetAnnotations(map[string]string{"copy": value})
			return obj
		},
		"a vault": func(value string) *unstructured.Unstructured {
			obj := manifestOf("example.com/v1", "Vault", "default", "a")
			obj.Object["spec"] = map[string]any{
				"size": int64(len(value)), "password": value, "tokens": []any{value, value + "-b"}, "users": []any{map[string]any{"key": value, "name": "jane"}},
				"manifest": map[string]any{"apiVersion": "v1", "kind": "Secret", "stringData": map[string]any{"p": value}},
			}
			return obj
		},
		"a text": func(value string) *unstructured.Unstructured {
			return configMap("a", map[string]any{"a": "kind: Secret\ndata: {p: " + value + "}", "b": "c"})
		},
	}
	covered := map[reflect.Type]bool{}
	for what, object := range objects {
		created := mustPlan(t, planner, ssaplan.Request{Manifest: object(first)})
		visit(what+" created", created)
		obj := mustApply(t, planner, created)
		state, err := created.State(obj)
		require.NoError(t, err, what)
		differences, err := created.Differences(obj)
		require.NoError(t, err, what)
		visit(what+" applied", state, differences)
		client := server.Client().Resource(resourceOf(obj)).Namespace("default")
		rival := metav1.ApplyOptions{FieldManager: "rival", Force: true}
		errorless(client.Apply(t.Context(), "a", object(theirs), rival))
		reading := mustRead(t, planner, state)
		visit(what+" read", reading)
		update := mustPlan(t, planner, ssaplan.Request{Manifest: object(second), Prior: reading.State})
		visit(what+" updated", update)
		conflict := mustPlan(t, polite, ssaplan.Request{Manifest: object(second), Prior: reading.State})
		require.Equal(t, ssaplan.ActionConflict, conflict.Action, what)
		visit(what+" in conflict", conflict)
		id := importIDOf(t, "default/"+obj.GetAPIVersion()+"/"+obj.GetKind()+"/a")
		imported, err := planner.Import(t.Context(), id)
		require.NoError(t, err, what)
		deletion := mustPlanDelete(t, planner, deletion.Request{Object: state.Identity, UID: state.UID})
		released, err := planner.PlanRelease(t.Context(), state)
		require.NoError(t, err, what)
		visit(what, imported, deletion, released, planner.Redactor(obj))
		_, changed := planner.Apply(t.Context(), created)
		require.Error(t, changed, what)
		visit(what+" changed", changed)
		_, err = stranger.Plan(t.Context(), ssaplan.Request{Manifest: object(second), Existing: explain.ExistingRefuse})
		require.Error(t, err, what)
		visit(what+" existing", err)
		for _, v := range []any{created, reading, imported, deletion, released, planner.Redactor(obj), state.Identity} {
			covered[reflect.TypeOf(v)] = true
		}
		restore := server.Answer(answering("patch", resourceOf(obj).Resource, apierrors.NewInternalError(errors.New("no "+second))))
		_, err = planner.Apply(t.Context(), update)
		require.Error(t, err, what)
		visit(what+" failed", err)
		_, err = planner.Plan(t.Context(), ssaplan.Request{Manifest: object(second)})
		require.Error(t, err, what)
		visit(what+" not planned", err)
		restore()
	}
	for _, result := range resultTypes() {
		require.True(t, covered[result], "print a %s, too", result)
	}
	require.Empty(t, strings.Join(p.leaks, "\n"))
}

func resourceOf(obj *unstructured.Unstructured) schema.GroupVersionResource {
	return obj.GroupVersionKind().GroupVersion().WithResource(strings.ToLower(obj.GetKind()) + "s")
}
