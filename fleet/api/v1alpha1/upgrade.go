// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Order says which owners of a workload cluster are upgraded, and which first.
// +kubebuilder:validation:Enum=ControlPlaneFirst;ControlPlaneOnly;WorkersOnly
type Order string

// The orders.
const (
	// OrderControlPlaneFirst upgrades the control plane, then the workers. The default.
	OrderControlPlaneFirst Order = "ControlPlaneFirst"
	// OrderControlPlaneOnly upgrades the control plane alone.
	OrderControlPlaneOnly Order = "ControlPlaneOnly"
	// OrderWorkersOnly upgrades the workers alone; they never become newer than the control plane.
	OrderWorkersOnly Order = "WorkersOnly"
)

// SingleControlPlane says whether a cluster with one or two control plane machines is upgraded, which takes its API down:
// two have no quorum without one of them.
// +kubebuilder:validation:Enum=Refuse;Allow;AllowMarked
type SingleControlPlane string

// The answers to a single control plane machine.
const (
	// SingleControlPlaneRefuse makes such clusters Ineligible(SingleControlPlane). The default.
	SingleControlPlaneRefuse SingleControlPlane = "Refuse"
	// SingleControlPlaneAllow upgrades them.
	SingleControlPlaneAllow SingleControlPlane = "Allow"
	// SingleControlPlaneAllowMarked upgrades those whose Cluster carries AllowSingleControlPlaneAnnotation.
	SingleControlPlaneAllowMarked SingleControlPlane = "AllowMarked"
)

// Defaults of upgrade settings.
const (
	// DefaultMaxConcurrentMachines is one worker at a time.
	DefaultMaxConcurrentMachines int32 = 1
	// DefaultMachineTimeout is how long one attempt on a machine may take.
	DefaultMachineTimeout = 30 * time.Minute
	// DefaultMachineMaxAttempts is how often a machine is tried.
	DefaultMachineMaxAttempts int32 = 3
	// DefaultMachineBackoff is the pause before a machine is tried again.
	DefaultMachineBackoff = time.Minute
)

// PolicyUpgrade says how one workload cluster is upgraded. What is left out has the slowest value.
type PolicyUpgrade struct {
	// order: ControlPlaneFirst (default), ControlPlaneOnly or WorkersOnly.
	// +optional
	Order Order `json:"order,omitempty"`
	// maxConcurrentMachines bounds the workers in flight in one cluster. Default 1; the control plane is always one at a time.
	// +optional
	// +kubebuilder:validation:XValidation:rule=`self >= 1 && self <= 1000`,message="upgrade.maxConcurrentMachines: must be 1 to 1000; accepted: 1"
	MaxConcurrentMachines *int32 `json:"maxConcurrentMachines,omitempty"`
	// machine says how one machine is tried.
	// +optional
	Machine *PolicyMachine `json:"machine,omitempty"`
	// progressDeadline is how long a cluster may go on without a machine that ends. Default: none.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule=`self.matches('^([0-9]{1,5}([.][0-9]{1,9})?(h|m|s|ms))+$') && duration(self) >= duration('1s') && duration(self) <= duration('8760h')`,message="upgrade.progressDeadline: must be a duration of 1s to 8760h; accepted: 4h"
	ProgressDeadline *metav1.Duration `json:"progressDeadline,omitempty"`
	// singleControlPlane: Refuse (default), Allow, or AllowMarked (clusters whose owners marked the Cluster so).
	// +optional
	SingleControlPlane SingleControlPlane `json:"singleControlPlane,omitempty"`
}

// PolicyMachine says how one machine is tried.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.expected) || !self.expected.matches('^([0-9]{1,5}([.][0-9]{1,9})?(h|m|s|ms))+$') || !(has(self.timeout) ? self.timeout : '30m').matches('^([0-9]{1,5}([.][0-9]{1,9})?(h|m|s|ms))+$') || duration(self.expected) <= duration(has(self.timeout) ? self.timeout : '30m')`,message="upgrade.machine.expected: must not be longer than timeout, which is 30m where it is left out; accepted: expected: 10m with timeout: 30m",fieldPath=".expected"
type PolicyMachine struct {
	// timeout of one attempt. Default 30m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule=`self.matches('^([0-9]{1,5}([.][0-9]{1,9})?(h|m|s|ms))+$') && duration(self) > duration('0s')`,message="upgrade.machine.timeout: must be a duration above zero; accepted: 30m, 1h30m"
	Timeout *metav1.Duration `json:"timeout,omitempty"`
	// expected is how long a machine takes as long as nothing was measured: one begins only where that fits into its window.
	// Default: timeout.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule=`self.matches('^([0-9]{1,5}([.][0-9]{1,9})?(h|m|s|ms))+$') && duration(self) >= duration('1s') && duration(self) <= duration('8760h')`,message="upgrade.machine.expected: must be a duration of 1s to 8760h; accepted: 10m"
	Expected *metav1.Duration `json:"expected,omitempty"`
	// maxAttempts after which the machine is quarantined. Default 3.
	// +optional
	// +kubebuilder:validation:XValidation:rule=`self >= 1 && self <= 10`,message="upgrade.machine.maxAttempts: must be 1 to 10; accepted: 3"
	MaxAttempts *int32 `json:"maxAttempts,omitempty"`
	// backoff before the next attempt. Default 1m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule=`self.matches('^([0-9]{1,5}([.][0-9]{1,9})?(h|m|s|ms))+$') && duration(self) >= duration('0s')`,message="upgrade.machine.backoff: must be a duration; accepted: 1m, 90s"
	Backoff *metav1.Duration `json:"backoff,omitempty"`
}

