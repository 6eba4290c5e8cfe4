package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
)

// resourceWith gives access to the ConfigMaps of a server that answers in turn.
func resourceWith(t *testing.T, bodies ...string) *Resource {
	return connect(t, &wiretest.Answers{Bodies: bodies}, Options{}).Resource(wiretest.ConfigMaps, wiretest.A)
}

// Creates and updates that were only to be tried show in the versions of their answers that they were carried out.
func TestDryRunsThatWrite(t *testing.T) {
	dryRun := []string{metav1.DryRunAll}
	for _, row := range []struct {
		why, in, answer string
		dryRun          []string
		wrote           bool
	}{
		{"tried", "", "", dryRun, false},
		{"created", "", wiretest.Identified, dryRun, true},
		{"really to be created", "", wiretest.Identified, nil, false},
		{"tried on a version", wiretest.Identified, wiretest.Identified, dryRun, false},
		{"updated", wiretest.Identified, `,"uid":"1","resourceVersion":"6"`, dryRun, true},
		{"really to be updated", wiretest.Identified, `,"uid":"1","resourceVersion":"6"`, nil, false},
	} {
		in, resource := wiretest.Decoded(t, wiretest.Versioned(row.in)), resourceWith(t, wiretest.Versioned(row.answer))
		_, err := resource.Create(t.Context(), in, metav1.CreateOptions{DryRun: row.dryRun})
		if row.in != "" {
			resource = resourceWith(t, wiretest.Versioned(row.answer))
			_, err = resource.Update(t.Context(), in, metav1.UpdateOptions{DryRun: row.dryRun})
		}
		assert.Equal(t, row.wrote, err != nil, row.why)
		assert.Equal(t, err, resource.Wrote(), row.why)
	}
	resource := resourceWith(t, wiretest.Versioned(wiretest.Identified), wiretest.Versioned(""))
	_, _ = resource.Create(t.Context(), wiretest.Decoded(t, wiretest.Versioned("")), metav1.CreateOptions{DryRun: dryRun})
	_, err := resource.Create(t.Context(), wiretest.Decoded(t, wiretest.Versioned("")), metav1.CreateOptions{DryRun: dryRun})
	require.NoError(t, err)
	require.Error(t, resource.Wrote(), "it isn't forgotten")
}

func TestAnswersToDeletes(t *testing.T) {
	for _, row := range []struct {
		why, answer string
		isOne       bool
	}{
		{"a success", `{"kind":"Status","apiVersion":"v1","status":"Success","details":{"name":"a","kind":"configmaps","uid":"1"}}`, true},
		{"a success without details", `{"kind":"Status","apiVersion":"v1","status":"Success"}`, true},
		{"the object, which waits for its finalizers", wiretest.Versioned(wiretest.Identified), true},
		{"a success for another object", `{"kind":"Status","apiVersion":"v1","status":"Success","details":{"name":"b"}}`, false},
		{"a failure with the code of a success", `{"kind":"Status","apiVersion":"v1","status":"Failure","code":403,"metadata":{"name":"a"}}`, false},
		{"another object", `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"b"}}`, false},
		{"no object of Kubernetes", `{"session":"1","metadata":{"name":"a"}}`, false},
		{"an answer of the wrong form", `{"kind":"ConfigMap","metadata":{"name":"a"},"details":[]}`, false},
		{"nothing", ``, false},
		{"no JSON", `<html>`, false},
	} {
		resource := connect(t, &wiretest.Answers{Bodies: []string{row.answer}}, Options{}).Resource(wiretest.ConfigMaps, wiretest.A)
		err := resource.Delete(t.Context(), "a", metav1.DeleteOptions{})
		require.Equal(t, row.isOne, err == nil, "%s: %v", row.why, err)
	}
}

func TestRequestsBesideCount(t *testing.T) {
	transport := &wiretest.Answers{Bodies: []string{wiretest.Object}}
	resource := connect(t, transport, Options{}).Resource(wiretest.ConfigMaps, wiretest.A)
	_, err := resource.Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	_, err = resource.IPAddresses().Get(t.Context(), "10.0.0.1", metav1.GetOptions{})
	require.NoError(t, err)
	_, err = resource.Definitions().Get(t.Context(), "b.g", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, 3, resource.Requests())
	require.Equal(t, []string{
		"GET /api/v1/namespaces/n/configmaps/a", "GET /apis/networking.k8s.io/v1/ipaddresses/10.0.0.1",
		"GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/b.g",
	}, transport.Requests)
}
