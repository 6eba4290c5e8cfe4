// Package fastjson encodes manifests without reflection, and takes JSON apart without decoding it. What it encodes is
// what package json would encode, but for the escapes that YAML needs, as which servers read it.
package fastjson
