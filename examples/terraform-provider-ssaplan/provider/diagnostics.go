package provider

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
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
	return diag.Diagnostics{diag.NewErrorDiagnostic(summary, err.Error())}
}

func errorOf(diags diag.Diagnostics) error {
	return errors.New(diags[0].Summary() + ": " + diags[0].Detail())
}

// isKnown reports whether a value has no unknown part.
func isKnown(ctx context.Context, value attr.Value) bool {
	raw, err := value.ToTerraformValue(ctx)
	return err == nil && raw.IsFullyKnown()
}
