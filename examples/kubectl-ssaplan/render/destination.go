package render

import (
	"fmt"
	"strings"

	"github.com/ssaplan/primitives/projection/foreign"
)

// Destination names the cluster that was planned for, and who writes there. Of a cluster that the kubeconfig lacks it
// has the context at most.
type Destination struct {
	// Context is that of the kubeconfig, empty without one.
	Context string `json:"context,omitempty"`
	// Server is the address without credentials.
	Server string `json:"server,omitempty"`
	// Namespace is that of manifests that name none.
	Namespace string `json:"namespace,omitempty"`
	// FieldManager is the name under which fields are owned.
	FieldManager string `json:"fieldManager,omitempty"`
}

// String returns one line: `context "prod", server https://…, namespace "shop", field manager "kubectl-ssaplan"`.
func (d Destination) String() string {
	var parts []string
	if d.Context != "" {
		parts = append(parts, fmt.Sprintf("context %q", foreign.Text(d.Context)))
	}
	if d.Server != "" {
		parts = append(parts, "server "+foreign.Text(d.Server).String(),
			fmt.Sprintf("namespace %q, field manager %q", foreign.Text(d.Namespace), foreign.Text(d.FieldManager)))
	}
	return strings.Join(parts, ", ")
}

// IsLike reports whether both are the same, but for the name that a kubeconfig has for the cluster.
func (d Destination) IsLike(other Destination) bool {
	d.Context = other.Context
	return d == other
}

// name returns the context, or the server where there is none.
func (d Destination) name() string {
	if d.Context == "" {
		return foreign.Text(d.Server).String()
	}
	return foreign.Text(d.Context).String()
}

// Heading returns the line above a report, and a blank one; nothing without a destination.
func (t Text) Heading(d Destination) string {
	if d == (Destination{}) {
		return ""
	}
	return strings.Join(Wrap(d.heading(), t.Width, "  "), "\n") + "\n\n"
}

func (d Destination) heading() string { return "Target: " + d.String() }

// markdown returns the line as code, which no name in it can end.
func (d Destination) markdown() string {
	return "\nTarget: `" + strings.ReplaceAll(d.String(), "`", "'") + "`\n"
}

// Line returns a line of JSON with the target, as [Report.JSON] has it; nothing without one.
func (d Destination) Line() ([]byte, error) {
	if d == (Destination{}) {
		return nil, nil
	}
	line, err := compact(struct {
		Target Destination `json:"target"`
	}{d})
	return append(line, '\n'), err
}
