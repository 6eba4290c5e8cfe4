// Package saved reads an error of an API server that was kept: the JSON of a Status, or the text that a client
// printed.
package saved
