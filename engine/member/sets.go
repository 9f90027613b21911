// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/engine/capi"
)

// MachineSets reads the MachineSets of a pool, old ones included.
func (m Member) MachineSets(ctx context.Context, r client.Reader, pool types.NamespacedName) ([]capi.MachineSet, error) {
	list := capi.List(m.Kinds.MachineSet)
	err := r.List(ctx, list, client.InNamespace(pool.Namespace),
		client.MatchingLabels{capi.DeploymentNameLabel: pool.Name})
	if err != nil {
		return nil, fmt.Errorf("listing the MachineSets of pool %s: %w", pool, err)
	}
	sets := make([]capi.MachineSet, 0, len(list.Items))
	for i := range list.Items {
		sets = append(sets, capi.ParseMachineSet(&list.Items[i]))
	}
	return sets, nil
}
