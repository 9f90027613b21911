// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/version"
)

// skewed is what speaks against beginning an owner for the versions that its cluster runs now, whatever the plan saw
// (law 19).
func (l look) skewed(current Owner) (Step, bool) {
	target, err := version.Parse(current.Version)
	switch {
	case err != nil:
		return Step{}, false // the proof finds it
	case current.Role != ControlPlane:
		return l.behind(current, target)
	}
	for _, m := range current.Machines {
		if v, err := version.Parse(m.Kubelet); err == nil && target.Minors(v) > 1 {
			return l.hold(policy.ReasonSkewTooWide, "machine %s runs %s: a control plane moves to %s one minor at a time", m.Name, v,
				target), true
		}
	}
	for _, text := range l.kubelets(Workers) {
		if v, err := version.Parse(text); err == nil && target.Minors(v) > version.MaxWorkerLag {
			return l.hold(policy.ReasonSkewTooWide, "workers at %s would be more than %d minors older than a control plane at %s", v,
				version.MaxWorkerLag, target), true
		}
	}
	return Step{}, false
}

// behind: the control plane is not yet where the workers are to go, or does not say where it is.
func (l look) behind(current Owner, target version.Version) (Step, bool) {
	for _, text := range l.kubelets(ControlPlane) {
		if v, err := version.Parse(text); err != nil || target.Minors(v) > 0 {
			return l.hold(policy.ReasonControlPlaneBehind, "%s at %s would be newer than the control plane, which runs %q",
				current.ID(), target, text), true
		}
	}
	return Step{}, false
}

// kubelets are the versions that machines of a role run.
func (l look) kubelets(role Role) []string {
	versions := l.o.Beside[role]
	for _, o := range l.o.Owners {
		for _, m := range o.Machines {
			if o.Role == role {
				versions = append(versions[:len(versions):len(versions)], m.Kubelet)
			}
		}
	}
	return versions
}
