// Package fastjson encodes manifests without reflection, and takes JSON apart without decoding it. It encodes as
// package json does. It escapes some more characters, since servers read the JSON of an apply as YAML.
package fastjson
