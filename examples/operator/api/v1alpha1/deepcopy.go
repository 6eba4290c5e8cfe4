package v1alpha1

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// DeepCopy returns a copy that shares no memory with w.
func (w *Website) DeepCopy() *Website {
	out := *w
	out.ObjectMeta = *w.ObjectMeta.DeepCopy()
	out.Spec = w.Spec.deepCopy()
	out.Status = w.Status.deepCopy()
	return &out
}

// DeepCopyObject implements runtime.Object.
func (w *Website) DeepCopyObject() runtime.Object { return w.DeepCopy() }

// DeepCopyObject implements runtime.Object.
func (l *WebsiteList) DeepCopyObject() runtime.Object {
	out := *l
	out.ListMeta = *l.ListMeta.DeepCopy()
	out.Items = slices.Clone(l.Items)
	for i := range out.Items {
		out.Items[i] = *l.Items[i].DeepCopy()
	}
	return &out
}

func (s WebsiteSpec) deepCopy() WebsiteSpec {
	if s.Replicas != nil {
		replicas := *s.Replicas
		s.Replicas = &replicas
	}
	s.Config, s.PodLabels = maps.Clone(s.Config), maps.Clone(s.PodLabels)
	s.Ignore = slices.Clone(s.Ignore)
	for i := range s.Ignore {
		s.Ignore[i].Fields = slices.Clone(s.Ignore[i].Fields)
	}
	return s
}

func (s WebsiteStatus) deepCopy() WebsiteStatus {
	// Nothing in a condition is shared by a copy of its value.
	s.Conditions = append([]metav1.Condition(nil), s.Conditions...)
	return s
}
