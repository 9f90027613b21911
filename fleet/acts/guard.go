// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package acts says on each Freeze whether it is in force, and on each Approval whether it counts and why not. It tells
// whose Approvals the API server vouched for; nothing else is decided here: rollouts read acts themselves.
package acts

import (
	"context"
	"fmt"
	"slices"
	"sync"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingadmissionpolicies;validatingadmissionpolicybindings,resourceNames=windlass-acts,verbs=get;list;watch

// PolicyName is that of the ValidatingAdmissionPolicy, and of its binding, that makes the author of an act its caller.
const PolicyName = "windlass-acts"

// Guard tells whether the API server vouched for the author of an Approval: the admission policy is in force now, and has
// been as it is since before the Approval was written. Whatever cannot be made sure of is not vouched for (law 3).
type Guard struct {
	// Hub is the hub's cached client; Live reads past it.
	Hub, Live client.Reader

	mu   sync.Mutex
	seen map[types.NamespacedName]sighting
}

// sighting is what was found past the cache once an Approval was known, so later than it was written: a cache that has
// not seen the admission policy go vouches for nothing.
type sighting struct {
	uid types.UID
	why string
}

// Verified tells of which Approvals the API server vouched for the author. An error: it cannot be told now.
func (g *Guard) Verified(ctx context.Context, approvals []*fleetv1.Approval) (func(*fleetv1.Approval) bool, error) {
	why, err := g.Why(ctx, approvals)
	if err != nil {
		return nil, err
	}
	return func(a *fleetv1.Approval) bool { return why(a) == "" }, nil
}

// Why says why the API server did not vouch for the author of an Approval, and what to do; "": it did. It answers for
// those that it is given, and vouches for no other.
func (g *Guard) Why(ctx context.Context, approvals []*fleetv1.Approval) (func(*fleetv1.Approval) string, error) {
	found := map[types.UID]string{}
	if len(approvals) > 0 {
		now, err := read(ctx, g.Hub)
		if err != nil {
			return nil, err
		}
		live, err := g.sightings(ctx, approvals)
		if err != nil {
			return nil, err
		}
		for _, a := range approvals {
			if found[a.UID] = now.why(a); found[a.UID] == "" {
				found[a.UID] = live[a.UID]
			}
		}
	}
	return func(a *fleetv1.Approval) string {
		if why, given := found[a.UID]; given {
			return why
		}
		return "it has not been looked at yet"
	}, nil
}

// sightings are what was found past the cache. It is read once for each Approval.
func (g *Guard) sightings(ctx context.Context, approvals []*fleetv1.Approval) (map[types.UID]string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if slices.ContainsFunc(approvals, g.isNew) {
		live, err := read(ctx, g.Live)
		if err != nil {
			return nil, err
		}
		if g.seen == nil {
			g.seen = map[types.NamespacedName]sighting{}
		}
		for _, a := range approvals {
			if g.isNew(a) {
				g.seen[client.ObjectKeyFromObject(a)] = sighting{uid: a.UID, why: live.why(a)}
			}
		}
	}
	all := make(map[types.UID]string, len(approvals))
	for _, a := range approvals {
		all[a.UID] = g.seen[client.ObjectKeyFromObject(a)].why
	}
	return all, nil
}

func (g *Guard) isNew(a *fleetv1.Approval) bool {
	s, known := g.seen[client.ObjectKeyFromObject(a)]
	return !known || s.uid != a.UID
}

// Forget lets go of an Approval that is gone.
func (g *Guard) Forget(key types.NamespacedName) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.seen, key)
}

// read reads the admission policy and its binding.
func read(ctx context.Context, c client.Reader) (standing, error) {
	key := client.ObjectKey{Name: PolicyName}
	p, b := &admissionv1.ValidatingAdmissionPolicy{}, &admissionv1.ValidatingAdmissionPolicyBinding{}
	if err := c.Get(ctx, key, p); apierrors.IsNotFound(err) {
		return standing{problem: absent}, nil
	} else if err != nil {
		return standing{}, fmt.Errorf("reading ValidatingAdmissionPolicy %s: %w", PolicyName, err)
	}
	if err := c.Get(ctx, key, b); apierrors.IsNotFound(err) {
		return standing{problem: absent}, nil
	} else if err != nil {
		return standing{}, fmt.Errorf("reading ValidatingAdmissionPolicyBinding %s: %w", PolicyName, err)
	}
	return stand(p, b), nil
}
