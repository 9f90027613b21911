// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"context"
	"encoding/json"
	"strings"

	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/test/env"
)

// misspelt is law 21: whatever client sends it, a misspelt field is refused; and where nothing refuses it, because the
// admission policies are not installed, the hub does nothing about the object that has it.
func misspelt(ctx context.Context, g Gomega) {
	clusters(ctx, g, "misspelt", "south/misspelt/us-1", "south/misspelt/us-2")
	lenient := client.WithFieldValidation(world.Hub, metav1.FieldValidationIgnore)
	objects := spoilt(g)
	for field, o := range objects {
		err := lenient.Create(ctx, o.DeepCopy(), client.DryRunAll)
		g.Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%s: %v", field, err)
		g.Expect(err).To(MatchError(ContainSubstring(`unknown field "` + last(field) + `"`)))
	}

	unguarded(ctx, g, func() {
		for field, o := range objects {
			g.Expect(lenient.Create(ctx, o)).To(Succeed(), field)
		}
	})
	for field, o := range objects {
		g.Eventually(ctx, func() *metav1.Condition { return readiness(ctx, g, o) }).Should(SatisfyAll(
			HaveField("Status", metav1.ConditionFalse), HaveField("Reason", fleetv1.UnknownFieldReason),
			HaveField("Message", ContainSubstring("unknown field "+field+";"))), field)
	}
	g.Consistently(ctx, func() []string { return begun(ctx, g, "misspelt-") }).Should(BeEmpty())

	// Put right, a policy is planned.
	right := objects["spec.puased"]
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"puased":null,"paused":true}}`))
	g.Expect(lenient.Patch(ctx, right, patch)).To(Succeed())
	g.Expect(phase(ctx, g, right.GetName(), fleetv1.RolloutPaused).Status.Plan).NotTo(BeNil())
	for _, o := range objects {
		g.Expect(client.IgnoreNotFound(world.Hub.Delete(ctx, o))).To(Succeed())
	}
}

// spoilt are objects with one misspelt field each, by its path.
func spoilt(g Gomega) map[string]*unstructured.Unstructured {
	policy := func(name string) *unstructured.Unstructured {
		return unstructuredOf(g, "RolloutPolicy", name, policyFor("misspelt").Spec)
	}
	mc := func(name string) *unstructured.Unstructured {
		return unstructuredOf(g, "ManagementCluster", name, fleetv1.ManagementClusterSpec{
			KubeconfigSecretRef: fleetv1.SecretRef{Name: south}, Engine: fleetv1.EngineAgent, Access: fleetv1.AccessUpgrade,
		})
	}
	all := map[string]*unstructured.Unstructured{
		"spec.clusters.selector.matchExpresions": policy("misspelt-expressions"),
		"spec.clusters.managmentClusterSelector": policy("misspelt-members"),
		"spec.puased":                            policy("misspelt-paused"),
		"spec.upgrade.oder":                      policy("misspelt-order"),
		"spec.namspaces":                         mc("misspelt-namespaces"),
		"spec.maxConcurentClusters":              mc("misspelt-limit"),
	}
	for path, o := range all {
		g.Expect(unstructured.SetNestedField(o.Object, "x", strings.Split(path, ".")...)).To(Succeed(), path)
	}
	return all
}

func unstructuredOf(g Gomega, kind, name string, spec any) *unstructured.Unstructured {
	text, err := json.Marshal(map[string]any{"spec": spec})
	g.Expect(err).NotTo(HaveOccurred())
	o := &unstructured.Unstructured{}
	g.Expect(json.Unmarshal(text, &o.Object)).To(Succeed())
	o.SetGroupVersionKind(fleetv1.GroupVersion.WithKind(kind))
	o.SetNamespace(env.HubNamespace)
	o.SetName(name)
	return o
}

// last is the last step of a path.
func last(path string) string { return path[strings.LastIndex(path, ".")+1:] }

// unguarded does something while the admission policies are not in force. Other stories write nothing misspelt.
func unguarded(ctx context.Context, g Gomega, do func()) {
	var bindings admissionv1.ValidatingAdmissionPolicyBindingList
	g.Expect(world.Hub.List(ctx, &bindings)).To(Succeed())
	for i := range bindings.Items {
		g.Expect(world.Hub.Delete(ctx, &bindings.Items[i])).To(Succeed())
	}
	g.Expect(world.Server.Unguarded(ctx)).To(Succeed())
	do()
	for i := range bindings.Items {
		bindings.Items[i].ResourceVersion = ""
		g.Expect(world.Hub.Create(ctx, &bindings.Items[i])).To(Succeed())
	}
	g.Expect(world.Server.Guarded(ctx)).To(Succeed())
}

// readiness is the Ready condition of an object, empty where it has none yet.
func readiness(ctx context.Context, g Gomega, o *unstructured.Unstructured) *metav1.Condition {
	key := client.ObjectKeyFromObject(o)
	var conditions []metav1.Condition
	if o.GetKind() == "ManagementCluster" {
		var mc fleetv1.ManagementCluster
		g.Expect(world.Hub.Get(ctx, key, &mc)).To(Succeed())
		conditions = mc.Status.Conditions
	} else {
		var p fleetv1.RolloutPolicy
		g.Expect(world.Hub.Get(ctx, key, &p)).To(Succeed())
		conditions = p.Status.Conditions
	}
	if c := meta.FindStatusCondition(conditions, fleetv1.ReadyCondition); c != nil {
		return c
	}
	return &metav1.Condition{}
}

// begun are the names of Rollouts and of recorded clusters that begin with a text: what the hub did about an object.
func begun(ctx context.Context, g Gomega, prefix string) []string {
	var names []string
	var rollouts fleetv1.RolloutList
	g.Expect(world.Hub.List(ctx, &rollouts, client.InNamespace(env.HubNamespace))).To(Succeed())
	for _, ro := range rollouts.Items {
		names = append(names, ro.Name)
	}
	var seen fleetv1.WorkloadClusterList
	g.Expect(world.Hub.List(ctx, &seen, client.InNamespace(env.HubNamespace))).To(Succeed())
	for _, wc := range seen.Items {
		names = append(names, wc.Spec.ManagementCluster)
	}
	var found []string
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			found = append(found, name)
		}
	}
	return found
}
