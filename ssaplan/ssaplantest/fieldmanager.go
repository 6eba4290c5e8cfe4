package ssaplantest

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

// newFieldManager returns the field manager that API servers use, for a kind in its version.
func newFieldManager(kind Kind, subresource string,
	converter managedfields.TypeConverter) (*managedfields.FieldManager, error) {
	if kind.builtin {
		return managedfields.NewDefaultFieldManager(converter, versions{}, nothing{}, nothing{},
			kind.GroupVersionKind, kind.GroupVersion(), subresource, nil)
	}
	return managedfields.NewDefaultCRDFieldManager(converter, versions{}, nothing{}, nothing{},
		kind.GroupVersionKind, kind.GroupVersion(), subresource, nil)
}

// versions converts between versions of a kind as the strategy None of custom resources does: by changing apiVersion.
type versions struct{}

func (versions) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	from := in.GetObjectKind().GroupVersionKind()
	to, ok := target.KindForGroupVersionKinds([]schema.GroupVersionKind{from})
	if !ok || to == from {
		return in, nil
	}
	out := in.DeepCopyObject()
	out.GetObjectKind().SetGroupVersionKind(to)
	return out, nil
}

func (versions) Convert(_, _, _ any) error { return errors.New("not implemented") }

func (versions) ConvertFieldLabel(schema.GroupVersionKind, string, string) (string, string, error) {
	return "", "", errors.New("not implemented")
}

// nothing sets no defaults, and creates objects that have nothing but their kind.
type nothing struct{}

func (nothing) Default(runtime.Object) {}

func (nothing) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	return empty(kind), nil
}
