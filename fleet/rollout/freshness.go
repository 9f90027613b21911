// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// freshness remembers what this process wrote last, so that a decision is made only on a cache that has seen it
// (law 4). It is empty in a new leader: until a live list has been read it calls nothing fresh.
type freshness struct {
	mu sync.Mutex
	// primed: a live list has been read since this process leads.
	primed bool
	wrote  map[types.UID]string
}

// prime tells that a live list has been read.
func (f *freshness) prime() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.primed = true
}

// isPrimed reports whether prime was called.
func (f *freshness) isPrimed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.primed
}

// note remembers a write by the resourceVersion that it returned.
func (f *freshness) note(uid types.UID, version string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.wrote == nil {
		f.wrote = map[types.UID]string{}
	}
	f.wrote[uid] = version
}

// fresh reports whether a listing, by uid and resourceVersion, holds every write so far. What it holds is forgotten;
// an object that is gone from the listing was deleted, for it has been there when it was written.
func (f *freshness) fresh(seen map[types.UID]string) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for uid, wrote := range f.wrote {
		version, found := seen[uid]
		if found {
			order, err := resourceversion.CompareResourceVersion(version, wrote)
			if err != nil {
				return false, fmt.Errorf("comparing resource versions: %w", err)
			}
			if order < 0 {
				return false, nil
			}
		}
		delete(f.wrote, uid)
	}
	return true, nil
}
