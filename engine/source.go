// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/member"
)

// kindSource feeds a controller from a cache that outlives it: unlike controller-runtime's own source it leaves the
// informer when the controller ends, so that a lease that comes and goes leaves nothing behind.
type kindSource[R comparable] struct {
	cache cache.Cache
	watch member.Watch[R]

	synced chan error
}

// Start begins to feed the queue and returns at once.
func (s *kindSource[R]) Start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[R]) error {
	s.synced = make(chan error, 1)
	go func() {
		informer, err := s.cache.GetInformer(ctx, capi.Object(s.watch.GVK))
		if err != nil {
			s.synced <- err
			return
		}
		handler, err := informer.AddEventHandler(s.handler(ctx, queue))
		if err != nil {
			s.synced <- err
			return
		}
		context.AfterFunc(ctx, func() { _ = informer.RemoveEventHandler(handler) })
		if !toolscache.WaitForCacheSync(ctx.Done(), handler.HasSynced) && ctx.Err() == nil {
			err = errors.New("the first list was not delivered")
		}
		s.synced <- err
	}()
	return nil
}

// WaitForSync waits until what is there has been queued.
func (s *kindSource[R]) WaitForSync(ctx context.Context) error {
	select {
	case err := <-s.synced:
		return err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil
		}
		return fmt.Errorf("timed out waiting for %s", s.watch.GVK)
	}
}

// String names the source in logs.
func (s *kindSource[R]) String() string { return "kind source: " + s.watch.GVK.String() }

func (s *kindSource[R]) handler(
	ctx context.Context, queue workqueue.TypedRateLimitingInterface[R],
) toolscache.ResourceEventHandler {
	enqueue := func(obj any) {
		if o, ok := obj.(*unstructured.Unstructured); ok {
			for _, r := range s.watch.Requests(ctx, o) {
				queue.Add(r)
			}
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc: enqueue,
		UpdateFunc: func(before, after any) {
			old, ok := before.(*unstructured.Unstructured)
			o, isObject := after.(*unstructured.Unstructured)
			if ok && isObject && s.watch.Matters != nil && !s.watch.Matters(old, o) {
				return
			}
			enqueue(after)
		},
		DeleteFunc: func(obj any) {
			if gone, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
				obj = gone.Obj
			}
			enqueue(obj)
		},
	}
}
