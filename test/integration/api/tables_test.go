// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/test/env"
)

// tableOf asks for a list as kubectl does: as a table.
func tableOf(ctx context.Context, resource string) (*metav1.Table, error) {
	table := &metav1.Table{}
	c, err := discovery.NewDiscoveryClientForConfig(rest.CopyConfig(config))
	if err != nil {
		return nil, err
	}
	err = c.RESTClient().Get().
		AbsPath("/apis", fleetv1.GroupVersion.Group, fleetv1.GroupVersion.Version, "namespaces", env.HubNamespace, resource).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").
		Do(ctx).Into(table)
	return table, err
}

// discovered is what the API server says of our group.
func discovered() (*metav1.APIResourceList, error) {
	c, err := discovery.NewDiscoveryClientForConfig(rest.CopyConfig(config))
	if err != nil {
		return nil, err
	}
	return c.ServerResourcesForGroupVersion(fleetv1.GroupVersion.String())
}
