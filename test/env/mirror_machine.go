// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// mirrorMachine writes into a Machine's status what Cluster API's machine controller would, seeing node; nil: there is
// none. Conditions of others, such as HealthCheckSucceeded, are kept and heeded.
func mirrorMachine(m *clusterv1.Machine, node *corev1.Node, now time.Time) {
	s := &m.Status
	s.ObservedGeneration = m.Generation
	s.Initialization.InfrastructureProvisioned = new(true)
	s.Initialization.BootstrapDataSecretCreated = new(true)
	c := conditions{&s.Conditions, m.Generation, now}
	if node != nil {
		s.NodeRef.Name = node.Name
		s.NodeInfo = node.Status.NodeInfo.DeepCopy()
		s.Addresses = nil
		for _, a := range node.Status.Addresses {
			s.Addresses = append(s.Addresses,
				clusterv1.MachineAddress{Type: clusterv1.MachineAddressType(a.Type), Address: a.Address})
		}
	}
	c.good(clusterv1.MachineBootstrapConfigReadyCondition, clusterv1.MachineBootstrapConfigReadyReason)
	c.good(clusterv1.MachineInfrastructureReadyCondition, clusterv1.MachineInfrastructureReadyReason)
	c.node(m, node)
	c.deleting(m)
	c.calm(clusterv1.MachineUpdatingCondition, clusterv1.PausedCondition)
	c.upToDate(m)
	c.ready(m)
	phase(m, now)
	legacyMachine(m, now)
}

// node writes NodeReady and NodeHealthy.
func (c conditions) node(m *clusterv1.Machine, node *corev1.Node) {
	both := func(status metav1.ConditionStatus, reason, message string) {
		c.set(clusterv1.MachineNodeReadyCondition, status, reason, message)
		c.set(clusterv1.MachineNodeHealthyCondition, status, reason, message)
	}
	switch {
	case node != nil:
		c.nodeReady(node)
		c.nodeHealthy(node)
	case m.Status.NodeRef.IsDefined():
		both(metav1.ConditionFalse, clusterv1.MachineNodeDeletedReason,
			fmt.Sprintf("Node %s has been deleted while the Machine still exists", m.Status.NodeRef.Name))
	default:
		both(metav1.ConditionUnknown, clusterv1.MachineNodeInspectionFailedReason,
			fmt.Sprintf("Waiting for a Node with spec.providerID %s to exist", m.Spec.ProviderID))
	}
}

func (c conditions) nodeReady(node *corev1.Node) {
	ready := nodeCondition(node, corev1.NodeReady)
	if ready == nil {
		c.set(clusterv1.MachineNodeReadyCondition, metav1.ConditionUnknown, clusterv1.MachineNodeReadyUnknownReason,
			"* Node.Ready: Condition not yet reported")
		return
	}
	reason, message := clusterv1.MachineNodeReadyUnknownReason, ""
	switch ready.Status {
	case corev1.ConditionTrue:
		reason = clusterv1.MachineNodeReadyReason
	case corev1.ConditionFalse:
		reason = clusterv1.MachineNodeNotReadyReason
	case corev1.ConditionUnknown:
	}
	if ready.Status != corev1.ConditionTrue && ready.Message != "" {
		message = "* Node.Ready: " + ready.Message
	}
	c.set(clusterv1.MachineNodeReadyCondition, metav1.ConditionStatus(ready.Status), reason, message)
}

// nodeHealthy sums four conditions of the Node up: Ready should be True, the pressures False.
func (c conditions) nodeHealthy(node *corev1.Node) {
	status, reason := metav1.ConditionTrue, clusterv1.MachineNodeHealthyReason
	var messages []string
	for _, want := range []struct {
		kind corev1.NodeConditionType
		good corev1.ConditionStatus
	}{
		{corev1.NodeReady, corev1.ConditionTrue},
		{corev1.NodeMemoryPressure, corev1.ConditionFalse},
		{corev1.NodeDiskPressure, corev1.ConditionFalse},
		{corev1.NodePIDPressure, corev1.ConditionFalse},
	} {
		got := corev1.NodeCondition{Status: corev1.ConditionUnknown, Message: "Condition not yet reported"}
		if found := nodeCondition(node, want.kind); found != nil {
			got = *found
		}
		if got.Status == want.good {
			continue
		}
		if got.Message == "" {
			got.Message = fmt.Sprintf("Condition is %s", got.Status)
		}
		messages = append(messages, fmt.Sprintf("* Node.%s: %s", want.kind, got.Message))
		switch {
		case got.Status != corev1.ConditionUnknown:
			status, reason = metav1.ConditionFalse, clusterv1.MachineNodeNotHealthyReason
		case status == metav1.ConditionTrue:
			status, reason = metav1.ConditionUnknown, clusterv1.MachineNodeHealthUnknownReason
		}
	}
	c.set(clusterv1.MachineNodeHealthyCondition, status, reason, strings.Join(messages, "\n"))
}

