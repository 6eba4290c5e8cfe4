package provider

import (
	"context"
	"errors"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/ssaplan/primitives/authresilience"
)

var (
	yamlBodyPath        = path.Root("yaml_body")
	ignoreFieldsPath    = path.Root("ignore_fields")
	sensitiveFieldsPath = path.Root("sensitive_fields")
	clusterPath         = path.Root("cluster")
	fieldsPath          = path.Root("fields")
	idPath              = path.Root("id")
)

// wrongConfiguration is the summary of everything that a change of the configuration corrects.
const wrongConfiguration = "The configuration can't be used"

func failed(summary string, err error) diag.Diagnostics {
	return diag.Diagnostics{diag.NewErrorDiagnostic(summary, detail(err))}
}

// detail is the text of an error in a diagnostic. The library redacts what a program for credentials says, so a user
// needs to know where to read it.
func detail(err error) string {
	if authresilience.Classify(err) != authresilience.ClassCredentialPlugin {
		return err.Error()
	}
	words := said.redacted()
	return err.Error() + "\n" + strings.ToUpper(words[:1]) + words[1:] + "."
}

func errorOf(diags diag.Diagnostics) error {
	return errors.New(diags[0].Summary() + ": " + diags[0].Detail())
}

// isKnown reports whether a value has no unknown part.
func isKnown(ctx context.Context, value attr.Value) bool {
	raw, err := value.ToTerraformValue(ctx)
	return err == nil && raw.IsFullyKnown()
}
