// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package capi_test

import (
	"context"
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/windlass-dev/windlass/engine/capi"
)

// group are the machines of one owner.
type group struct {
	cluster      string
	controlPlane bool
}

// witness sees every change of a machine, and remembers how many of an owner were marked at the same time, and which
// were not ready while they were marked.
type witness struct {
	mu      sync.Mutex
	marked  map[group]map[types.UID]bool
	most    map[group]int
	unready map[string]bool
}

// watch begins to see the machines of a cache.
func watch(ctx context.Context, c cache.Cache) (*witness, error) {
	w := &witness{marked: map[group]map[types.UID]bool{}, most: map[group]int{}, unready: map[string]bool{}}
	informer, err := c.GetInformer(ctx, capi.Object(clusterv1.GroupVersion.WithKind("Machine")))
	if err != nil {
		return nil, err
	}
	handler, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { w.see(o, false) },
		UpdateFunc: func(_, o any) { w.see(o, false) },
		DeleteFunc: func(o any) {
			if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
				o = gone.Obj
			}
			w.see(o, true)
		},
	})
	if err != nil {
		return nil, err
	}
	if !toolscache.WaitForCacheSync(ctx.Done(), handler.HasSynced) {
		return nil, errors.New("the machines were not listed")
	}
	return w, nil
}

func (w *witness) see(o any, gone bool) {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return
	}
	m := capi.ParseMachine(u)
	_, to := m.Annotations[keys.To]
	g := group{m.Cluster, m.ControlPlane}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.marked[g] == nil {
		w.marked[g] = map[types.UID]bool{}
	}
	delete(w.marked[g], m.UID)
	if gone {
		return
	}
	if !to {
		return
	}
	w.marked[g][m.UID] = true
	w.most[g] = max(w.most[g], len(w.marked[g]))
	if m.NodeReady == capi.False {
		w.unready[m.Name] = true
	}
}

// mostAtOnce is how many machines of an owner were marked at the same time.
func (w *witness) mostAtOnce(g group) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.most[g]
}

// wasUnready reports whether a machine was not ready while it was marked.
func (w *witness) wasUnready(machine string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.unready[machine]
}
