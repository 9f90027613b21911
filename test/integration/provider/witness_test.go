// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package provider_test

import (
	"context"
	"maps"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// witness sees every change of the machines of a namespace, as a watch shows it.
type witness struct {
	mu sync.Mutex
	// busy are the control plane machines that are asked, or in flight, now; most is how many there ever were at once.
	busy map[string]bool
	most int
	// asked counts how often each machine was asked; back are requests for anything but the next target.
	asked map[string]int
	marks map[string]bool
	back  []string
}

// watch begins to see. It ends with the spec.
func watch(ctx context.Context, member, namespace string) *witness {
	GinkgoHelper()
	scheme := runtime.NewScheme()
	Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	Expect(clusterv1.AddToScheme(scheme)).To(Succeed())
	c, err := client.NewWithWatch(world.Members[member].Config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	events, err := c.Watch(ctx, &clusterv1.MachineList{}, client.InNamespace(namespace))
	Expect(err).NotTo(HaveOccurred())
	w := &witness{busy: map[string]bool{}, asked: map[string]int{}, marks: map[string]bool{}}
	go func() {
		for e := range events.ResultChan() {
			if m, ok := e.Object.(*clusterv1.Machine); ok {
				w.see(m)
			}
		}
	}()
	DeferCleanup(events.Stop)
	return w
}

func (w *witness) see(m *clusterv1.Machine) {
	w.mu.Lock()
	defer w.mu.Unlock()
	marks := keys.Read(m.Annotations)
	own := ownKeys.Read(m.Annotations)
	if marks.HasTo && !w.marks[m.Name] {
		w.asked[m.Name]++
	}
	w.marks[m.Name] = marks.HasTo
	if marks.HasTo && marks.To != nextTarget {
		w.back = append(w.back, m.Name+" is asked for "+marks.To)
	}
	if controlPlane(m) {
		delete(w.busy, m.Name)
		if marks.HasTo || own.HasTo || marks.HasChangeID && marks.Status == "in-progress" {
			w.busy[m.Name] = true
		}
		w.most = max(w.most, len(w.busy))
	}
}

// times is how often each machine was asked.
func (w *witness) times() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.asked)
}

// nothingWrong claims that one control plane machine at most was at work at any time, and that none was ever asked for
// anything but the next target.
func (w *witness) nothingWrong(g Gomega) {
	GinkgoHelper()
	w.mu.Lock()
	defer w.mu.Unlock()
	g.Expect(w.most).To(BeNumerically("<=", 1), "control plane machines at work at once")
	g.Expect(w.back).To(BeEmpty())
}
