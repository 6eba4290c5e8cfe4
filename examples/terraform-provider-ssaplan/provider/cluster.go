package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/ssaplan/primitives/authresilience"
)

// cluster is the attribute of this name.
type cluster struct {
	Host                 types.String `tfsdk:"host"`
	ClusterCACertificate types.String `tfsdk:"cluster_ca_certificate"`
	Token                types.String `tfsdk:"token"`
	ClientCertificate    types.String `tfsdk:"client_certificate"`
	ClientKey            types.String `tfsdk:"client_key"`
	Exec                 *execPlugin  `tfsdk:"exec"`
	Kubeconfig           types.String `tfsdk:"kubeconfig"`
	Context              types.String `tfsdk:"context"`
}

type execPlugin struct {
	APIVersion types.String `tfsdk:"api_version"`
	Command    types.String `tfsdk:"command"`
	Args       []string     `tfsdk:"args"`
	Env        types.Map    `tfsdk:"env"`
}

// clusterTexts are the texts of the attribute.
var clusterTexts = []struct {
	name, description string
	secret            bool
}{
	{"host", "Address of the API server, `https://…`. Either this or `kubeconfig`.", false},
	{"cluster_ca_certificate", "The PEM certificates of the authorities that sign the server's certificate.", false},
	{"token", "Bearer token. The state stores it for a resource, but not for the provider. It never stores tokens " +
		"that `exec` prints.", true},
	{"client_certificate", "A PEM client certificate.", false},
	{"client_key", "The PEM key of `client_certificate`.", true},
	{"kubeconfig", "The content of a kubeconfig, such as `file(\"~/.kube/config\")`.", true},
	{"context", "A context of `kubeconfig`. Default: its current context.", false},
}

// What the attributes say of themselves.
const (
	resourceCluster = "The cluster of the object. Default: the `cluster` of the provider's configuration."
	providerCluster = "The cluster of all resources without a `cluster`. Default: the current context of the files " +
		"in the environment variable `KUBECONFIG`."
	execProgram = "A program that prints credentials. It runs when credentials are needed."
	execVersion = "Default: `client.authentication.k8s.io/v1`."
	execCommand = "The program."
	execArgs    = "The arguments of the program."
	execEnv     = "More environment variables for the program."
)

// clusterAttribute is the same for the provider and all that it has. Its secrets are sensitive, and it isn't as a
// whole: then it would be sensitive where there is none, too, and of several sensitive attributes Terraform 1.11 keeps
// the order by chance, and takes another one for a change.
func clusterAttribute(description string) schema.SingleNestedAttribute {
	attributes := map[string]schema.Attribute{
		"exec": schema.SingleNestedAttribute{Optional: true, MarkdownDescription: execProgram,
			Attributes: map[string]schema.Attribute{
				"api_version": schema.StringAttribute{Optional: true, MarkdownDescription: execVersion},
				"command":     schema.StringAttribute{Required: true, MarkdownDescription: execCommand},
				"args": schema.ListAttribute{Optional: true, ElementType: types.StringType,
					MarkdownDescription: execArgs},
				"env": schema.MapAttribute{Optional: true, Sensitive: true, ElementType: types.StringType,
					MarkdownDescription: execEnv},
			}},
	}
	for _, text := range clusterTexts {
		attributes[text.name] = schema.StringAttribute{Optional: true, Sensitive: text.secret,
			MarkdownDescription: text.description}
	}
	return schema.SingleNestedAttribute{Optional: true, MarkdownDescription: description, Attributes: attributes}
}

// tokenWOAttribute is the token that is kept nowhere.
func tokenWOAttribute() schema.StringAttribute {
	return schema.StringAttribute{Optional: true, WriteOnly: true,
		MarkdownDescription: "The token of `cluster`. Neither plan nor state stores it, so it may be ephemeral, and " +
			"a new token is no change. " +
			"Refresh and destroy then use the `cluster` of the provider's configuration. Needs Terraform 1.11."}
}

// isNamed reports whether a cluster says anything. What Terraform generates for an import says nothing.
func isNamed(cluster types.Object) bool {
	for _, value := range cluster.Attributes() {
		if !value.IsNull() {
			return true
		}
	}
	return cluster.IsUnknown()
}

// emptyCluster is what Terraform writes for the cluster when it generates the configuration of an import.
func emptyCluster(ctx context.Context) types.Object {
	typesOf := clusterAttribute(resourceCluster).GetType().(types.ObjectType).AttrTypes
	values := map[string]attr.Value{}
	for name, of := range typesOf {
		null, err := of.ValueFromTerraform(ctx, tftypes.NewValue(of.TerraformType(ctx), nil))
		if err != nil {
			return types.ObjectNull(typesOf)
		}
		values[name] = null
	}
	return types.ObjectValueMust(typesOf, values)
}