// UpgradeSettings are a policy's upgrade settings with every default filled in, as a ClusterUpgrade carries them.
type UpgradeSettings struct {
	// order of the owners.
	// +required
	Order Order `json:"order"`
	// maxConcurrentMachines bounds the workers in flight.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxConcurrentMachines int32 `json:"maxConcurrentMachines"`
	// machine says how one machine is tried.
	// +required
	Machine MachineSettings `json:"machine"`
	// singleControlPlane says whether a cluster with one or two control plane machines is upgraded.
	// +required
	SingleControlPlane SingleControlPlane `json:"singleControlPlane"`
	// progressDeadline is how long the cluster may go on without a machine that ends. Absent: no deadline.
	// +optional
	ProgressDeadline *metav1.Duration `json:"progressDeadline,omitempty"`
	// beforeStart says what becomes of the cluster where it cannot be seen when its turn comes. Absent: CatchUp.
	// +optional
	BeforeStart BeforeStart `json:"beforeStart,omitempty"`
	// deferralMax is how long the wish of the cluster's owner to wait is honoured. Absent: 168h; 0s: it is not.
	// +optional
	DeferralMax *metav1.Duration `json:"deferralMax,omitempty"`
	// refreshedAfter makes a machine whose last proven refresh ended before it not done. Absent: no machine.
	// +optional
	RefreshedAfter *metav1.Time `json:"refreshedAfter,omitempty"`
}

// MachineSettings say how one machine is tried.
type MachineSettings struct {
	// timeout of one attempt.
	// +required
	Timeout metav1.Duration `json:"timeout"`
	// expected is how long a machine takes as long as nothing was measured. Absent: timeout.
	// +optional
	Expected *metav1.Duration `json:"expected,omitempty"`
	// maxAttempts after which the machine is quarantined.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	MaxAttempts int32 `json:"maxAttempts"`
	// backoff before the next attempt.
	// +required
	Backoff metav1.Duration `json:"backoff"`
}

// Settings fills in the defaults of what stands in upgrade. It accepts nil: all defaults. See RolloutPolicySpec.Settings.
func (u *PolicyUpgrade) Settings() UpgradeSettings {
	s := UpgradeSettings{
		Order:                 OrderControlPlaneFirst,
		MaxConcurrentMachines: DefaultMaxConcurrentMachines,
		Machine: MachineSettings{
			Timeout:     metav1.Duration{Duration: DefaultMachineTimeout},
			MaxAttempts: DefaultMachineMaxAttempts,
			Backoff:     metav1.Duration{Duration: DefaultMachineBackoff},
		},
		SingleControlPlane: SingleControlPlaneRefuse,
	}
	if u == nil {
		return s
	}
	if u.Order != "" {
		s.Order = u.Order
	}
	if u.SingleControlPlane != "" {
		s.SingleControlPlane = u.SingleControlPlane
	}
	override(&s.MaxConcurrentMachines, u.MaxConcurrentMachines)
	if m := u.Machine; m != nil {
		override(&s.Machine.Timeout, m.Timeout)
		override(&s.Machine.MaxAttempts, m.MaxAttempts)
		override(&s.Machine.Backoff, m.Backoff)
		s.Machine.Expected = m.Expected
	}
	s.ProgressDeadline = u.ProgressDeadline
	return s
}

// Settings are the upgrade settings of the policy with every default filled in, as they are frozen at planning.
func (s *RolloutPolicySpec) Settings() UpgradeSettings {
	settings := s.Upgrade.Settings()
	settings.BeforeStart, settings.DeferralMax = BeforeStartCatchUp, &metav1.Duration{Duration: DefaultDeferralMax}
	if u := s.Unreachable; u != nil && u.BeforeStart != "" {
		settings.BeforeStart = u.BeforeStart
	}
	if d := s.Deferral; d != nil && d.Max != nil {
		settings.DeferralMax = d.Max
	}
	settings.RefreshedAfter = s.Target.RefreshedAfter
	return settings
}

// override sets a value where one is given.
func override[T any](value, given *T) {
	if given != nil {
		*value = *given
	}
}
