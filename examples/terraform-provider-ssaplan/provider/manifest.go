package provider

import (
	"errors"
	"reflect"

	"github.com/ssaplan/primitives/ssaplan/manifest"
)

// decodeManifest reads yaml_body. No error quotes it, since it can hold secrets.
func decodeManifest(text string) (manifest.Manifest, error) {
	manifests, failures := manifest.Parse("yaml_body", []byte(text))
	switch {
	case len(manifests)+len(failures) > 1:
		return manifest.Manifest{}, errors.New("holds more than one object: make a resource for each, for example with for_each")
	case len(failures) == 1:
		return manifest.Manifest{}, errors.New(failures[0].Problem)
	case len(manifests) == 0:
		return manifest.Manifest{}, errors.New("holds no object: it needs apiVersion, kind and metadata.name")
	}
	return manifests[0], nil
}

// sameManifest reports whether two texts of yaml_body say the same, whatever their order of keys, comments and layout.
func sameManifest(a, b string) bool {
	x, errX := decodeManifest(a)
	y, errY := decodeManifest(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x.Object, y.Object)
}
