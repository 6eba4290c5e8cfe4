package cmd

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/client"
)

// cluster is where the objects are.
type cluster struct {
	config    *rest.Config
	context   string           // of the kubeconfig; empty if there is none
	namespace string           // for manifests that name none
	enforced  bool             // the user asked for this namespace
	user      string           // of the kubeconfig
	planner   *ssaplan.Planner // of the commands that plan
	noOps     *remembered      // of earlier runs; nil if they aren't to be
}

// target names the cluster, the namespace for manifests that name none, and the field manager.
func (c *cluster) target(manager string) render.Destination {
	return render.Destination{
		Context: c.context, Server: authresilience.RedactAddress(c.config.Host).String(), Namespace: c.namespace,
		FieldManager: manager,
	}
}

// throttleRetries is how often a request is repeated that the server had no time for, as kubectl does.
const throttleRetries = 10

// connect finds the cluster, and makes its planner. It sends nothing yet.
func (o *options) connect(ctx context.Context) (*cluster, error) {
	if o.connected != nil {
		return o.connected, nil
	}
	c, err := findCluster(ctx, o.config)
	if err != nil {
		return nil, err
	}
	if o.saved != nil {
		if err := o.takeNamespace(c); err != nil {
			return nil, err
		}
	}
	planning := ssaplan.Options{
		FieldManager: o.manager, RefuseConflicts: !o.force, DefaultNamespace: c.namespace,
		AllowVersionChange: true, ThrottleRetries: throttleRetries, Sensitive: o.hidden, ShowServerText: o.serverText,
		ShowValuesOf: o.kindsShown(), ShowValuesOption: "--show-values-of",
	}
	if c.noOps, err = o.remember(ctx, c); err != nil {
		return nil, err
	}
	if c.noOps != nil {
		planning.NoOps = c.noOps.cache
	}
	c.planner, err = newPlanner(c.config, planning)
	if err != nil {
		return nil, fmt.Errorf("%w; check the kubeconfig and --server", err)
	}
	return c, nil
}

func newPlanner(config *rest.Config, options ssaplan.Options) (*ssaplan.Planner, error) {
	api, err := client.New(config, client.Options{})
	if err != nil {
		return nil, err
	}
	return ssaplan.New(api, options)
}

// kindsShown returns the kinds that --show-values-of names.
func (o *options) kindsShown() (kinds []schema.GroupKind) {
	for _, name := range o.showValuesOf {
		kinds = append(kinds, schema.ParseGroupKind(name))
	}
	return kinds
}

// kubeconfigPatience is how long to wait for what the kubeconfig has, which may come out of a pipe.
const kubeconfigPatience = 10 * time.Second

// findCluster finds the cluster in the flags and the kubeconfig. It sends nothing.
func findCluster(ctx context.Context, flags *genericclioptions.ConfigFlags) (*cluster, error) {
	loader := flags.ToRawKubeConfigLoader()
	if err := refuseDevices(loader.ConfigAccess()); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, kubeconfigPatience)
	defer cancel()
	c, err := await(limited, func() (*cluster, error) { return readCluster(flags, loader) })
	switch name := kubeconfigName(loader.ConfigAccess()); {
	case err == nil:
		redactWords(ctx, c.config)
		return c, nil
	case limited.Err() == nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s: interrupted while reading it", name)
	default:
		return nil, fmt.Errorf("%s: can't be read: nothing came for %v; name another file with --kubeconfig", name,
			kubeconfigPatience)
	}
}

// refuseDevices returns an error if a file of the kubeconfig is a device, which may have no end.
func refuseDevices(access clientcmd.ConfigAccess) error {
	for _, file := range kubeconfigFiles(access) {
		info, err := os.Stat(file)
		if err == nil && info.Mode()&os.ModeDevice != 0 && file != os.DevNull {
			return fmt.Errorf("kubeconfig %s: is a device; name a file with --kubeconfig", file)
		}
	}
	return nil
}

// readCluster reads what the flags and the kubeconfig have.
func readCluster(flags *genericclioptions.ConfigFlags, loader clientcmd.ClientConfig) (*cluster, error) {
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, kubeconfigProblem(loader.ConfigAccess(), err)
	}
	if err := checkContext(flags, raw, loader.ConfigAccess()); err != nil {
		return nil, err
	}
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kubeconfigName(loader.ConfigAccess()), authresilience.Redact(err))
	}
	c := &cluster{config: config, user: userOf(flags, raw), context: contextOf(flags, raw)}
	if c.namespace, c.enforced, err = loader.Namespace(); err != nil {
		return nil, fmt.Errorf("%s: namespace: %w", kubeconfigName(loader.ConfigAccess()), err)
	}
	return c, nil
}

// contextOf returns the name of the context that is used.
func contextOf(flags *genericclioptions.ConfigFlags, raw api.Config) string {
	return cmp.Or(*flags.Context, raw.CurrentContext)
}

// userOf returns the name that the kubeconfig has for the user.
func userOf(flags *genericclioptions.ConfigFlags, raw api.Config) string {
	name := contextOf(flags, raw)
	if *flags.AuthInfoName != "" || raw.Contexts[name] == nil {
		return *flags.AuthInfoName
	}
	return raw.Contexts[name].AuthInfo
}

// checkContext says what the kubeconfig lacks. Left alone, client-go would fall back to http://localhost:8080.
func checkContext(flags *genericclioptions.ConfigFlags, raw api.Config, access clientcmd.ConfigAccess) error {
	if *flags.APIServer != "" || *flags.ClusterName != "" || inCluster() && len(raw.Clusters) == 0 {
		return nil
	}
	where := kubeconfigName(access)
	if len(raw.Clusters) == 0 {
		return fmt.Errorf(
			"%s: no cluster is configured there; name a file with --kubeconfig or KUBECONFIG, or a cluster with --server", where)
	}
	name := contextOf(flags, raw)
	known := strings.Join(slices.Sorted(maps.Keys(raw.Contexts)), ", ")
	context := raw.Contexts[name]
	switch {
	case name == "":
		return fmt.Errorf("%s: current-context: missing; choose with --context one of: %s", where, known)
	case context == nil:
		return fmt.Errorf("%s: there is no context %q; choose with --context one of: %s", where, name, known)
	case raw.Clusters[context.Cluster] == nil:
		return fmt.Errorf("%s: context %q: there is no cluster %q; correct the context", where, name, context.Cluster)
	case context.AuthInfo != "" && raw.AuthInfos[context.AuthInfo] == nil:
		return fmt.Errorf("%s: context %q: there is no user %q; correct the context", where, name, context.AuthInfo)
	}
	return nil
}

func inCluster() bool {
	return os.Getenv("KUBERNETES_SERVICE_HOST") != "" && os.Getenv("KUBERNETES_SERVICE_PORT") != ""
}
