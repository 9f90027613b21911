// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/windlass-dev/windlass/engine"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// autoPrefix is the value of --key-prefix that leaves it to the engine.
const autoPrefix = "auto"

// options are the flags of the command.
type options struct {
	engine         engine.Options
	controlPlanes  []string
	metricsAddress string
	healthAddress  string
	qps            float32
	burst          int
	log            zap.Options
}

// command is the engine's command line.
func command() *cobra.Command {
	o := options{}
	c := &cobra.Command{
		Use:           "windlass-engine",
		Short:         "Carry out in-place upgrades inside one management cluster",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.complete(); err != nil {
				return err
			}
			ctrl.SetLogger(zap.New(zap.UseFlagOptions(&o.log)))
			return run(c.Context(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.engine.LeaseNamespace, "lease-namespace", engine.DefaultLeaseNamespace,
		"namespace of the Lease "+engine.LeaseName+"; it must be that of every engine that may work in this cluster")
	f.DurationVar(&o.engine.LeaseDuration, "lease-duration", engine.DefaultLeaseDuration,
		"how long others wait before they take over a Lease that is not renewed")
	f.DurationVar(&o.engine.RenewDeadline, "lease-renew-deadline", engine.DefaultRenewDeadline,
		"how long the Lease is tried to be renewed before work stops")
	f.DurationVar(&o.engine.RetryPeriod, "lease-retry-period", engine.DefaultRetryPeriod,
		"pause between tries to take or renew the Lease")
	f.StringVar(&o.engine.KeyPrefix, "key-prefix", autoPrefix,
		"prefix of the annotations that the engine answers: "+protocol.ProviderPrefix+" or, beside other controllers "+
			"that answer it, "+protocol.OwnPrefix+"; "+autoPrefix+": as their leader Leases say")
	f.StringSliceVar(&o.controlPlanes, "control-plane-kinds", nil,
		"kinds of control planes to upgrade, as Kind.group (default CK8sControlPlane.controlplane.cluster.x-k8s.io)")
	f.IntVar(&o.engine.Workers, "workers", engine.DefaultWorkers, "owners, and machines, that are worked on at once")
	f.Float32Var(&o.qps, "kube-api-qps", 50, "requests per second to the API server")
	f.IntVar(&o.burst, "kube-api-burst", 100, "requests to the API server beyond that for a moment")
	f.StringVar(&o.metricsAddress, "metrics-bind-address", "0", "address of the metrics; 0: none")
	f.StringVar(&o.healthAddress, "health-probe-bind-address", ":8081", "address of /healthz and /readyz; 0: none")
	standard := flag.NewFlagSet("", flag.ContinueOnError)
	config.RegisterFlags(standard)
	o.log.BindFlags(standard)
	f.AddGoFlagSet(standard)
	return c
}

// complete checks the flags and fills in what follows from them.
func (o *options) complete() error {
	switch o.engine.KeyPrefix {
	case autoPrefix:
		o.engine.KeyPrefix = ""
	case protocol.ProviderPrefix, protocol.OwnPrefix:
	default:
		return fmt.Errorf("--key-prefix %q: accepted: %s, %s, %s", o.engine.KeyPrefix, autoPrefix,
			protocol.ProviderPrefix, protocol.OwnPrefix)
	}
	for _, text := range o.controlPlanes {
		gk := schema.ParseGroupKind(text)
		if gk.Group == "" || gk.Kind == "" || gk.Kind == strings.ToLower(gk.Kind) {
			return fmt.Errorf("--control-plane-kinds %q: accepted: Kind.group, for example %s", text,
				"CK8sControlPlane.controlplane.cluster.x-k8s.io")
		}
		o.engine.ControlPlaneKinds = append(o.engine.ControlPlaneKinds, gk)
	}
	return nil
}
