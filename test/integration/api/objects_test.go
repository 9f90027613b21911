// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"context"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/test/env"
)

// The least that is accepted of each kind that people write.
const (
	leastPolicy = `
target: {channel: 1.33-classic/stable}
clusters: {selector: {matchLabels: {tier: prod}}}
canaries: {names: [mgmt-a/shop/eu-1]}
waves: [{name: rest, rest: true}]
anyTime: true
`
	leastManagementCluster = `
kubeconfigSecretRef: {name: mgmt-a}
engine: Agent
`
	leastCalendar = `
windows: [{schedule: 0 2 * * 6, duration: 4h}]
`
	leastFreeze = `
scope: {all: true}
reason: Christmas holidays
by: ` + admin + `
`
	leastApproval = `
rollout: k8s-1-33-7c2f1
wave: early
planDigest: 5f0c1d9e27b34a68c1d2
decision: Approved
reason: canaries looked at
by: ` + admin + `
`
	// admin is whom the API server takes the clients of this suite for.
	admin = "windlass-test"
)

// least is what is accepted of a kind.
func least(kind string) string {
	return map[string]string{
		"ManagementCluster": leastManagementCluster, "RolloutPolicy": leastPolicy,
		"MaintenanceCalendar": leastCalendar, "Freeze": leastFreeze, "Approval": leastApproval,
	}[kind]
}

// object has a spec written in YAML, changed as a merge patch would: what is null goes.
func object(kind, spec, change string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": merged(parsed(spec), parsed(change))}}
	u.SetGroupVersionKind(fleetv1.GroupVersion.WithKind(kind))
	u.SetNamespace(env.HubNamespace)
	u.SetName("made-up")
	return u
}

func parsed(text string) map[string]any {
	values := map[string]any{}
	ExpectWithOffset(2, yaml.Unmarshal([]byte(text), &values)).To(Succeed(), text)
	return values
}

func merged(values, change map[string]any) map[string]any {
	for key, value := range change {
		inner, both := value.(map[string]any)
		old, isMap := values[key].(map[string]any)
		switch {
		case value == nil:
			delete(values, key)
		case both && isMap:
			values[key] = merged(old, inner)
		default:
			values[key] = value
		}
	}
	return values
}

// try asks the API server whether it would create an object, and leaves nothing behind.
func try(ctx context.Context, c client.Client, o client.Object) error {
	return c.Create(ctx, o, client.DryRunAll)
}
