// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"context"
	"errors"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/windlass-dev/windlass/cmd/windlass/admit"
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

// try asks the API server whether it would create an object, and leaves nothing behind. What windlass says of the object
// without a server has to be the same.
func try(ctx context.Context, c client.Client, o client.Object) error {
	GinkgoHelper()
	offline, ours := refusals(o)
	err := c.Create(ctx, o, client.DryRunAll)
	if !ours {
		return err
	}
	switch status := apierrors.APIStatus(nil); {
	case errors.As(err, &status) && apierrors.IsInvalid(err) && !strings.Contains(err.Error(), "ValidatingAdmissionPolicy"):
		var online []string
		for _, cause := range status.Status().Details.Causes {
			if !strings.Contains(cause.Message, "some validation rules were not checked") {
				online = append(online, cause.Field+": "+cause.Message)
			}
		}
		Expect(offline).To(ConsistOf(online), "windlass must say what the API server says")
	case !apierrors.IsBadRequest(err): // there the object could not even be read
		Expect(offline).To(BeEmpty(), "windlass must not refuse what the schema accepts: %v", err)
	}
	return err
}

// refusals are what windlass says of an object that is going to be created, where it is of the hub's kinds.
func refusals(o client.Object) (all []string, ours bool) {
	GinkgoHelper()
	u, is := o.(*unstructured.Unstructured)
	if !is || u.GroupVersionKind().GroupVersion() != fleetv1.GroupVersion {
		return nil, false
	}
	data, err := u.MarshalJSON()
	Expect(err).NotTo(HaveOccurred())
	values := map[string]any{}
	Expect(json.Unmarshal(data, &values)).To(Succeed())
	errs, err := admit.Create(values)
	Expect(err).NotTo(HaveOccurred())
	for _, e := range errs {
		all = append(all, e.Field+": "+e.ErrorBody())
	}
	return all, true
}
