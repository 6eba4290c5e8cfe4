package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
)

// reading is what the commands that read one object share.
type reading struct {
	genericiooptions.IOStreams
	config  *genericclioptions.ConfigFlags
	output  string
	cluster *cluster
}

func newReading(streams genericiooptions.IOStreams) *reading {
	return &reading{IOStreams: streams, config: genericclioptions.NewConfigFlags(true)}
}

func (r *reading) addFlags(c *cobra.Command, outputs []string) {
	c.Flags().StringVarP(&r.output, "output", "o", outputs[0], "output `FORMAT`: "+strings.Join(outputs, ", "))
	addClusterFlags(c, r.config)
	complete(c, r.config, outputs)
}

// read finds the cluster and gets what the user calls name from there.
func (r *reading) read(
	ctx context.Context, name string, get func(context.Context) (*unstructured.Unstructured, error),
) (*unstructured.Unstructured, error) {
	var err error
	if r.cluster, err = findCluster(ctx, r.config); err != nil {
		return nil, err
	}
	obj, err := await(ctx, func() (*unstructured.Unstructured, error) { return get(ctx) })
	if err != nil {
		return nil, r.problem(ctx, name, err)
	}
	return obj, nil
}

// problem says in a line what keeps an object from being read.
func (r *reading) problem(ctx context.Context, name string, err error) error {
	var usage usageError
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case errors.As(err, &usage):
		return fmt.Errorf("%s: %w", name, err)
	case concernsCluster(err):
		return errors.New(clusterFailure(r.cluster.config.Host, err, 0).Message)
	}
	return fmt.Errorf("%s: %w%s", name, authresilience.Redact(err), nextStep(authresilience.Classify(err)))
}

// usageError is an error of the command line that the cluster has shown. Its text says what to do.
type usageError string

func (e usageError) Error() string { return string(e) }

func identityOf(obj *unstructured.Unstructured) identity.Identity {
	return identity.Identity{
		APIVersion: obj.GetAPIVersion(), Kind: obj.GetKind(), Namespace: obj.GetNamespace(), Name: obj.GetName(),
	}
}
