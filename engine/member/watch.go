// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/windlass-dev/windlass/engine/capi"
)

// Watch is one kind that wakes a controller, as data: the host makes the wiring.
type Watch[R comparable] struct {
	// GVK of the objects to watch.
	GVK schema.GroupVersionKind
	// Requests names what to reconcile when an object is there, has changed or has gone.
	Requests func(ctx context.Context, o *unstructured.Unstructured) []R
	// Matters says whether a change can mean anything; nil: every change does.
	Matters func(before, after *unstructured.Unstructured) bool
}

// Event is something that happened to an object.
type Event struct {
	// Type is corev1.EventTypeNormal or corev1.EventTypeWarning.
	Type string
	// Reason is one of the protocol's, Note says it for people.
	Reason, Note string
	// Action and Machine tell events of one reason apart: the API takes those that differ in the note alone for
	// repetitions and keeps the first. Empty: "InPlaceUpgrade", and no machine.
	Action  string
	Machine string
}

// Normal returns an event that is as it should be.
func Normal(reason, note string) Event {
	return Event{Type: corev1.EventTypeNormal, Reason: reason, Note: note}
}

// Warning returns an event that somebody may have to look at.
func Warning(reason, note string) Event {
	return Event{Type: corev1.EventTypeWarning, Reason: reason, Note: note}
}

const (
	// defaultAction is the action of events that name none.
	defaultAction = "InPlaceUpgrade"
	// maxNote is what the API server accepts of a note.
	maxNote = 1024
)

// Record writes events about an object.
func (m Member) Record(gvk schema.GroupVersionKind, about capi.Meta, happened ...Event) {
	o := capi.Object(gvk)
	o.SetNamespace(about.Namespace)
	o.SetName(about.Name)
	o.SetUID(about.UID)
	o.SetResourceVersion(about.ResourceVersion)
	for _, e := range happened {
		action := e.Action
		if action == "" {
			action = defaultAction
		}
		m.Events.Eventf(o, m.related(about.Namespace, e.Machine), e.Type, e.Reason, action, "%s", truncated(e.Note))
	}
}

// related names the machine that an event of an owner is about, nil where there is none.
func (m Member) related(namespace, machine string) runtime.Object {
	if machine == "" {
		return nil
	}
	o := capi.Object(m.Kinds.Machine)
	o.SetNamespace(namespace)
	o.SetName(machine)
	return o
}

func truncated(note string) string {
	if len(note) < maxNote {
		return note
	}
	const ellipsis = "..."
	end := maxNote - 1 - len(ellipsis)
	for end > 0 && note[end]&0xC0 == 0x80 { // within a character
		end--
	}
	return note[:end] + ellipsis
}
