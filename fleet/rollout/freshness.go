// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// freshness remembers, by namespace, what this process wrote or read live last, so that a decision is made only on a
// cache that has seen it (law 4). It is empty in a new leader: until a live list has been read it calls nothing fresh.
type freshness struct {
	mu sync.Mutex
	// owed are the resourceVersions that a listing of a namespace must hold, by uid. A namespace that has not been read
	// live since this process leads is not in it.
	owed map[string]map[types.UID]string
}

// prime tells that a namespace has been read live, by uid and resourceVersion: no older listing will do.
func (f *freshness) prime(namespace string, seen map[types.UID]string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.owed == nil {
		f.owed = map[string]map[types.UID]string{}
	}
	f.owed[namespace] = seen
}

// isPrimed reports whether prime was called for a namespace.
func (f *freshness) isPrimed(namespace string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.owed[namespace] != nil
}

// note remembers a write in a primed namespace by the resourceVersion that it returned. One that is not primed is read live
// before the next decision, whatever was written.
func (f *freshness) note(namespace string, uid types.UID, version string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if owed := f.owed[namespace]; owed != nil {
		owed[uid] = version
	}
}

// doubt tells that it is not known whether a write in a namespace was made: it must be read live once more.
func (f *freshness) doubt(namespace string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.owed, namespace)
}

// fresh reports whether a listing of a namespace, by uid and resourceVersion, holds all that is owed. What it holds is
// forgotten; an object that is gone from the listing was deleted, for it has been there when it was noted.
func (f *freshness) fresh(namespace string, seen map[types.UID]string) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	owed := f.owed[namespace]
	for uid, least := range owed {
		version, found := seen[uid]
		if found {
			order, err := resourceversion.CompareResourceVersion(version, least)
			if err != nil {
				return false, fmt.Errorf("comparing resource versions: %w", err)
			}
			if order < 0 {
				return false, nil
			}
		}
		delete(owed, uid)
	}
	return true, nil
}
