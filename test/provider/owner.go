// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// owners is what the two orchestrators share (PROTOCOL.md 3).
type owners struct {
	member
	events record.EventRecorder
}

// again looks after the usual pause.
func (r owners) again() reconcile.Result { return reconcile.Result{RequeueAfter: r.pause} }

// begin hands the target to a machine, whose state is forgotten, and shows it on the owner.
func (r owners) begin(ctx context.Context, owner, machine *unstructured.Unstructured, to string) error {
	err := r.write(ctx, machine, map[string]string{keys.To: to}, keys.Release, keys.Status, keys.ChangeID, keys.LastFailed)
	if err != nil {
		return err
	}
	r.events.Eventf(owner, corev1.EventTypeNormal, protocol.EventInProgress,
		"Machine %q is upgrading to %q", machine.GetName(), to)
	set := map[string]string{keys.Status: protocol.StatusInProgress, keys.To: to}
	if err := r.write(ctx, owner, set, keys.Release); err != nil {
		return err
	}
	r.events.Eventf(owner, corev1.EventTypeNormal, protocol.EventInProgress,
		"In-place upgrade is in-progress for %q", machine.GetName())
	return nil
}

// fail takes the release away and does not put a to in its place (fault 11).
func (r owners) fail(ctx context.Context, owner, machine *unstructured.Unstructured) error {
	set := map[string]string{keys.Status: protocol.StatusFailed}
	if err := r.write(ctx, owner, set, keys.Release); err != nil {
		return err
	}
	r.events.Eventf(owner, corev1.EventTypeWarning, protocol.EventFailed,
		"In-place upgrade failed for machine %q.", machine.GetName())
	return nil
}

// done says so each time (fault 18).
func (r owners) done(ctx context.Context, owner *unstructured.Unstructured, to string) error {
	set := map[string]string{keys.Status: protocol.StatusDone, keys.Release: to}
	if err := r.write(ctx, owner, set, keys.To); err != nil {
		return err
	}
	r.events.Event(owner, corev1.EventTypeNormal, protocol.EventDone, "In-place upgrade is done")
	return nil
}

// machinesOf lists machines of a cluster by labels.
func (m member) machinesOf(
	ctx context.Context, namespace, cluster string, labels ...client.ListOption,
) ([]*unstructured.Unstructured, error) {
	list := capi.List(m.kinds.Machine)
	labels = append(labels, client.InNamespace(namespace), client.MatchingLabels{capi.ClusterNameLabel: cluster})
	if err := m.reader.List(ctx, list, labels...); err != nil {
		return nil, err
	}
	return pointers(list), nil
}

// pointers are copies that may be changed: the list may be a cache's.
func pointers(list *unstructured.UnstructuredList) []*unstructured.Unstructured {
	var items []*unstructured.Unstructured
	for i := range list.Items {
		items = append(items, list.Items[i].DeepCopy())
	}
	return items
}

func groupOf(apiVersion string) string {
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		return ""
	}
	return group
}
