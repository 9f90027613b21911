// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"context"
	"encoding/json"
	"strings"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// misspelt is law 21: the API server drops a field that it does not know where the client is not strict. Whatever is
// left of the policy takes no more clusters, and no more at once, than the policy that was meant.
func misspelt(ctx context.Context, g Gomega) {
	paths := []string{"south/misspelt/us-1", "south/misspelt/us-2", "south/misspelt/us-3"}
	clusters(ctx, g, "misspelt", paths...)
	meant := policyFor("misspelt")
	meant.Spec.Paused = true
	meant.Spec.Canaries = fleetv1.Canaries{Names: paths[:1]}
	meant.Spec.Waves = []fleetv1.Wave{{Name: "early", Names: paths[1:2]}, rest(2)}
	meant.Spec.Waves[1].MaxFailures = new(intstr.FromInt(1))
	apply(ctx, g, meant)
	want := planned(ctx, g, meant.Name)
	g.Expect(want).To(HaveLen(3))

	lenient := client.WithFieldValidation(world.Hub, metav1.FieldValidationIgnore)
	for field, wrong := range map[string]string{
		"anyTime": "anytime", "clusters": "cluster", "canaries": "canary", "waves": "wave", "selector": "selectors",
		"matchLabels": "matchLabel", "names": "name", "rest": "remaining", "maxConcurrency": "maxConcurency",
		"maxFailures": "maxFailure", "version": "versoin", "channel": "chanel", "maxAttempts": "maxAttempt",
	} {
		p := rename(g, meant, field, wrong)
		err := lenient.Create(ctx, p)
		if apierrors.IsInvalid(err) {
			continue
		}
		g.Expect(err).NotTo(HaveOccurred(), wrong)
		for i, wave := range planned(ctx, g, p.GetName()) {
			g.Expect(wave.Planned).To(BeNumerically("<=", want[i].Planned), wrong)
			g.Expect(wave.MaxConcurrency).To(BeNumerically("<=", want[i].MaxConcurrency), wrong)
			g.Expect(wave.MaxFailures).To(BeNumerically("<=", want[i].MaxFailures), wrong)
		}
	}
}

// planned are the waves of the plan of a paused policy.
func planned(ctx context.Context, g Gomega, policy string) []fleetv1.WaveStatus {
	ro := phase(ctx, g, policy, fleetv1.RolloutPaused)
	g.Expect(ro.Status.Plan).NotTo(BeNil(), policy)
	return ro.Status.Waves
}

// rename is a policy like another in which a field is misspelt wherever it stands, named after the mistake.
func rename(g Gomega, meant *fleetv1.RolloutPolicy, field, wrong string) *unstructured.Unstructured {
	text, err := json.Marshal(meant.Spec)
	g.Expect(err).NotTo(HaveOccurred())
	changed := strings.ReplaceAll(string(text), `"`+field+`":`, `"`+wrong+`":`)
	g.Expect(changed).NotTo(Equal(string(text)))
	p := &unstructured.Unstructured{Object: map[string]any{}}
	var spec map[string]any
	g.Expect(json.Unmarshal([]byte(changed), &spec)).To(Succeed())
	p.Object["spec"] = spec
	p.SetGroupVersionKind(fleetv1.GroupVersion.WithKind("RolloutPolicy"))
	p.SetNamespace(meant.Namespace)
	p.SetName(meant.Name + "-" + strings.ToLower(wrong))
	return p
}
