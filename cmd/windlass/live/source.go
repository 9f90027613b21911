// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/cmd/windlass/report"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// source keeps a copy of the hub's objects up to date from watch events.
type source struct {
	namespace                                       string
	members, clusters, policies, rollouts, upgrades cache.SharedIndexInformer
	handlers                                        []cache.ResourceEventHandlerRegistration
	// changed holds a token where something is new.
	changed chan struct{}
	line    *line
	running sync.WaitGroup
}

func newSource(hub client.WithWatch, namespace string) *source {
	s := &source{namespace: namespace, changed: make(chan struct{}, 1), line: newLine()}
	of := follower{hub: hub, source: s}
	s.members = of.informer(&fleetv1.ManagementCluster{}, empty[fleetv1.ManagementClusterList])
	s.clusters = of.informer(&fleetv1.WorkloadCluster{}, empty[fleetv1.WorkloadClusterList])
	s.policies = of.informer(&fleetv1.RolloutPolicy{}, empty[fleetv1.RolloutPolicyList])
	s.rollouts = of.informer(&fleetv1.Rollout{}, empty[fleetv1.RolloutList])
	s.upgrades = of.informer(&fleetv1.ClusterUpgrade{}, empty[fleetv1.ClusterUpgradeList])
	return s
}

// empty makes a list to read into.
func empty[T any, L interface {
	*T
	client.ObjectList
}]() client.ObjectList {
	return L(new(T))
}

func (s *source) all() []cache.SharedIndexInformer {
	return []cache.SharedIndexInformer{s.members, s.clusters, s.policies, s.rollouts, s.upgrades}
}

// start begins to follow; it ends with the context, and wait returns then.
func (s *source) start(ctx context.Context) {
	for _, informer := range s.all() {
		s.running.Go(func() { informer.RunWithContext(ctx) })
	}
	for _, handler := range s.handlers {
		// An empty list is news too, once it has been read.
		s.running.Go(func() {
			select {
			case <-ctx.Done():
			case <-handler.HasSyncedChecker().Done():
				s.touch()
			}
		})
	}
}

func (s *source) wait() { s.running.Wait() }

// next waits for something new and takes what comes with it; false: the context ended. It answers only when every kind
// has been read, so no report is drawn of half a fleet.
func (s *source) next(ctx context.Context, tell func(state)) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case now := <-s.line.states:
			tell(now)
		case <-s.changed:
			if s.read() && s.quiet(ctx) {
				return true
			}
		}
	}
}

func (s *source) read() bool {
	for _, handler := range s.handlers {
		if !handler.HasSynced() {
			return false
		}
	}
	return true
}

// quiet lets a burst pass; false: the context ended.
func (s *source) quiet(ctx context.Context) bool {
	burst := time.NewTimer(gather)
	defer burst.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-burst.C:
	}
	select {
	case <-s.changed:
	default:
	}
	return true
}

// touch says that something is new.
func (s *source) touch() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// input is everything as last seen.
func (s *source) input() report.Input {
	return report.Input{
		Namespace:          s.namespace,
		ManagementClusters: held[fleetv1.ManagementCluster](s.members),
		WorkloadClusters:   held[fleetv1.WorkloadCluster](s.clusters),
		Policies:           held[fleetv1.RolloutPolicy](s.policies),
		Rollouts:           held[fleetv1.Rollout](s.rollouts),
		ClusterUpgrades:    held[fleetv1.ClusterUpgrade](s.upgrades),
	}
}

func held[T any](informer cache.SharedIndexInformer) []T {
	var list []T
	for _, o := range informer.GetStore().List() {
		if object, is := o.(*T); is {
			list = append(list, *object)
		}
	}
	return list
}

// follower makes informers over the hub's client.
type follower struct {
	hub    client.WithWatch
	source *source
}

func (f follower) informer(object client.Object, list func() client.ObjectList) cache.SharedIndexInformer {
	options := func(raw metav1.ListOptions) *client.ListOptions {
		return &client.ListOptions{Namespace: f.source.namespace, Raw: &raw}
	}
	informer := cache.NewSharedIndexInformer(listWatch{&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, raw metav1.ListOptions) (runtime.Object, error) {
			page := list()
			err := f.hub.List(ctx, page, options(raw))
			if err != nil {
				// Only a watch that stands is news of a whole line.
				f.source.line.heard(ctx, object, err)
			}
			return page, err
		},
		WatchFuncWithContext: func(ctx context.Context, raw metav1.ListOptions) (watch.Interface, error) {
			events, err := f.hub.Watch(ctx, list(), options(raw))
			f.source.line.heard(ctx, object, err)
			return events, err
		},
	}}, object, 0, nil)
	// None of these fail before an informer has started.
	_ = informer.SetTransform(lean)
	_ = informer.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {
		// Errors are told where they occur; some never come here.
	})
	handler, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { f.source.touch() },
		UpdateFunc: func(any, any) { f.source.touch() },
		DeleteFunc: func(any) { f.source.touch() },
	})
	if err == nil {
		f.source.handlers = append(f.source.handlers, handler)
	}
	return informer
}

// lean drops what takes room and is not shown.
func lean(object any) (any, error) {
	if o, err := meta.Accessor(object); err == nil {
		o.SetManagedFields(nil)
	}
	return object, nil
}

// listWatch lists before it watches, which every server and every fake can do.
type listWatch struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported keeps reflectors from asking for a list as a stream.
func (listWatch) IsWatchListSemanticsUnSupported() bool { return true }
