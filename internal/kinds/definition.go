package kinds

import "slices"

// LostVersions returns the versions, such as "example.com/v1beta1", that a CRD has before a change and not after it.
func LostVersions(before, after map[string]any) (lost []string) {
	still := versionsOf(after)
	for _, version := range versionsOf(before) {
		if !slices.Contains(still, version) {
			lost = append(lost, version)
		}
	}
	return lost
}

// ServedVersion returns the name of a version that a CRD serves, "" if there is none.
func ServedVersion(definition map[string]any) string {
	spec, _ := definition["spec"].(map[string]any)
	list, _ := spec["versions"].([]any)
	for _, item := range list {
		if version, _ := item.(map[string]any); version["served"] == true {
			name, _ := version["name"].(string)
			return name
		}
	}
	return ""
}

// versionsOf returns the versions of a CRD, also those that aren't served.
func versionsOf(definition map[string]any) (versions []string) {
	spec, _ := definition["spec"].(map[string]any)
	group, _ := spec["group"].(string)
	list, _ := spec["versions"].([]any)
	for _, item := range list {
		version, _ := item.(map[string]any)
		if name, _ := version["name"].(string); name != "" {
			versions = append(versions, group+"/"+name)
		}
	}
	return versions
}
