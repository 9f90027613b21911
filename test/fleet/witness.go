// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/windlass-dev/windlass/engine/protocol"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/rollout"
	"github.com/windlass-dev/windlass/policy"
)

// Witness sees every change of ClusterUpgrades and Machines from watch events, and remembers what must never have been:
// a cluster beside a canary that has not succeeded, two control plane machines of one cluster in flight, more clusters
// in flight than a wave allows.
type Witness struct {
	rules Rules

	mu       sync.Mutex
	upgrades map[types.UID]*fleetv1.ClusterUpgrade
	inFlight map[string]map[string]bool // control plane machines in flight, by cluster
	broken   []string
	// most clusters in flight at once, by wave: a witness that saw nothing proves nothing.
	most map[string]int
	ran  []string // clusters in the order in which they began
}

// Rules are what a witness holds upgrades to.
type Rules struct {
	// Limits are the clusters that may be in flight at once, by wave.
	Limits map[string]int
	// Policies whose ClusterUpgrades are looked at. Empty: all.
	Policies []string
	// Members whose machines are looked at. Empty: all. A watch of one that is frozen for long breaks.
	Members []string
}

// Watch starts a witness. It ends with ctx.
func (f *Fleet) Watch(ctx context.Context, rules Rules) (*Witness, error) {
	w := &Witness{
		rules: rules, upgrades: map[types.UID]*fleetv1.ClusterUpgrade{},
		inFlight: map[string]map[string]bool{}, most: map[string]int{},
	}
	events, err := f.Hub.Watch(ctx, &fleetv1.ClusterUpgradeList{})
	if err != nil {
		return nil, err
	}
	go w.follow(ctx, events, w.upgrade)
	for name, c := range f.watching {
		if len(rules.Members) > 0 && !slices.Contains(rules.Members, name) {
			continue
		}
		events, err := c.Watch(ctx, &clusterv1.MachineList{})
		if err != nil {
			return nil, err
		}
		go w.follow(ctx, events, func(e watch.Event) { w.machine(name, e) })
	}
	return w, nil
}

// follow calls see, with mu held, for each event. A watch that ends before ctx has missed something.
func (w *Witness) follow(ctx context.Context, events watch.Interface, see func(watch.Event)) {
	defer events.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case e, open := <-events.ResultChan():
			if ctx.Err() != nil {
				return
			}
			w.mu.Lock()
			switch {
			case !open, e.Type == watch.Error:
				w.say("a watch broke: %v", e.Object)
				w.mu.Unlock()
				return
			default:
				see(e)
			}
			w.mu.Unlock()
		}
	}
}

func (w *Witness) say(format string, args ...any) {
	w.broken = append(w.broken, fmt.Sprintf(format, args...))
}

// upgrade is called with mu held.
func (w *Witness) upgrade(e watch.Event) {
	cu, ok := e.Object.(*fleetv1.ClusterUpgrade)
	if !ok || len(w.rules.Policies) > 0 && !slices.Contains(w.rules.Policies, cu.Labels[rollout.PolicyLabel]) {
		return
	}
	if before := w.upgrades[cu.UID]; runs(cu) && (before == nil || !runs(before)) {
		w.ran = append(w.ran, cu.Path())
	}
	w.upgrades[cu.UID] = cu
	if e.Type == watch.Deleted {
		delete(w.upgrades, cu.UID)
	}
	active := map[string]int{}
	for _, one := range w.upgrades {
		if !runs(one) {
			continue
		}
		active[one.Spec.Wave]++
		if !one.Spec.Canary && !w.canariesSucceeded(one.Spec.Rollout) {
			w.say("%s of wave %s is in flight before the canary has succeeded", one.Path(), one.Spec.Wave)
		}
	}
	for wave, n := range active {
		w.most[wave] = max(w.most[wave], n)
		if limit, known := w.rules.Limits[wave]; known && n > limit {
			w.say("%d clusters of wave %s are in flight, %d are allowed", n, wave, limit)
		}
	}
}

func runs(cu *fleetv1.ClusterUpgrade) bool {
	return cu.Spec.Intent != fleetv1.IntentWait && !policy.ClusterPhase(cu.Status.Phase).Ended()
}

func (w *Witness) canariesSucceeded(of fleetv1.LocalRef) bool {
	for _, cu := range w.upgrades {
		if cu.Spec.Rollout == of && cu.Spec.Canary && cu.Status.Phase != fleetv1.UpgradeSucceeded {
			return false
		}
	}
	return true
}

// machine is called with mu held. A control plane machine is in flight from the moment in which it is asked to upgrade.
func (w *Witness) machine(member string, e watch.Event) {
	m, ok := e.Object.(*clusterv1.Machine)
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
	if e.Type != watch.Deleted && protocol.KeysFor(protocol.ProviderPrefix).Read(m.Annotations).Busy() {
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
