// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/cmd/windlass/files"
	"github.com/windlass-dev/windlass/cmd/windlass/trial"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// planCommand plans a policy over the hub's inventory.
func planCommand(o *options) *cobra.Command {
	p := &trial.Planning{}
	command := &cobra.Command{
		Use:   "plan [policy | -f policy.yaml]",
		Short: "Print the plan that the hub would make of a policy, and when each cluster would be upgraded",
		Long: "plan prints which clusters a policy takes, in which wave and order, and when each will probably be upgraded.\n" +
			"It takes the hub's inventory; where the files hold an inventory as well, no hub is asked. Nothing is created.\n" +
			"What other rollouts have in flight is not counted.",
		Example: "  windlass plan k8s-1-33\n  windlass plan -f policy.yaml\n  windlass plan -f policy.yaml -f inventory.yaml -o json",
		Args:    onePolicy, ValidArgsFunction: o.complete,
		RunE: func(c *cobra.Command, args []string) error {
			p.Stdin = c.InOrStdin()
			if name := strings.Join(args, ""); name != "" {
				p.Policy = name
			}
			return p.Run(c.OutOrStdout(), time.Now(), func(namespace string) (*files.Objects, error) {
				return o.inventory(c.Context(), namespace, p.HubNamespace)
			})
		},
	}
	commonFlags(command.Flags(), &p.Common)
	return command
}

// inventory is what the hub's namespace holds, with the Freezes of the hub's own.
func (o *options) inventory(ctx context.Context, namespace, hubNamespace string) (*files.Objects, error) {
	hub, given, err := o.hub()
	if err != nil {
		return nil, err
	}
	namespace = cmp.Or(namespace, given)
	objects := &files.Objects{}
	if objects.Policies, err = list(ctx, hub, &fleetv1.RolloutPolicyList{}, namespace,
		func(l *fleetv1.RolloutPolicyList) []fleetv1.RolloutPolicy { return l.Items }); err != nil {
		return nil, err
	}
	if objects.Members, err = list(ctx, hub, &fleetv1.ManagementClusterList{}, namespace,
		func(l *fleetv1.ManagementClusterList) []fleetv1.ManagementCluster { return l.Items }); err != nil {
		return nil, err
	}
	if len(objects.Members) == 0 {
		return nil, fmt.Errorf("namespace %q of the hub holds no ManagementCluster; accepted: another with --namespace, "+
			"or a policy of another in -f", namespace)
	}
	if objects.Clusters, err = list(ctx, hub, &fleetv1.WorkloadClusterList{}, namespace,
		func(l *fleetv1.WorkloadClusterList) []fleetv1.WorkloadCluster { return l.Items }); err != nil {
		return nil, err
	}
	if objects.Calendars, err = list(ctx, hub, &fleetv1.MaintenanceCalendarList{}, namespace,
		func(l *fleetv1.MaintenanceCalendarList) []fleetv1.MaintenanceCalendar { return l.Items }); err != nil {
		return nil, err
	}
	for _, from := range slices.Compact([]string{namespace, hubNamespace}) {
		freezes, err := list(ctx, hub, &fleetv1.FreezeList{}, from,
			func(l *fleetv1.FreezeList) []fleetv1.Freeze { return l.Items })
		if err != nil {
			return nil, err
		}
		objects.Under(&files.Objects{Freezes: freezes})
	}
	return objects, nil
}

// list reads the objects of one kind in a namespace.
func list[L client.ObjectList, T any](ctx context.Context, hub client.Reader, l L, namespace string, items func(L) []T) ([]*T, error) {
	if err := hub.List(ctx, l, client.InNamespace(namespace)); err != nil {
		return nil, explain(fmt.Errorf("listing each %s of namespace %q: %w", reflect.TypeFor[T]().Name(), namespace, err))
	}
	all := items(l)
	pointers := make([]*T, 0, len(all))
	for i := range all {
		pointers = append(pointers, &all[i])
	}
	return pointers, nil
}
