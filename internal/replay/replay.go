// Package replay stands for a real server in tests: it reads what one answered to applies (make record), and answers
// the same.
package replay

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// Recording is what a real server answered to the dry run of an apply, and what is to be explained of it.
type Recording struct {
	// Name is that of the file.
	Name string `json:"-"`
	// Why tells what the recording is for, and Want what is explained of it, a line each.
	Why      string         `json:"why"`
	Want     []string       `json:"want"`
	Manager  string         `json:"manager"`
	Manifest map[string]any `json:"manifest"`
	// Prior is what was applied before, and the object as it was then; nil if nothing is remembered.
	Prior *struct {
		Manifest map[string]any `json:"manifest"`
		Object   map[string]any `json:"object"`
	} `json:"prior"`
	// Live is the object that the apply was for, nil if there was none.
	Live map[string]any `json:"live"`
	// Answer is the object that the server answered with; nil if it refused. Forced is the answer after a conflict.
	Answer  map[string]any `json:"answer"`
	Forced  map[string]any `json:"forced"`
	Refusal *metav1.Status `json:"refusal"`
}

// Read returns the recordings of a folder, in the order of their names.
func Read(tb testing.TB, folder string) []Recording {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	require.NoError(tb, err)
	require.Greater(tb, len(files), 200)
	var out []Recording
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(tb, err)
		r := Recording{Name: strings.TrimSuffix(filepath.Base(file), ".json")}
		require.NoError(tb, utiljson.Unmarshal(text, &r), file)
		out = append(out, r)
	}
	return out
}

// State returns what a host remembers, nil if that is nothing.
func (r Recording) State(tb testing.TB) *explain.State {
	tb.Helper()
	if r.Prior == nil {
		return nil
	}
	state, err := explain.NewState(r.Prior.Manifest, r.Prior.Object, fieldowner.Applier{Manager: r.Manager}, nil)
	require.NoError(tb, err)
	return state
}

// Respond returns what the server answered: an object or a Status. What wasn't recorded has a Status that says so.
func (r Recording) Respond(request *http.Request) any {
	obj := unstructured.Unstructured{Object: r.Manifest}
	version := obj.GroupVersionKind().GroupVersion()
	path := strings.TrimPrefix(strings.TrimPrefix(request.URL.Path, "/apis/"), "/api/")
	switch {
	case path == version.String():
		return metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList"}, GroupVersion: version.String(),
			APIResources: []metav1.APIResource{{Name: "things", Kind: obj.GetKind(),
				Namespaced: obj.GetNamespace() != ""}},
		}
	case request.Method == http.MethodGet && r.Live == nil:
		return apierrors.NewNotFound(version.WithResource("things").GroupResource(), obj.GetName()).Status()
	case request.Method == http.MethodGet:
		return r.Live
	case request.Method != http.MethodPatch:
		return apierrors.NewTimeoutError("not recorded", 0).Status()
	case len(request.URL.Query()["dryRun"]) > 1: // in another way than All
		return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "PatchOptions"}, "",
			field.ErrorList{field.NotSupported(field.NewPath("dryRun"), "Unknown",
				[]string{metav1.DryRunAll})}).Status()
	case r.Refusal == nil:
		return r.Answer
	case r.Forced != nil && request.URL.Query().Get("force") == "true":
		return r.Forced
	}
	return *r.Refusal
}

// Transport is an [http.RoundTripper] that responds with objects and with values of type Status, such as
// [Recording.Respond].
type Transport func(*http.Request) any

// RoundTrip implements [http.RoundTripper].
func (t Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, code := t(request), http.StatusOK
	if status, isStatus := answer.(metav1.Status); isStatus {
		code = int(status.Code)
		status.Kind, status.APIVersion = "Status", "v1"
		answer = status
	}
	text, err := json.Marshal(answer)
	return &http.Response{
		StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
		Body: io.NopCloser(bytes.NewReader(text)), ContentLength: int64(len(text)),
	}, err
}
