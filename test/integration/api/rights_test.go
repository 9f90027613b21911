// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/windlass-dev/windlass/test/env"
)

// Shipped roles, asked of the API server's own authorizer.
var _ = Describe("the shipped roles", Ordered, func() {
	BeforeAll(func(ctx SpecContext) {
		for role, user := range map[string]string{
			"windlass-viewer": "vera", "windlass-editor": "edith", "windlass-hub": "hub",
			"windlass-member-read": "reader", "windlass-member-upgrade": "upgrader", "windlass-member-hosted-engine": "host",
		} {
			create(ctx, &rbacv1.ClusterRoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: "test-" + user},
				RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
				Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
			})
		}
		for _, file := range []string{
			"rbac/role.yaml", "rbac/viewer_role.yaml", "rbac/editor_role.yaml",
			"member/read.yaml", "member/upgrade.yaml", "member/hosted_engine.yaml",
		} {
			apply(ctx, "../../../config/"+file)
		}
	})

	DescribeTable("allow", func(ctx SpecContext, user string, what asked) {
		Eventually(may).WithArguments(ctx, user, what).Should(BeTrue())
	},
		Entry("a viewer to read", "vera", asked{"get", "fleet.windlass.dev", "clusterupgrades", ""}),
		Entry("an editor to write policies", "edith", asked{"create", "fleet.windlass.dev", "rolloutpolicies", ""}),
		Entry("an editor to register members", "edith", asked{"update", "fleet.windlass.dev", "managementclusters", ""}),
		Entry("a viewer to read calendars", "vera", asked{"list", "fleet.windlass.dev", "maintenancecalendars", ""}),
		Entry("a viewer to read freezes", "vera", asked{"watch", "fleet.windlass.dev", "freezes", ""}),
		Entry("a viewer to read approvals", "vera", asked{"get", "fleet.windlass.dev", "approvals", ""}),
		Entry("an editor to write calendars", "edith", asked{"update", "fleet.windlass.dev", "maintenancecalendars", ""}),
		Entry("an editor to freeze", "edith", asked{"create", "fleet.windlass.dev", "freezes", ""}),
		Entry("an editor to lift a freeze", "edith", asked{"delete", "fleet.windlass.dev", "freezes", ""}),
		Entry("an editor to approve", "edith", asked{"create", "fleet.windlass.dev", "approvals", ""}),
		Entry("an editor to withdraw an approval", "edith", asked{"delete", "fleet.windlass.dev", "approvals", ""}),
		Entry("an editor to cancel a rollout", "edith", asked{"delete", "fleet.windlass.dev", "rollouts", ""}),
		Entry("the hub to make rollouts", "hub", asked{"create", "fleet.windlass.dev", "rollouts", ""}),
		Entry("the hub to write their status", "hub", asked{"patch", "fleet.windlass.dev", "rollouts", "status"}),
		Entry("the hub to read a kubeconfig", "hub", asked{"get", "", "secrets", ""}),
		Entry("a member's reader to watch machines", "reader", asked{"watch", "cluster.x-k8s.io", "machines", ""}),
		Entry("a member's upgrader to mark machines", "upgrader", asked{"patch", "cluster.x-k8s.io", "machines", ""}),
		Entry("a hosted engine to keep its lock", "host", asked{"create", "", "configmaps", ""}),
	)

	DescribeTable("refuse", func(ctx SpecContext, user string, what asked) {
		Consistently(may).WithArguments(ctx, user, what).WithTimeout(0).Should(BeFalse())
	},
		Entry("a viewer to write", "vera", asked{"patch", "fleet.windlass.dev", "rolloutpolicies", ""}),
		Entry("a viewer to freeze", "vera", asked{"create", "fleet.windlass.dev", "freezes", ""}),
		Entry("a viewer to approve", "vera", asked{"create", "fleet.windlass.dev", "approvals", ""}),
		Entry("an editor to change an approval", "edith", asked{"patch", "fleet.windlass.dev", "approvals", ""}),
		Entry("an editor to approve for others", "edith", asked{"attest", "fleet.windlass.dev", "approvals", ""}),
		Entry("an editor to freeze for others", "edith", asked{"attest", "fleet.windlass.dev", "freezes", ""}),
		Entry("the hub to freeze", "hub", asked{"create", "fleet.windlass.dev", "freezes", ""}),
		Entry("the hub to approve", "hub", asked{"create", "fleet.windlass.dev", "approvals", ""}),
		Entry("an editor to make a rollout", "edith", asked{"create", "fleet.windlass.dev", "rollouts", ""}),
		Entry("an editor to edit a rollout", "edith", asked{"patch", "fleet.windlass.dev", "rollouts", ""}),
		Entry("an editor to write a status", "edith", asked{"patch", "fleet.windlass.dev", "rollouts", "status"}),
		Entry("an editor to drive a cluster", "edith", asked{"patch", "fleet.windlass.dev", "clusterupgrades", ""}),
		Entry("an editor to invent a cluster", "edith", asked{"create", "fleet.windlass.dev", "workloadclusters", ""}),
		Entry("an editor to read Secrets", "edith", asked{"get", "", "secrets", ""}),
		Entry("the hub to write a policy", "hub", asked{"patch", "fleet.windlass.dev", "rolloutpolicies", ""}),
		Entry("the hub to list Secrets", "hub", asked{"list", "", "secrets", ""}),
		Entry("a member's reader to write", "reader", asked{"patch", "cluster.x-k8s.io", "machines", ""}),
		Entry("a member's upgrader to delete machines", "upgrader", asked{"delete", "cluster.x-k8s.io", "machines", ""}),
		Entry("a member's upgrader to read Secrets", "upgrader", asked{"get", "", "secrets", ""}),
	)
})

type asked struct{ verb, group, resource, subresource string }

// may asks whether a user may do something in the hub's namespace.
func may(ctx context.Context, user string, what asked) (bool, error) {
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: env.HubNamespace, Verb: what.verb, Group: what.group, Resource: what.resource, Subresource: what.subresource,
		},
	}}
	err := hub.Create(ctx, review)
	return review.Status.Allowed, err
}

// apply creates the objects of a file.
func apply(ctx context.Context, file string) {
	data, err := os.ReadFile(file)
	ExpectWithOffset(1, err).NotTo(HaveOccurred())
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		o := &unstructured.Unstructured{}
		err := documents.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return
		}
		ExpectWithOffset(1, err).NotTo(HaveOccurred(), file)
		if len(o.Object) > 0 {
			create(ctx, o)
		}
	}
}
