// Package planted prints text of somebody else, in each line that says so, and nowhere else.
package planted

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection/foreign"
)

func fields(status metav1.Status, entry *metav1.ManagedFieldsEntry, id identity.Identity) {
	fmt.Println(status.Message)                      // printed
	fmt.Println(entry.Subresource, entry.Manager)    // printed printed
	fmt.Fprintf(os.Stderr, "%q %s\n", id.Name, "id") // printed: quotes alone hide too little
	fmt.Printf("%[2]q %[1]s\n", id.Name, id.Kind)    // printed printed
	fmt.Printf("%d%% of %v\n", 5, id.Namespace)      // printed
	fmt.Printf("%q\n", foreign.Text(id.Name))
	fmt.Println(id) // has a method that makes it safe
	fmt.Println(foreign.Text(status.Message), foreign.Visible(string(status.Reason)))
	for _, cause := range status.Details.Causes {
		slog.Info("refused", "field", cause.Field) // printed
	}
}

func variables(live *unstructured.Unstructured, text foreign.Text) error {
	name := live.GetName()
	line := "the object " + name
	line += "!"
	fmt.Println(len(name), name == "x")
	if name, safe := "x", foreign.Text(name); name != "" {
		fmt.Println(name, safe)
	}
	for _, f := range live.GetFinalizers() {
		fmt.Println(cmp.Or(strings.TrimSpace(f[1:]), "none")) // printed
	}
	fmt.Println(string(text))                                 // printed
	fmt.Println(strings.Join([]string{"a", name}, ", "))      // printed
	fmt.Println(strings.Join(live.GetFinalizers(), ", "))     // printed
	fmt.Println(append([]string{"a"}, string(live.GetUID()))) // printed
	phase, isText, _ := unstructured.NestedString(live.Object, "status", "phase")
	fmt.Println(phase, isText) // printed
	return errors.New(line)    // printed
}

// What others are given, and what they return, is followed.
func throughOthers(live *unstructured.Unstructured) {
	say(live.GetKind())
	sayQuoted(live.GetKind())
	fmt.Println(describe(live)) // printed
}

func say(text string)       { fmt.Println(text) }      // printed
func sayQuoted(text string) { fmt.Printf("%q", text) } // printed

func describe(live *unstructured.Unstructured) string { return "the " + live.GetKind() }

type waiting struct{ old metav1.ObjectMeta }

func (w waiting) Error() string { return "waits for " + w.old.Name } // printed

func (w waiting) Name() string { return w.old.Name }

type hazard struct{ Message, Other string }

func (w waiting) hazards() []hazard {
	first := hazard{Message: w.old.Name, Other: w.old.Name} // printed
	first.Message = w.Name()                                // printed
	return []hazard{first}
}

type listener struct{}

func (listener) HandleWarningHeader(_ int, _, text string) { fmt.Println(text) } // printed

func progress() any {
	return func(finalizers []string) { fmt.Println(finalizers) } // printed
}
