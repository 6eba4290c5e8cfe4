package input

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/ssaplan/manifest"
)

// readKustomization builds a kustomization as kubectl does, with its order of the objects. They stand in no file, so
// their sources have no lines.
func (from Sources) readKustomization(ctx context.Context) ([]manifest.Manifest, []*manifest.Error) {
	folder := filepath.Clean(from.Kustomization)
	if isAddress(from.Kustomization) { // of a repository, with a password or not
		folder = authresilience.RedactAddress(from.Kustomization).String()
	}
	file := folder + " (kustomize)"
	stream, err := build(ctx, from.Kustomization)
	if err != nil {
		return nil, []*manifest.Error{{Source: manifest.Source{File: file}, Problem: kustomizeProblem(folder, err)}}
	}
	found, err := from.parse(file, bytes.NewReader(stream))
	manifests, failures := found.unless(err, file)
	for i := range manifests {
		manifests[i].Source.Line = 0
		for j := range manifests[i].Warnings {
			manifests[i].Warnings[j].Source.Line = 0
		}
	}
	for _, f := range failures {
		f.Source.Line = 0
	}
	return manifests, failures
}

// build doesn't wait when ctx ends: kustomize, which can fetch what it needs by git, knows no context.
func build(ctx context.Context, folder string) ([]byte, error) {
	return unlessDone(ctx, func() ([]byte, error) { return kustomize(folder) })
}

func kustomize(folder string) ([]byte, error) {
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy
	objects, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return nil, err
	}
	return objects.AsYaml()
}

// kustomizeTexts are the parts of kustomize's errors that quote nothing but names, and what to say for them. Its other
// errors can quote patches and literals, which may hold secrets.
var kustomizeTexts = []struct {
	text    *regexp.Regexp
	problem string
}{
	{regexp.MustCompile(`unable to find one of 'kustomization\.yaml'.* in directory '([^'\n]*)'`),
		`there is no kustomization.yaml in $1; name a folder that has one`},
	{regexp.MustCompile(`(?:lstat|stat|open) ([^\n:]*): no such file or directory`),
		`there is no $1; check the paths in kustomization.yaml`},
	{regexp.MustCompile(`file '([^'\n]*)' is not in or below '([^'\n]*)'`),
		`$1 is not in or below $2; kustomize reads nothing outside of a kustomization's folder`},
	{regexp.MustCompile(`may not add resource with an already registered id: ([^\s'":]+)`),
		`the object $1 occurs twice; keep one of them`},
	{regexp.MustCompile(`no resource matches strategic merge patch "([^"\n]*)"`),
		`no object matches the patch for $1; correct the patch's kind and name`},
	{regexp.MustCompile(`(?:json: |invalid Kustomization: )*unknown field \\*"([A-Za-z0-9]+)\\*"`),
		`kustomization.yaml: there is no field $1; check its spelling`},
	{regexp.MustCompile(
		`yaml: line \d+: (?:did not find|could not find|found|mapping values are not)[a-z ]* [^\n:'"]*`),
		`not valid YAML: $0`},
}

func kustomizeProblem(folder string, err error) string {
	if err == context.Canceled {
		return "interrupted"
	}
	text := err.Error()
	for _, k := range kustomizeTexts {
		if m := k.text.FindStringSubmatchIndex(text); m != nil {
			return string(k.text.ExpandString(nil, k.problem, text, m))
		}
	}
	return "kustomize can't build it; kubectl kustomize " + strings.TrimSpace(
		folder) + " shows why, possibly with values of secrets"
}
