package projection

// IsNormal reports whether [Normalize] has nothing to do for a manifest that is made of what JSON decoding makes and in
// which nothing is null. It doesn't walk through the manifest to see whether it is one. It may take a manifest for one
// that isn't normal, such as a custom resource with a status, but never the other way round.
func IsNormal(manifest map[string]any) bool {
	_, hasStatus := manifest["status"]
	_, hasStringData := manifest["stringData"]
	if hasStatus || hasStringData {
		return false
	}
	metadata, _ := manifest["metadata"].(map[string]any)
	for _, name := range serverOwned {
		if _, exists := metadata[name]; exists {
			return false
		}
	}
	for _, name := range droppedIfEmpty {
		if isEmpty(metadata[name]) {
			return false
		}
	}
	return true
}
