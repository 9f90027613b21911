// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// Name is the multicluster-runtime name of a ManagementCluster: "<namespace>/<name>".
func Name(namespace, name string) multicluster.ClusterName {
	return multicluster.ClusterName(namespace + "/" + name)
}

// Key is the ManagementCluster that a name stands for.
func Key(name multicluster.ClusterName) types.NamespacedName {
	namespace, rest, _ := strings.Cut(string(name), "/")
	return types.NamespacedName{Namespace: namespace, Name: rest}
}

// ClusterKey is the Cluster that an object of a member belongs to, or is.
func ClusterKey(o client.Object) types.NamespacedName {
	key := types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetLabels()[capi.ClusterNameLabel]}
	u, ok := o.(*unstructured.Unstructured)
	switch {
	case ok && u.GetKind() == "Cluster":
		key.Name = o.GetName()
	case key.Name == "" && ok:
		key.Name = capi.ParseControlPlane(u).Cluster
	}
	return key
}

// Accepted reports whether a ManagementCluster is what it was registered as: reachable at the last look, serving
// Cluster API, no duplicate, and without a field that is not known.
func Accepted(mc *fleetv1.ManagementCluster) bool {
	return len(mc.Spec.Unknown) == 0 && meta.IsStatusConditionTrue(mc.Status.Conditions, fleetv1.ReadyCondition)
}

// PerMachine reports whether the hub grants machines one by one in a member, to the controllers that are there.
func PerMachine(mc *fleetv1.ManagementCluster) bool { return mc.Spec.Engine == fleetv1.EngineProvider }

// KeysOf are the annotation keys in use in a member.
func KeysOf(mc *fleetv1.ManagementCluster) protocol.Keys {
	if mc.Status.Engine != nil && !PerMachine(mc) && mc.Status.Engine.KeyPrefix != "" {
		return protocol.KeysFor(mc.Status.Engine.KeyPrefix)
	}
	return protocol.KeysFor(protocol.ProviderPrefix)
}
