// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package drive carries out a step on a member, and nothing else: it decides nothing, writes only named annotation
// keys, carries the uid and resourceVersion that the decision saw, and passes a gate that refuses every write of a hub
// that may no longer lead. A conflict means that the decision is old: look again.
package drive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/engine/capi"
)

// Errors that are not faults.
var (
	// ErrStale: the object changed since it was seen. Look again.
	ErrStale = errors.New("the object has changed since it was seen")
	// ErrClaimLost: the cluster's claim is not ours, or not any more. Hold and claim again.
	ErrClaimLost = errors.New("the claim is not ours")
)

// changes are annotations to set, or to remove where the value is nil.
type changes map[string]*string

func (c changes) set(key, value string) { c[key] = &value }

func (c changes) remove(keys ...string) {
	for _, k := range keys {
		c[k] = nil
	}
}

// reduced drops what would change nothing.
func (c changes) reduced(now map[string]string) changes {
	small := changes{}
	for k, v := range c {
		old, found := now[k]
		if (v == nil && found) || (v != nil && (!found || old != *v)) {
			small[k] = v
		}
	}
	return small
}

// patch writes annotations of an object as it was seen; nothing is written when nothing would change.
func (m Member) patch(ctx context.Context, gvk schema.GroupVersionKind, seen capi.Meta, c changes) error {
	c = c.reduced(seen.Annotations)
	if len(c) == 0 {
		return nil
	}
	if err := m.MayWrite(); err != nil {
		return fmt.Errorf("writing to %s %s: %w", gvk.Kind, seen.Key(), err)
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": seen.UID, "resourceVersion": seen.ResourceVersion, "annotations": c,
	}})
	if err != nil {
		return err
	}
	o := capi.Object(gvk)
	o.SetNamespace(seen.Namespace)
	o.SetName(seen.Name)
	err = m.Client.Patch(ctx, o, client.RawPatch(types.MergePatchType, body), client.FieldOwner(fieldOwner))
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsInvalid(err) {
		return fmt.Errorf("%s %s: %w", gvk.Kind, seen.Key(), ErrStale)
	}
	if err != nil {
		return fmt.Errorf("patching %s %s: %w", gvk.Kind, seen.Key(), err)
	}
	return nil
}

// fieldOwner names the hub in managed fields; GitOps tools leave it alone.
const fieldOwner = "windlass-hub"
