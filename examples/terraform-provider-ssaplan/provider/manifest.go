package provider

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
	goyaml "sigs.k8s.io/yaml/goyaml.v2"

	"github.com/ssaplan/primitives/identity"
)

// decodeManifest reads yaml_body. No error quotes it, since it can hold secrets.
func decodeManifest(text string) (*unstructured.Unstructured, error) {
	document, err := onlyDocument(text)
	if err != nil {
		return nil, err
	}
	var obj map[string]any
	if encoded, err := yaml.YAMLToJSON(document); err != nil || json.Unmarshal(encoded, &obj) != nil { // keeps integers exact
		return nil, errors.New("is no object: it needs apiVersion, kind and metadata.name")
	}
	if _, err := identity.Of(obj); err != nil {
		return nil, err
	}
	return &unstructured.Unstructured{Object: obj}, nil
}

// onlyDocument returns the one document that isn't empty. All of the text is read, so that nothing after it is ignored.
func onlyDocument(text string) ([]byte, error) {
	var found any
	documents := goyaml.NewDecoder(strings.NewReader(text))
	documents.SetStrict(true)
	for {
		var document any
		switch err := documents.Decode(&document); {
		case errors.Is(err, io.EOF) && found == nil:
			return nil, errors.New("holds no object: it needs apiVersion, kind and metadata.name")
		case errors.Is(err, io.EOF):
			return goyaml.Marshal(found)
		case err != nil:
			return nil, syntaxError(err)
		case document != nil && found != nil:
			return nil, errors.New("holds more than one YAML document: make a resource for each, for example with for_each")
		case document != nil:
			found = document
		}
	}
}

var yamlLine = regexp.MustCompile(`line (\d+):`)

// syntaxError says where a document is wrong. The parser's own text can quote values.
func syntaxError(err error) error {
	problem := "is no valid YAML"
	if strings.Contains(err.Error(), "already set in map") {
		problem = "has a key twice"
	}
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Errorf("%s, near line %s", problem, m[1])
	}
	return errors.New(problem)
}

// sameManifest reports whether two texts of yaml_body say the same, whatever their order of keys, comments and layout.
func sameManifest(a, b string) bool {
	x, errX := decodeManifest(a)
	y, errY := decodeManifest(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x.Object, y.Object)
}
