package explain

// Hold is hold.
func (u Unknown) Hold(manifest, live map[string]any) (map[string]any, error) {
	return u.hold(manifest, live)
}
