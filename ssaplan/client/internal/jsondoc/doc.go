// Package jsondoc decodes the answers of servers without reflection. What it decodes is what package json would decode;
// text that servers don't write is left to that package.
package jsondoc