func nodeCondition(node *corev1.Node, kind corev1.NodeConditionType) *corev1.NodeCondition {
	for i := range node.Status.Conditions {
		if node.Status.Conditions[i].Type == kind {
			return &node.Status.Conditions[i]
		}
	}
	return nil
}

// upToDate writes UpToDate of a worker. An in-place upgrade leaves spec.version behind, which shows here.
func (c conditions) upToDate(m *clusterv1.Machine) {
	if _, pool := m.Labels[clusterv1.MachineDeploymentNameLabel]; !pool {
		return
	}
	if m.Status.NodeInfo != nil && m.Status.NodeInfo.KubeletVersion != m.Spec.Version {
		c.set(clusterv1.MachineUpToDateCondition, metav1.ConditionFalse, clusterv1.MachineUpToDateUpdatingReason,
			fmt.Sprintf("* Node.status.nodeInfo.kubeletVersion %s, %s required",
				m.Status.NodeInfo.KubeletVersion, m.Spec.Version))
		return
	}
	c.good(clusterv1.MachineUpToDateCondition, clusterv1.MachineUpToDateReason)
}

// ready writes Ready, the sum of the conditions that a Machine needs, and Available, which follows at once.
func (c conditions) ready(m *clusterv1.Machine) {
	status, reason := metav1.ConditionTrue, clusterv1.MachineReadyReason
	var messages []string
	for _, want := range []struct {
		kind string
		good metav1.ConditionStatus
	}{
		{clusterv1.MachineDeletingCondition, metav1.ConditionFalse},
		{clusterv1.MachineNodeHealthyCondition, metav1.ConditionTrue},
		{clusterv1.MachineHealthCheckSucceededCondition, metav1.ConditionTrue},
	} {
		got := meta.FindStatusCondition(m.Status.Conditions, want.kind)
		if got == nil || got.Status == want.good { // HealthCheckSucceeded is there only with a MachineHealthCheck
			continue
		}
		messages = append(messages, summaryLine(want.kind, got.Message))
		switch {
		case got.Status != metav1.ConditionUnknown:
			status, reason = metav1.ConditionFalse, clusterv1.MachineNotReadyReason
		case status == metav1.ConditionTrue:
			status, reason = metav1.ConditionUnknown, clusterv1.MachineReadyUnknownReason
		}
	}
	c.set(clusterv1.MachineReadyCondition, status, reason, strings.Join(messages, "\n"))
	c.judge(clusterv1.MachineAvailableCondition, status == metav1.ConditionTrue,
		clusterv1.MachineAvailableReason, clusterv1.MachineNotReadyReason, "")
}

func summaryLine(kind, message string) string {
	switch {
	case message == "":
		return "* " + kind
	case strings.HasPrefix(message, "*"):
		return "* " + kind + ":\n  " + strings.ReplaceAll(message, "\n", "\n  ")
	}
	return "* " + kind + ": " + message
}

func phase(m *clusterv1.Machine, now time.Time) {
	before := m.Status.Phase
	switch {
	case !m.DeletionTimestamp.IsZero():
		m.Status.Phase = string(clusterv1.MachinePhaseDeleting)
	case m.Status.NodeRef.IsDefined():
		m.Status.Phase = string(clusterv1.MachinePhaseRunning)
	default:
		m.Status.Phase = string(clusterv1.MachinePhaseProvisioned)
	}
	if m.Status.Phase != before {
		m.Status.LastUpdated = metav1.NewTime(now)
	}
}

// legacyMachine writes the conditions of the v1beta1 contract, all that members before v1.9 had.
func legacyMachine(m *clusterv1.Machine, now time.Time) {
	if m.Status.Deprecated == nil {
		m.Status.Deprecated = &clusterv1.MachineDeprecatedStatus{}
	}
	if m.Status.Deprecated.V1Beta1 == nil {
		m.Status.Deprecated.V1Beta1 = &clusterv1.MachineV1Beta1DeprecatedStatus{}
	}
	healthy := meta.FindStatusCondition(m.Status.Conditions, clusterv1.MachineNodeHealthyCondition)
	l := legacy{&m.Status.Deprecated.V1Beta1.Conditions, now}
	l.judge(clusterv1.BootstrapReadyV1Beta1Condition, true, "", "")
	l.judge(clusterv1.InfrastructureReadyV1Beta1Condition, true, "", "")
	l.judge(clusterv1.MachineNodeHealthyV1Beta1Condition, healthy.Status == metav1.ConditionTrue,
		clusterv1.NodeConditionsFailedV1Beta1Reason, healthy.Message)
	l.judge(clusterv1.ReadyV1Beta1Condition, true, "", "")
}
