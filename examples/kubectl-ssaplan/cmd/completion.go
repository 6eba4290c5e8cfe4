package cmd

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/input"
	"github.com/ssaplan/primitives/fieldowner"
)

// completionPatience is how long a completion waits for the cluster.
const completionPatience = 3 * time.Second

func newCompletion() *cobra.Command {
	generate := map[string]func(*cobra.Command) error{
		"bash":       func(c *cobra.Command) error { return c.Root().GenBashCompletionV2(c.OutOrStdout(), true) },
		"zsh":        func(c *cobra.Command) error { return c.Root().GenZshCompletion(c.OutOrStdout()) },
		"fish":       func(c *cobra.Command) error { return c.Root().GenFishCompletion(c.OutOrStdout(), true) },
		"powershell": func(c *cobra.Command) error { return c.Root().GenPowerShellCompletionWithDesc(c.OutOrStdout()) },
	}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print a script that completes command lines in a shell",
		Long: `Print a script that lets a shell complete the commands and flags of kubectl-ssaplan, and the values
of -o, --subresource, --context, --cluster, --user and --namespace.

kubectl has its own completion, which runs a program kubectl_complete-NAME for the plugin NAME. The second example
creates that program. It completes "kubectl ssaplan" in every shell in which kubectl completes.`,
		Example: `# in this shell; add the line to ~/.bashrc or ~/.zshrc for all shells
source <(kubectl-ssaplan completion bash)

# for kubectl ssaplan
printf '#!/bin/sh\nexec kubectl-ssaplan __complete "$@"\n' \
  > ~/bin/kubectl_complete-ssaplan
chmod +x ~/bin/kubectl_complete-ssaplan

# in fish
kubectl-ssaplan completion fish | source`,
		Annotations: map[string]string{exitCodes: usualExitCodes},
		ValidArgs:   slices.Sorted(maps.Keys(generate)),
		Args:        cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		RunE:        func(c *cobra.Command, args []string) error { return generate[args[0]](c) },
	}
}

// complete tells the shell the values of the flags that a command has. config is nil if it needs no cluster.
func complete(c *cobra.Command, config *genericclioptions.ConfigFlags, outputs []string) {
	values := map[string]completer{
		"output": fixed(outputs), "filename": files, "kustomize": folders, "from": files, "to": files,
		"field-manager": fixed(nil), "ignore": fixed(nil), "adopt": fixed([]string{"auto", fieldowner.ClientSideApply}),
		"clear": fixed([]string{"auto"}), "lost-version": fixed(nil), "existing": fixed(existingNames()),
		"like":        fixed(toolNames()),
		"subresource": fixed([]string{"status", "scale"}),
	}
	if config != nil {
		values["context"] = configured(config,
			func(k api.Config) []string { return slices.Sorted(maps.Keys(k.Contexts)) })
		values["contexts"] = values["context"]
		values["cluster"] = configured(config,
			func(k api.Config) []string { return slices.Sorted(maps.Keys(k.Clusters)) })
		values["user"] = configured(config,
			func(k api.Config) []string { return slices.Sorted(maps.Keys(k.AuthInfos)) })
		values["namespace"] = namespaces(config)
	}
	for flag, value := range values {
		if c.Flags().Lookup(flag) != nil {
			_ = c.RegisterFlagCompletionFunc(flag, value) // fails only for a flag that there isn't, or twice
		}
	}
	c.ValidArgsFunction = cobra.NoFileCompletions
}

type completer = func(c *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective)

func fixed(values []string) completer {
	return func(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
		return startingWith(start, values), cobra.ShellCompDirectiveNoFileComp
	}
}

func files(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var extensions []string
	for _, e := range input.Extensions() {
		extensions = append(extensions, strings.TrimPrefix(e, "."))
	}
	return extensions, cobra.ShellCompDirectiveFilterFileExt
}

func folders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// configured completes with what stands in the kubeconfig. Nothing can be said of one that can't be read.
func configured(config *genericclioptions.ConfigFlags, names func(api.Config) []string) completer {
	return func(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
		kubeconfig, err := config.ToRawKubeConfigLoader().RawConfig()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return startingWith(start, names(kubeconfig)), cobra.ShellCompDirectiveNoFileComp
	}
}

// namespaces completes with those of the cluster. It gives up silently, as there is nowhere to say why.
func namespaces(config *genericclioptions.ConfigFlags) completer {
	return func(c *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
		names, _ := listNamespaces(c.Context(), config)
		return startingWith(start, names), cobra.ShellCompDirectiveNoFileComp
	}
}

func listNamespaces(ctx context.Context, config *genericclioptions.ConfigFlags) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, completionPatience)
	defer cancel()
	cluster, err := findCluster(ctx, config)
	if err != nil {
		return nil, err
	}
	client, err := dynamic.NewForConfig(cluster.config)
	if err != nil {
		return nil, err
	}
	list, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).List(ctx,
		metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, item := range list.Items {
		names = append(names, item.GetName())
	}
	return names, nil
}

func startingWith(start string, values []string) []string {
	var out []string
	for _, v := range values {
		if strings.HasPrefix(v, start) {
			out = append(out, v)
		}
	}
	return out
}
