// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-dev/windlass/engine/protocol"
	"github.com/windlass-dev/windlass/test/build"
	"github.com/windlass-dev/windlass/test/env"
	"github.com/windlass-dev/windlass/test/provider"
)

var _ = Describe("the program windlass-engine, told nothing about keys", func() {
	It("answers those of the existing controllers until they appear, and then starts over with its own", func(ctx SpecContext) {
		member, err := world.Management(ctx, "apart")
		Expect(err).NotTo(HaveOccurred())
		c, err := member.Cluster(ctx, build.Cluster("shop", "eu").ControlPlane(0).Pool("a", 1).At(oldVersion))
		Expect(err).NotTo(HaveOccurred())
		s := &scene{Cluster: c, member: member}
		program := startEngine(ctx, member)
		done := func(k protocol.Keys, target string) {
			GinkgoHelper()
			s.annotate(ctx, "eu-a", map[string]any{k.To: target})
			Eventually(func(g Gomega) {
				g.Expect(program.Ended()).To(Succeed())
				g.Expect(s.marks(ctx, g, k, "eu-a")).To(Equal(protocol.Marks{Status: protocol.StatusDone, Release: target}))
			}).WithContext(ctx).Should(Succeed())
		}

		done(theirs, theirTarget)
		Expect(s.refreshes("eu-a-0")).To(Equal([]string{theirTarget}))

		Expect(member.Client.Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: provider.Leases()[0].Name},
			Spec:       coordinationv1.LeaseSpec{RenewTime: new(metav1.NewMicroTime(time.Now().Add(time.Hour)))},
		})).To(Succeed())
		done(ours, ourTarget)
		Expect(s.refreshes("eu-a-0")).To(Equal([]string{theirTarget, ourTarget}))
	})

	It("refuses a prefix that it does not know, and names those that it does", func(ctx SpecContext) {
		path, err := world.Build(ctx, "windlass-engine")
		Expect(err).NotTo(HaveOccurred())
		said, err := exec.CommandContext(ctx, path, "--key-prefix=v1beta2.k8sd.io").CombinedOutput()
		Expect(err).To(HaveOccurred())
		Expect(string(said)).To(ContainSubstring(
			`--key-prefix "v1beta2.k8sd.io": accepted: auto, v1beta2.k8sd.io/, windlass.dev/`))
	})
})

// startEngine builds and runs the program on a member.
func startEngine(ctx context.Context, member *env.Management) *env.Program {
	GinkgoHelper()
	path, err := world.Build(ctx, "windlass-engine")
	Expect(err).NotTo(HaveOccurred())
	kubeconfig := filepath.Join(world.Dir(), member.Name+".kubeconfig")
	Expect(os.WriteFile(kubeconfig, member.Kubeconfig(), 0o600)).To(Succeed())
	program, err := world.Run("engine-"+member.Name, path, "--kubeconfig="+kubeconfig,
		"--metrics-bind-address=0", "--health-probe-bind-address=0",
		"--lease-duration="+leaseDuration.String(), "--lease-renew-deadline="+renewDeadline.String())
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(program.Kill)
	return program
}
