// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package k8sd

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// WorkloadConfig reads from its kubeconfig Secret how a cluster's API server is reached. A kubeconfig that runs
// programs or refers to files is refused. secrets must read past every cache.
func WorkloadConfig(ctx context.Context, secrets client.Reader, cluster types.NamespacedName) (*rest.Config, error) {
	c := Client{opts: Options{Reader: secrets}}
	secret, err := c.secret(ctx, cluster, kubeconfigSuffix)
	if err != nil {
		return nil, err
	}
	cfg, err := restConfig(secret.Data[kubeconfigKey])
	if err != nil {
		return nil, fmt.Errorf("secret %s: %w", client.ObjectKeyFromObject(secret), err)
	}
	return cfg, nil
}
