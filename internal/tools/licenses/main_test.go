package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A text is allowed if all of it is the text of allowed licences, and a module needs one.
func TestDescribe(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	mit := "MIT License\n\nPermission is hereby granted, free of charge, to any person obtaining a copy of this software and associated " +
		"documentation files (the \"Software\"), to deal in the Software without restriction, including without limitation the rights to " +
		"use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the " +
		"Software is furnished to do so, subject to the following conditions:\n\nThe above copyright notice and this permission notice " +
		"shall be included in all copies or substantial portions of the Software.\n\nTHE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY " +
		"OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR " +
		"PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER " +
		"LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE " +
		"USE OR OTHER DEALINGS IN THE SOFTWARE.\n"
	allowed := write("LICENSE", mit)
	for name, c := range map[string]struct {
		files []string
		names string
	}{
		"an allowed one":           {files: []string{allowed}, names: "MIT"},
		"none":                     {},
		"a text that isn't known":  {files: []string{allowed, write("unknown", "You may look at this on Sundays.")}},
		"one that isn't allowed":   {files: []string{allowed, write("gpl", "SPDX-License-Identifier: GPL-3.0-only")}},
		"an allowed one, and more": {files: []string{write("more", mit+strings.Repeat("It must not be used by anybody for anything at all. ", 20))}},
	} {
		names, err := describe(c.files)
		if names != c.names || (err == nil) != (c.names != "") {
			t.Errorf("%s: %q, %v", name, names, err)
		}
	}
}

// What only one system needs is found for that system, with the files of the package's folder and of those above it.
func TestList(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/a\n\ngo 1.24\n\nrequire example.com/b v0.0.0\n\nreplace example.com/b => ./b\n",
		"a.go":   "package a\n", "a_windows.go": "package a\n\nimport _ \"example.com/b/c\"\n",
		"b/go.mod": "module example.com/b\n\ngo 1.24\n", "b/LICENSE": "", "b/c/c.go": "package c\n", "b/c/COPYING.md": "", "b/c/license.go": "package c\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for system, want := range map[string][]string{"linux/amd64": nil, "windows/arm64": {"b/c/COPYING.md", "b/LICENSE"}} {
		packages, err := list(dir, system, []string{"./..."})
		if err != nil {
			t.Fatal(err)
		}
		var files []string
		for _, p := range packages {
			if strings.HasPrefix(p.module, "example.com/b@") {
				for _, file := range licences(p) {
					relative, _ := filepath.Rel(dir, file)
					files = append(files, relative)
				}
			}
		}
		if !slices.Equal(files, want) {
			t.Errorf("%s: %q", system, files)
		}
	}
}
