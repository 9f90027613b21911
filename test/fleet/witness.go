// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/watch"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/engine/protocol"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
)

// Witness sees every change of ClusterUpgrades and Machines from watch events, and remembers what must never have been:
// a cluster beside a canary that has not succeeded, two control plane machines of one cluster in flight, more clusters
// in flight than a wave allows.
type Witness struct {
	limits map[string]int // clusters in flight at once, by wave

	mu       sync.Mutex
	upgrades map[string]*fleetv1.ClusterUpgrade
	inFlight map[string]map[string]bool // control plane machines in flight, by cluster
	broken   []string
	// most clusters in flight at once, by wave: a witness that saw nothing proves nothing.
	most map[string]int
	ran  []string // clusters in the order in which they began
}

// Watch starts a witness. It ends with ctx.
func (f *Fleet) Watch(ctx context.Context, limits map[string]int) (*Witness, error) {
	w := &Witness{
		limits: limits, upgrades: map[string]*fleetv1.ClusterUpgrade{}, inFlight: map[string]map[string]bool{},
		most: map[string]int{},
	}
	events, err := f.Hub.Watch(ctx, &fleetv1.ClusterUpgradeList{})
	if err != nil {
		return nil, err
	}
	go w.follow(events, w.upgrade)
	for name, m := range f.Members {
		scheme := m.Client.Scheme()
		c, err := client.NewWithWatch(m.Config, client.Options{Scheme: scheme})
		if err != nil {
			return nil, err
		}
		events, err := c.Watch(ctx, &clusterv1.MachineList{})
		if err != nil {
			return nil, err
		}
		go w.follow(events, func(o client.Object) { w.machine(name, o) })
	}
	return w, nil
}

func (w *Witness) follow(events watch.Interface, see func(client.Object)) {
	for e := range events.ResultChan() {
		o, ok := e.Object.(client.Object)
		if !ok || e.Type == watch.Bookmark || e.Type == watch.Error {
			see = nil
		}
		w.mu.Lock()
		if see == nil {
			w.say("a watch broke: %v", e.Object)
		} else {
			see(o)
		}
		w.mu.Unlock()
		if see == nil {
			return
		}
	}
}

func (w *Witness) say(format string, args ...any) {
	w.broken = append(w.broken, fmt.Sprintf(format, args...))
}

// upgrade is called with mu held.
func (w *Witness) upgrade(o client.Object) {
	cu, ok := o.(*fleetv1.ClusterUpgrade)
	if !ok {
		return
	}
	if before := w.upgrades[cu.Name]; runs(cu) && (before == nil || !runs(before)) {
		w.ran = append(w.ran, cu.Path())
	}
	w.upgrades[cu.Name] = cu
	active := map[string]int{}
	for _, one := range w.upgrades {
		if runs(one) {
			active[one.Spec.Wave]++
		}
	}
	for wave, n := range active {
		w.most[wave] = max(w.most[wave], n)
		if limit, known := w.limits[wave]; known && n > limit {
			w.say("%d clusters of wave %s are in flight, %d are allowed", n, wave, limit)
		}
		if wave != policy.CanaryWave && !w.canariesSucceeded() {
			w.say("a cluster of wave %s is in flight before the canary has succeeded", wave)
		}
	}
}

func runs(cu *fleetv1.ClusterUpgrade) bool {
	return cu.Spec.Intent != fleetv1.IntentWait && !policy.ClusterPhase(cu.Status.Phase).Ended()
}

func (w *Witness) canariesSucceeded() bool {
	for _, cu := range w.upgrades {
		if cu.Spec.Canary && cu.Status.Phase != fleetv1.UpgradeSucceeded {
			return false
		}
	}
	return true
}

// machine is called with mu held.
func (w *Witness) machine(member string, o client.Object) {
	m, ok := o.(*clusterv1.Machine)
	if !ok {
		return
	}
	if _, controlPlane := m.Labels[clusterv1.MachineControlPlaneLabel]; !controlPlane {
		return
	}
	cluster := member + "/" + m.Namespace + "/" + m.Spec.ClusterName
	if w.inFlight[cluster] == nil {
		w.inFlight[cluster] = map[string]bool{}
	}
	marks := protocol.KeysFor(protocol.ProviderPrefix).Read(m.Annotations)
	if marks.State() == protocol.InProgress {
		w.inFlight[cluster][m.Name] = true
	} else {
		delete(w.inFlight[cluster], m.Name)
	}
	if len(w.inFlight[cluster]) > 1 {
		w.say("%d control plane machines of %s are in flight", len(w.inFlight[cluster]), cluster)
	}
}

// Broken are the rules that were broken, once each.
func (w *Witness) Broken() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(w.broken)))
}

// Most is how many clusters of a wave were in flight at once at most.
func (w *Witness) Most(wave string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.most[wave]
}

// Began are the clusters in the order in which they began.
func (w *Witness) Began() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.ran)
}
