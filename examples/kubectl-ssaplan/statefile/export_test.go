package statefile

// Save writes a file as a [Journal] does.
func Save(f File, path string) error { return f.save(path) }
