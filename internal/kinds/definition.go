package kinds

import (
	"slices"
	"strings"
)

// IsDefinition reports whether the object is a CRD.
func IsDefinition(obj map[string]any) bool {
	apiVersion, _ := obj["apiVersion"].(string)
	return obj["kind"] == "CustomResourceDefinition" && Group(apiVersion) == "apiextensions.k8s.io"
}

// Definition is what a CRD says of the kind that it defines.
type Definition struct {
	Group, Kind, Plural string
	Namespaced          bool
	// Converts says that a webhook converts objects between the versions. Otherwise only the apiVersion changes.
	Converts bool
	// Versions are those that the CRD has, also those that aren't served.
	Versions []Version
}

// Version is a version of the kind that a CRD defines.
type Version struct {
	Name   string
	Served bool
	// Schema is a part of the CRD, which the caller must not change. It is nil if the version has none.
	Schema map[string]any
	// Replicas is the path of the field with the number of replicas. It is nil if the version has no scale.
	Replicas []string
}

// DefinitionOf reads a CRD. What the CRD lacks, or has with a wrong type, is empty in the result. A version without a
// name is left out.
func DefinitionOf(crd map[string]any) Definition {
	spec := below(crd, "spec")
	names := below(spec, "names")
	d := Definition{
		Group: text(spec, "group"), Kind: text(names, "kind"), Plural: text(names, "plural"),
		Namespaced: spec["scope"] == "Namespaced",
	}
	strategy := text(below(spec, "conversion"), "strategy")
	d.Converts = strategy != "" && strategy != "None"
	list, _ := spec["versions"].([]any)
	for _, item := range list {
		version, _ := item.(map[string]any)
		v := Version{Name: text(version, "name"), Served: version["served"] == true}
		if v.Name == "" {
			continue
		}
		v.Schema = below(below(version, "schema"), "openAPIV3Schema")
		if path := text(below(below(version, "subresources"), "scale"), "specReplicasPath"); path != "" {
			v.Replicas = strings.Split(strings.TrimPrefix(path, "."), ".")
		}
		d.Versions = append(d.Versions, v)
	}
	return d
}

// below returns the map that a field holds, nil if it holds none.
func below(m map[string]any, field string) map[string]any {
	value, _ := m[field].(map[string]any)
	return value
}

// text returns the text that a field holds, "" if it holds none.
func text(m map[string]any, field string) string {
	value, _ := m[field].(string)
	return value
}

// Version returns a version by its name, and the zero Version if the CRD doesn't have it.
func (d Definition) Version(name string) Version {
	for _, v := range d.Versions {
		if v.Name == name {
			return v
		}
	}
	return Version{}
}

// Served returns the names of the versions that are served, in the order of the CRD.
func (d Definition) Served() (names []string) {
	for _, v := range d.Versions {
		if v.Served {
			names = append(names, v.Name)
		}
	}
	return names
}

// ServedVersion returns the name of the first version that is served, "" if none is.
func (d Definition) ServedVersion() string {
	for _, name := range d.Served() {
		return name
	}
	return ""
}

// LostVersions returns the versions, such as "example.com/v1beta1", that a CRD has before a change and not after it.
func LostVersions(before, after map[string]any) (lost []string) {
	still := DefinitionOf(after).apiVersions()
	for _, version := range DefinitionOf(before).apiVersions() {
		if !slices.Contains(still, version) {
			lost = append(lost, version)
		}
	}
	return lost
}

func (d Definition) apiVersions() (versions []string) {
	for _, v := range d.Versions {
		versions = append(versions, d.Group+"/"+v.Name)
	}
	return versions
}
