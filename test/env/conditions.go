// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// conditions are those of one object, about to be written at one time.
type conditions struct {
	list       *[]metav1.Condition
	generation int64
	now        time.Time
}

// set writes one condition; its time changes with its status only.
func (c conditions) set(kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(c.list, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message,
		ObservedGeneration: c.generation, LastTransitionTime: metav1.NewTime(c.now),
	})
}

// good writes True.
func (c conditions) good(kind, reason string) { c.set(kind, metav1.ConditionTrue, reason, "") }

// judge writes True with one reason or False with another.
func (c conditions) judge(kind string, good bool, yes, no, message string) {
	if good {
		c.good(kind, yes)
		return
	}
	c.set(kind, metav1.ConditionFalse, no, message)
}

// calm writes the conditions of an object to which nothing happens.
func (c conditions) calm(kinds ...string) {
	reasons := map[string]string{
		clusterv1.RollingOutCondition:      clusterv1.NotRollingOutReason,
		clusterv1.ScalingUpCondition:       clusterv1.NotScalingUpReason,
		clusterv1.ScalingDownCondition:     clusterv1.NotScalingDownReason,
		clusterv1.RemediatingCondition:     clusterv1.NotRemediatingReason,
		clusterv1.MachineUpdatingCondition: clusterv1.MachineNotUpdatingReason,
		clusterv1.PausedCondition:          clusterv1.NotPausedReason,
		clusterv1.ClusterDeletingCondition: clusterv1.NotDeletingReason,
	}
	for _, kind := range kinds {
		c.set(kind, metav1.ConditionFalse, reasons[kind], "")
	}
}

// deleting writes the condition Deleting.
func (c conditions) deleting(o metav1.Object) {
	if o.GetDeletionTimestamp().IsZero() {
		c.set(clusterv1.DeletingCondition, metav1.ConditionFalse, clusterv1.NotDeletingReason, "")
		return
	}
	c.set(clusterv1.DeletingCondition, metav1.ConditionTrue, clusterv1.DeletingReason, "")
}

// legacy are conditions of the v1beta1 contract, about to be written at one time.
type legacy struct {
	list *clusterv1.Conditions
	now  time.Time
}

// judge writes True, or False with a reason. The time of a condition changes with its status only.
func (l legacy) judge(kind clusterv1.ConditionType, good bool, no, message string) {
	want := clusterv1.Condition{Type: kind, Status: "True", LastTransitionTime: metav1.NewTime(l.now)}
	if !good {
		want.Status, want.Severity = "False", clusterv1.ConditionSeverityWarning
		want.Reason, want.Message = no, message
	}
	for i, c := range *l.list {
		if c.Type != kind {
			continue
		}
		if c.Status == want.Status {
			want.LastTransitionTime = c.LastTransitionTime
		}
		(*l.list)[i] = want
		return
	}
	*l.list = append(*l.list, want)
}
