// Package render turns plans into what the command prints: text for people, JSON and YAML for programs.
//
// It needs no cluster, and never shows the value of a sensitive change.
package render
