// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"encoding/json"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
)

var keys = protocol.KeysFor(protocol.ProviderPrefix) //nolint:gochecknoglobals // a constant that is not one

// helper writes the annotations of an object that differ from those that it was made with, and stays with those for
// all its writes: what was deleted by one and is set as before by the next is not written again (fault 10). Nothing of
// what it writes depends on the object being unchanged meanwhile.
type helper struct {
	client client.Client
	before map[string]string
}

func (m member) helper(o *unstructured.Unstructured) helper {
	return helper{client: m.client, before: o.GetAnnotations()}
}

// patch writes what differs; nothing does, nothing is written.
func (h helper) patch(ctx context.Context, o *unstructured.Unstructured) error {
	after, change := o.GetAnnotations(), map[string]any{}
	for key := range h.before {
		if _, stays := after[key]; !stays {
			change[key] = nil
		}
	}
	for key, value := range after {
		if before, was := h.before[key]; !was || before != value {
			change[key] = value
		}
	}
	if len(change) == 0 {
		return nil
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": change}})
	if err != nil {
		return err
	}
	written := capi.Object(o.GroupVersionKind()) // o keeps what was decided
	written.SetNamespace(o.GetNamespace())
	written.SetName(o.GetName())
	return h.client.Patch(ctx, written, client.RawPatch(types.MergePatchType, body))
}

// write changes annotations of an object in one patch: first what goes, then what is set.
func (m member) write(ctx context.Context, o *unstructured.Unstructured, set map[string]string, remove ...string) error {
	h := m.helper(o)
	change(o, set, remove...)
	return h.patch(ctx, o)
}

func change(o *unstructured.Unstructured, set map[string]string, remove ...string) {
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	for _, key := range remove {
		delete(annotations, key)
	}
	maps.Copy(annotations, set)
	o.SetAnnotations(annotations)
}

// instructions are an object's to, else its release: an owner that has finished goes on instructing (fault 3), and an
// empty to hides the release.
func instructions(o *unstructured.Unstructured) string {
	if to, asked := o.GetAnnotations()[keys.To]; asked {
		return to
	}
	return release(o)
}

func release(o *unstructured.Unstructured) string { return o.GetAnnotations()[keys.Release] }

// failedOnce: the machine failed at some time, and may be trying again.
func failedOnce(o *unstructured.Unstructured) bool { return o.GetAnnotations()[keys.LastFailed] != "" }

func upgrading(o *unstructured.Unstructured) bool {
	a := o.GetAnnotations()
	return a[keys.Status] == protocol.StatusInProgress || a[keys.To] != ""
}

func deleting(o *unstructured.Unstructured) bool { return o.GetDeletionTimestamp() != nil }

// ownedBy is Cluster API's look at owners: by group, kind and name, not by UID.
func ownedBy(o, owner *unstructured.Unstructured) bool {
	gvk := owner.GroupVersionKind()
	for _, ref := range o.GetOwnerReferences() {
		if groupOf(ref.APIVersion) == gvk.Group && ref.Kind == gvk.Kind && ref.Name == owner.GetName() {
			return true
		}
	}
	return false
}
