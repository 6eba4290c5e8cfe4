package wire

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
)

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