// withToken returns the cluster with a token that stands beside it.
func withToken(ctx context.Context, cluster types.Object, token types.String) (types.Object, error) {
	values := cluster.Attributes()
	switch {
	case token.IsNull() || cluster.IsUnknown():
		return cluster, nil
	case !isNamed(cluster):
		return cluster, errors.New("token_wo: needs cluster")
	case !values["token"].IsNull():
		return cluster, errors.New("cluster: name either token or token_wo")
	}
	values["token"] = token
	return types.ObjectValueMust(cluster.AttributeTypes(ctx), values), nil
}

// clusterConfig returns how to reach a cluster, which is null if there is none.
func clusterConfig(ctx context.Context, block types.Object) (*rest.Config, error) {
	config, err := namedConfig(ctx, block)
	if err == nil && config.ExecProvider != nil {
		said.count()
	}
	return config, err
}

func namedConfig(ctx context.Context, block types.Object) (*rest.Config, error) {
	if block.IsNull() {
		return environmentConfig()
	}
	if !isKnown(ctx, block) {
		return nil, errors.New("cluster: isn't known yet")
	}
	var c cluster
	if diags := block.As(ctx, &c, basetypes.ObjectAsOptions{}); diags.HasError() {
		return nil, fmt.Errorf("cluster: %s", diags[0].Detail())
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Host.IsNull() {
		return kubeconfigConfig(c.Kubeconfig.ValueString(), c.Context.ValueString())
	}
	return c.hostConfig(ctx)
}

// check says which attributes don't go together. It doesn't look at unknown values.
func (c *cluster) check() error {
	credentials := !c.Token.IsNull() || !c.ClientCertificate.IsNull() || !c.ClientKey.IsNull() || c.Exec != nil
	switch {
	case c.Host.IsNull() == c.Kubeconfig.IsNull():
		return errors.New("cluster: name either host or kubeconfig")
	case !c.Kubeconfig.IsNull() && (credentials || !c.ClusterCACertificate.IsNull()):
		return errors.New("cluster: with kubeconfig, certificates and credentials come from there: remove them here")
	case c.Kubeconfig.IsNull() && !c.Context.IsNull():
		return errors.New("cluster: context needs kubeconfig")
	case c.ClientCertificate.IsNull() != c.ClientKey.IsNull():
		return errors.New("cluster: client_certificate and client_key need each other")
	}
	return nil
}

func (c *cluster) hostConfig(ctx context.Context) (*rest.Config, error) {
	config := &rest.Config{
		Host:        c.Host.ValueString(),
		BearerToken: c.Token.ValueString(),
		TLSClientConfig: rest.TLSClientConfig{
			CAData:   []byte(c.ClusterCACertificate.ValueString()),
			CertData: []byte(c.ClientCertificate.ValueString()),
			KeyData:  []byte(c.ClientKey.ValueString()),
		},
	}
	if c.Exec == nil {
		return config, nil
	}
	env := map[string]string{}
	if diags := c.Exec.Env.ElementsAs(ctx, &env, false); diags.HasError() {
		return nil, fmt.Errorf("cluster: exec: env: %s", diags[0].Detail())
	}
	config.ExecProvider = c.Exec.provider(env)
	return config, nil
}

func (e *execPlugin) provider(env map[string]string) *api.ExecConfig {
	plugin := &api.ExecConfig{
		APIVersion: e.APIVersion.ValueString(), Command: e.Command.ValueString(), Args: e.Args,
		InteractiveMode: api.NeverExecInteractiveMode,
	}
	if plugin.APIVersion == "" {
		plugin.APIVersion = "client.authentication.k8s.io/v1"
	}
	for _, name := range slices.Sorted(maps.Keys(env)) { // client-go runs the program anew for another order
		plugin.Env = append(plugin.Env, api.ExecEnvVar{Name: name, Value: env[name]})
	}
	return plugin
}

// kubeconfigConfig reads the content of a kubeconfig. No error quotes it.
func kubeconfigConfig(content, contextName string) (*rest.Config, error) {
	loaded, err := clientcmd.Load([]byte(content))
	if err != nil {
		return nil,
			errors.New("cluster: kubeconfig can't be read: it has to be the content of a kubeconfig, not its path")
	}
	config, err := clientcmd.NewNonInteractiveClientConfig(*loaded, contextName, &clientcmd.ConfigOverrides{},
		nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("cluster: kubeconfig: %w", authresilience.Redact(err))
	}
	return config, nil
}

// environmentConfig reads the files that KUBECONFIG names. The file in the home directory is not looked at: what it
// leads to is an accident.
func environmentConfig() (*rest.Config, error) {
	if os.Getenv(clientcmd.RecommendedConfigPathEnvVar) == "" {
		return nil,
			errors.New(
				"neither the resource nor the provider has a cluster, and KUBECONFIG isn't set: name one, or set KUBECONFIG")
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules,
		&clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, errors.New("the files that KUBECONFIG names can't be read, or have no current context")
	}
	return config, nil
}
