// Package fastjson encodes manifests and decodes the answers of servers without reflection. What it encodes is what
// package json would encode, but for the escapes that YAML needs, as which servers read it. What it decodes is what
// package json would decode; text that servers don't write is left to that package.
package fastjson
