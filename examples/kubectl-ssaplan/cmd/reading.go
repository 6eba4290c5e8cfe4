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
	"github.com/ssaplan/primitives/identity/importid"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// reading is what the commands that read one object share.
type reading struct {
	genericiooptions.IOStreams
	config  *genericclioptions.ConfigFlags
	output  string
	cluster *cluster
	planner *ssaplan.Planner
}

func newReading(streams genericiooptions.IOStreams) *reading {
	return &reading{IOStreams: streams, config: genericclioptions.NewConfigFlags(true)}
}

func (r *reading) addFlags(c *cobra.Command, outputs []string) {
	c.Flags().StringVarP(&r.output, "output", "o", outputs[0], "output `FORMAT`: "+strings.Join(outputs, ", "))
	r.config.AddFlags(c.Flags())
	complete(c, r.config, outputs)
}

// read finds the cluster, and imports the object that the user names from there.
func (r *reading) read(ctx context.Context,
	find func(context.Context) (importid.ID, error)) (*explain.Imported, error) {
	var err error
	if r.cluster, err = findCluster(ctx, r.config); err != nil {
		return nil, err
	}
	r.planner, err = newPlanner(r.cluster.config, ssaplan.Options{
		FieldManager: manager, DefaultNamespace: r.cluster.namespace, ThrottleRetries: throttleRetries,
	})
	if err != nil {
		return nil, fmt.Errorf("%w; check the kubeconfig and --server", err)
	}
	imported, err := await(ctx, func() (*explain.Imported, error) {
		id, err := find(ctx)
		if err != nil {
			return nil, err
		}
		return r.planner.Import(ctx, id)
	})
	if err != nil {
		return nil, r.problem(ctx, err)
	}
	return imported, nil
}

// problem says in a line what keeps an object from being read.
func (r *reading) problem(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case concernsCluster(err):
		return errors.New(clusterFailure(r.cluster.config.Host, err, 0).Message)
	}
	return fmt.Errorf("%w%s", authresilience.Redact(err), nextStep(authresilience.Classify(err)))
}

func identityOf(obj *unstructured.Unstructured) identity.Identity {
	return identity.Identity{
		APIVersion: obj.GetAPIVersion(), Kind: obj.GetKind(), Namespace: obj.GetNamespace(), Name: obj.GetName(),
	}
}
