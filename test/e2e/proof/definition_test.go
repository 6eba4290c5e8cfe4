package proof_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// schemasFile has definitions of which objects are made from their schemas alone.
const schemasFile = "testdata/schemas.yaml"

// readDefinitions returns the definitions in a file, or in the YAML files of a folder and those below it. What other
// objects are there is left out, and so are definitions that are there already. One of the same name as another gets
// another group, so that a server can have both.
func readDefinitions(path string) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file)) {
			return err
		}
		found, err := definitionsIn(file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, found...)
		return nil
	})
	return apart(all), err
}

func definitionsIn(file string) (found []*unstructured.Unstructured, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		if !bytes.Contains(document, []byte("CustomResourceDefinition")) {
			continue
		}
		if document, err = yaml.YAMLToJSON(document); err != nil {
			return nil, err
		}
		definition := &unstructured.Unstructured{}
		if err := utiljson.Unmarshal(document, &definition.Object); err == nil && definition.GetKind() == "CustomResourceDefinition" {
			found = append(found, definition)
		}
	}
}

// apart gives every definition a name of its own, and leaves out what is the same as another.
func apart(all []*unstructured.Unstructured) (out []*unstructured.Unstructured) {
	seen, names := map[string]bool{}, map[string]bool{}
	for _, definition := range all {
		delete(definition.Object, "status")
		unstructured.RemoveNestedField(definition.Object, "metadata", "creationTimestamp")
		unstructured.RemoveNestedField(definition.Object, "spec", "conversion") // the conversion webhook doesn't run here
		if spec := shown(definition.Object["spec"]); seen[spec] {
			continue
		} else {
			seen[spec] = true
		}
		for names[definition.GetName()] {
			group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
			plural, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "plural")
			_ = unstructured.SetNestedField(definition.Object, "another."+group, "spec", "group")
			definition.SetName(plural + ".another." + group)
		}
		names[definition.GetName()] = true
		out = append(out, definition)
	}
	return out
}

// definedKind returns the kind that a definition defines: in the version that is stored if that is served, and in the
// others. Its one manifest says no more than what kind it is.
func definedKind(definition *unstructured.Unstructured) (kind, error) {
	var parsed struct {
		Spec struct {
			Group    string
			Names    struct{ Kind string }
			Versions []struct {
				Name            string
				Served, Storage bool
				Schema          struct{ OpenAPIV3Schema *structural }
				Subresources    struct{ Status, Scale *struct{} }
			}
		}
	}
	text, err := json.Marshal(definition.Object)
	if err != nil {
		return kind{}, err
	}
	if err := json.Unmarshal(text, &parsed); err != nil {
		return kind{}, err
	}
	k, spec := kind{}, parsed.Spec
	for _, v := range spec.Versions {
		if !v.Served || v.Schema.OpenAPIV3Schema == nil {
			continue
		}
		k.Versions = append(k.Versions, spec.Group+"/"+v.Name)
		if k.schema == nil || v.Storage {
			k.Manifests = []map[string]any{{"apiVersion": spec.Group + "/" + v.Name, "kind": spec.Names.Kind}}
			k.schema, k.Scale, k.hasStatus = v.Schema.OpenAPIV3Schema, v.Subresources.Scale != nil, v.Subresources.Status != nil
		}
	}
	if k.schema == nil {
		return kind{}, errors.New("no version is served")
	}
	return k, nil
}
