// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// options of the hub.
type options struct {
	hubID           string
	leaseNamespace  string
	leaseDuration   time.Duration
	renewDeadline   time.Duration
	retryPeriod     time.Duration
	probeInterval   time.Duration
	metricsAddress  string
	healthAddress   string
	memberQPS       float32
	memberBurst     int
	controlPlanes   []string
	engineNamespace string
	log             zap.Options
}

// command is the hub's command line.
func command() *cobra.Command {
	o := options{}
	c := &cobra.Command{
		Use:           "windlass-hub",
		Short:         "Upgrade a fleet of Cluster API management clusters from one hub",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			ctrl.SetLogger(zap.New(zap.UseFlagOptions(&o.log)))
			return run(c.Context(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.hubID, "hub-id", "",
		"name of this hub in the claims that it writes on clusters; it must survive a restore (required)")
	f.StringVar(&o.leaseNamespace, "leader-election-namespace", "windlass-system", "namespace of the hub's leader Lease")
	f.DurationVar(&o.leaseDuration, "leader-election-lease-duration", 15*time.Second,
		"how long others wait before they take over a Lease that is not renewed")
	f.DurationVar(&o.renewDeadline, "leader-election-renew-deadline", 10*time.Second,
		"how long after its last renewal the leader may still write to members")
	f.DurationVar(&o.retryPeriod, "leader-election-retry-period", 2*time.Second, "how often the Lease is tried")
	f.DurationVar(&o.probeInterval, "probe-interval", 10*time.Second, "how often each management cluster is probed")
	f.StringVar(&o.metricsAddress, "metrics-bind-address", ":8443", "where metrics are served over TLS; 0: nowhere")
	f.StringVar(&o.healthAddress, "health-probe-bind-address", ":8081", "where /healthz and /readyz are served; 0: nowhere")
	f.Float32Var(&o.memberQPS, "member-qps", 50, "requests a second to each management cluster")
	f.IntVar(&o.memberBurst, "member-burst", 100, "requests at once to each management cluster")
	f.StringSliceVar(&o.controlPlanes, "control-plane-kinds", []string{"CK8sControlPlane.controlplane.cluster.x-k8s.io"},
		"control plane kinds to drive, as Kind.group")
	f.StringVar(&o.engineNamespace, "engine-lease-namespace", "kube-system",
		"namespace, in a management cluster, of the Lease that hosted and resident engines compete for")
	local := flag.NewFlagSet("", flag.ContinueOnError)
	o.log.BindFlags(local)
	config.RegisterFlags(local)
	f.AddGoFlagSet(local)
	return c
}

func (o options) validate() error {
	if o.hubID == "" {
		return errors.New("--hub-id is missing: it names this hub in the claims that it writes on clusters; accepted: hub-eu-1")
	}
	if problems := validation.IsDNS1123Subdomain(o.hubID); len(problems) > 0 {
		return fmt.Errorf("--hub-id %q: %s; accepted: hub-eu-1", o.hubID, problems[0])
	}
	if o.renewDeadline >= o.leaseDuration {
		return fmt.Errorf("--leader-election-renew-deadline %s must be shorter than --leader-election-lease-duration %s; accepted: 10s and 15s",
			o.renewDeadline, o.leaseDuration)
	}
	_, err := o.kinds()
	return err
}

// kinds reads the control plane kinds.
func (o options) kinds() ([]schema.GroupKind, error) {
	kinds := make([]schema.GroupKind, 0, len(o.controlPlanes))
	for _, text := range o.controlPlanes {
		kind, group, found := strings.Cut(text, ".")
		if !found || kind == "" || group == "" {
			return nil, fmt.Errorf("--control-plane-kinds %q: accepted: CK8sControlPlane.controlplane.cluster.x-k8s.io", text)
		}
		kinds = append(kinds, schema.GroupKind{Group: group, Kind: kind})
	}
	return kinds, nil
}
