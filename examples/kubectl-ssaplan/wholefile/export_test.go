package wholefile

// RemoveOld removes a file as a sweep does where there are no locks.
func RemoveOld(path string) { removeOld(path) }
