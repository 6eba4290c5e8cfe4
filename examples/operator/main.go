// Operator makes Websites into Deployments, Services, ConfigMaps and Ingresses, and tells who changes them.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/ssaplan/primitives/examples/operator/controller"
)

func main() {
	options, logging := flags()
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(logging)))
	if err := run(options); err != nil {
		fmt.Fprintln(os.Stderr, "operator:", err)
		os.Exit(1)
	}
}

// flags reads the command line. The flag --kubeconfig is controller-runtime's own.
func flags() (ctrl.Options, *zap.Options) {
	options, logging := ctrl.Options{LeaderElectionID: "website-operator", LeaderElectionReleaseOnCancel: true},
		&zap.Options{}
	resync := flag.Duration("resync", 10*time.Minute,
		"how often every Website is looked at without a reason; without a change that sends next to nothing, see "+
			"ctrlssaplan")
	flag.StringVar(&options.Metrics.BindAddress, "metrics", "127.0.0.1:8080", "where to serve metrics; 0 serves none")
	flag.StringVar(&options.HealthProbeBindAddress, "health", ":8081",
		"where to serve /healthz and /readyz; 0 serves none")
	flag.BoolVar(&options.LeaderElection, "leader-elect", false, "run only while no other operator leads")
	flag.StringVar(&options.LeaderElectionNamespace, "leader-elect-namespace", "",
		"where the lease is (default: the pod's namespace)")
	flag.IntVar(&options.Controller.MaxConcurrentReconciles, "workers", 4, "how many Websites are worked on at a time")
	logging.BindFlags(flag.CommandLine)
	flag.Parse()
	options.Cache = cache.Options{SyncPeriod: resync}
	return options, logging
}

func run(options ctrl.Options) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	config.QPS = -1 // the server shares itself out; a throttle here would only make planning slow
	manager, err := controller.NewManager(config, options)
	if err != nil {
		return err
	}
	reconciler, err := controller.New(manager, controller.Options{})
	if err != nil {
		return err
	}
	if _, err := reconciler.Setup(manager); err != nil {
		return err
	}
	if err := errors.Join(manager.AddHealthzCheck("ping", healthz.Ping),
		manager.AddReadyzCheck("ping", healthz.Ping)); err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}
