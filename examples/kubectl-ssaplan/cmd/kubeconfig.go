package cmd

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/manifest"
)

// kubeconfigFiles returns the files that make up the kubeconfig.
func kubeconfigFiles(access clientcmd.ConfigAccess) []string {
	if access.IsExplicitFile() {
		return []string{access.GetExplicitFile()}
	}
	return access.GetLoadingPrecedence()
}

func kubeconfigName(access clientcmd.ConfigAccess) string {
	return "kubeconfig " + strings.Join(kubeconfigFiles(access), ", ")
}

// kubeconfigProblem finds the file that can't be loaded. The texts of err can quote it, and a kubeconfig holds tokens.
func kubeconfigProblem(access clientcmd.ConfigAccess, err error) error {
	for _, file := range kubeconfigFiles(access) {
		text, readErr := os.ReadFile(file)
		var cause *fs.PathError
		switch {
		case errors.Is(readErr, fs.ErrNotExist):
			if access.IsExplicitFile() {
				return fmt.Errorf("kubeconfig %s: there is no such file; check the path after --kubeconfig", file)
			}
		case errors.As(readErr, &cause):
			return fmt.Errorf("kubeconfig %s: can't be read: %w", file, cause.Err)
		default:
			if _, err := clientcmd.Load(text); err != nil {
				return fmt.Errorf("kubeconfig %s: %s; correct the file, or name another one with --kubeconfig", file,
					misreading(text, err))
			}
		}
	}
	return fmt.Errorf("%s: %w", kubeconfigName(access), err)
}

// misreading says without quoting a kubeconfig why it can't be loaded: on which line, or in which field.
func misreading(text []byte, err error) string {
	if problem, known := manifest.SyntaxProblem(err, 1); known {
		return problem
	}
	var content map[string]any
	if yaml.Unmarshal(text, &content) == nil {
		if problem := misfit(nil, content, reflect.TypeFor[clientcmdv1.Config]()); problem != "" {
			return problem
		}
	}
	return "is no kubeconfig"
}

// misfit says which field isn't of the sort that its type needs; "" if there is none.
func misfit(at projection.Path, value any, typ reflect.Type) string {
	if value == nil || reflect.PointerTo(typ).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return ""
	}
	switch typ.Kind() {
	case reflect.Pointer:
		return misfit(at, value, typ.Elem())
	case reflect.Struct, reflect.Map:
		return misfitOfMap(at, value, typ)
	case reflect.Slice:
		if typ.Elem().Kind() == reflect.Uint8 {
			return misfitOfBytes(at, value)
		}
		return misfitOfList(at, value, typ)
	case reflect.String:
		if _, fits := value.(string); !fits {
			return at.String() + ": has to be a string"
		}
	case reflect.Bool:
		if _, fits := value.(bool); !fits {
			return at.String() + ": has to be true or false"
		}
	}
	return ""
}

func misfitOfMap(at projection.Path, value any, typ reflect.Type) string {
	fields, fits := value.(map[string]any)
	if !fits {
		return at.String() + ": has to be a map"
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if of, known := fieldType(typ, name); known {
			if problem := misfit(at.Child(projection.Field(name)), fields[name], of); problem != "" {
				return problem
			}
		}
	}
	return ""
}

func fieldType(typ reflect.Type, name string) (of reflect.Type, known bool) {
	if typ.Kind() == reflect.Map {
		return typ.Elem(), true
	}
	for i := range typ.NumField() {
		if tag, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ","); tag == name {
			return typ.Field(i).Type, true
		}
	}
	return nil, false
}

func misfitOfBytes(at projection.Path, value any) string {
	switch v := value.(type) {
	case []any: // JSON can have bytes as a list of numbers
		return ""
	case string:
		if _, err := base64.StdEncoding.DecodeString(v); err == nil {
			return ""
		}
	}
	return at.String() + ": has to be base64"
}

func misfitOfList(at projection.Path, value any, typ reflect.Type) string {
	items, fits := value.([]any)
	if !fits {
		return at.String() + ": has to be a list"
	}
	for i, item := range items {
		if problem := misfit(at.Child(projection.Index(i)), item, typ.Elem()); problem != "" {
			return problem
		}
	}
	return ""
}
