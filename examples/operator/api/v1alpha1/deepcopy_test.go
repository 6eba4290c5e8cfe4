package v1alpha1

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestCopiesShareNothing(t *testing.T) {
	replicas := int32(2)
	website := &Website{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"a": "b"}, Finalizers: []string{"f"}},
		Spec: WebsiteSpec{
			Replicas: &replicas, Config: map[string]string{"a": "b"}, PodLabels: map[string]string{"a": "b"},
			Ignore: []IgnoredFields{{Kind: "Deployment", Fields: []string{"spec.replicas"}}},
		},
		Status: WebsiteStatus{Conditions: []metav1.Condition{{Type: Synced}}},
	}
	list := &WebsiteList{Items: []Website{*website}}
	assert.Equal(t, list, list.DeepCopyObject())
	assert.Empty(t, shared(reflect.ValueOf(list), reflect.ValueOf(list.DeepCopyObject()), "list"))
	assert.NotEmpty(t, shared(reflect.ValueOf(list), reflect.ValueOf(&WebsiteList{Items: []Website{*website}}), "list"), "sharing is seen")
	assert.Equal(t, &Website{}, (&Website{}).DeepCopy(), "what is nil stays nil")
}

// shared returns the places at which two equal values share memory.
func shared(a, b reflect.Value, at string) (places []string) {
	switch a.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if !a.IsNil() && a.Pointer() == b.Pointer() {
			return []string{at}
		}
	}
	switch a.Kind() {
	case reflect.Pointer:
		if !a.IsNil() {
			places = shared(a.Elem(), b.Elem(), at)
		}
	case reflect.Slice:
		for i := range a.Len() {
			places = append(places, shared(a.Index(i), b.Index(i), at+"[]")...)
		}
	case reflect.Struct:
		for i := range a.NumField() {
			places = append(places, shared(a.Field(i), b.Field(i), at+"."+a.Type().Field(i).Name)...)
		}
	}
	return places
}
