package projection

// IsNormal reports whether [Normalize] has nothing to do for the manifest, so that it can be sent as it is. It may take
// a manifest for one that isn't normal, such as one with a null, but never the other way round.
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
	return isSendable(manifest, deepest)
}

// deepest is how many levels of maps and lists package json decodes.
const deepest = 10_000

// isSendable reports whether v is made of what JSON decoding makes, nothing in it is null, and it ends after so many levels.
func isSendable(v any, levels int) bool {
	if levels < 0 {
		return false
	}
	switch v := v.(type) {
	case string, bool, int64, float64:
		return true
	case map[string]any:
		for _, item := range v {
			if !isSendable(item, levels-1) {
				return false
			}
		}
		return v != nil
	case []any:
		for _, item := range v {
			if !isSendable(item, levels-1) {
				return false
			}
		}
		return v != nil
	}
	return false
}
