// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"slices"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/version"
)

// inOrder are the owners to upgrade, as the order says: control planes before workers, then by name.
func (o Observation) inOrder() []Owner {
	var owners []Owner
	for _, owner := range o.Owners {
		if owner.Role == ControlPlane && o.Order == policy.WorkersOnly ||
			owner.Role != ControlPlane && o.Order == policy.ControlPlaneOnly {
			continue
		}
		owners = append(owners, owner)
	}
	slices.SortStableFunc(owners, func(a, b Owner) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})
	return owners
}

func (o Owner) rank() int {
	if o.Role == ControlPlane {
		return 0
	}
	return 1
}

// done: all its machines are there and proven, and the engine has taken its target off.
func (o Owner) done() bool {
	if !o.Present || o.Deleting || o.HasTo || o.Stale || len(o.Machines) != o.Replicas || o.Health.Status == False {
		return false
	}
	return !slices.ContainsFunc(o.Machines, func(m Machine) bool {
		return !m.Proven.Good() || m.InFlight || m.Requested
	})
}

// alone: a control plane that has no quorum without one machine: of one, or of two.
func (o Owner) alone() bool {
	return o.Role == ControlPlane && (o.Replicas == 1 || o.Replicas == 2) && !o.done()
}

// granted: what would be written on it is there.
func (o Owner) granted() bool { return o.Ours && o.HasTo && o.To == o.Target && o.PlanMatches }

// active: it is being upgraded, or a machine of it is.
func (o Owner) active() bool {
	_, busy := o.inFlight()
	return busy || o.Ours && o.HasTo
}

// lacking: a machine of it must be refreshed once more, does not carry the target, or carries it with an older kubelet (law 3).
func (o Owner) lacking() bool {
	return o.Stale || slices.ContainsFunc(o.Machines, func(m Machine) bool {
		return m.Release != o.Target || !version.Fits(m.Kubelet, o.Version)
	})
}

// unproven is the first machine that carries the target and is not proven.
func (o Owner) unproven() (Machine, bool) {
	return find(o.Machines, func(m Machine) bool { return !m.Proven.Good() })
}

func (o Owner) proven() int {
	count := 0
	for _, m := range o.Machines {
		if m.Proven.Good() {
			count++
		}
	}
	return count
}

func (o Owner) leftovers() bool {
	return slices.ContainsFunc(o.Machines, func(m Machine) bool { return m.Leftovers && !m.InFlight })
}

// requested: a machine of it was asked to upgrade and has not begun.
func (o Owner) requested() bool {
	return slices.ContainsFunc(o.Machines, func(m Machine) bool { return m.Requested && !m.InFlight })
}

func (o Owner) inFlight() (Machine, bool) {
	return find(o.Machines, func(m Machine) bool { return m.InFlight })
}

// inFlight is the name of the first machine in flight in any owner.
func (o Observation) inFlight() (string, bool) {
	for _, owner := range o.Owners {
		if m, found := owner.inFlight(); found {
			return m.Name, true
		}
	}
	return "", false
}

// quarantined is the first machine, of an owner of ours, that used up its attempts.
func (o Observation) quarantined() (Machine, bool) {
	for _, owner := range o.inOrder() {
		if !owner.Ours {
			continue
		}
		if m, found := find(owner.Machines, func(m Machine) bool { return m.Quarantined }); found {
			return m, true
		}
	}
	return Machine{}, false
}

// lastError is what the first machine in trouble says.
func (o Observation) lastError() string {
	for _, owner := range o.Owners {
		if !owner.Ours {
			continue
		}
		if m, found := find(owner.Machines, func(m Machine) bool { return m.LastError != "" }); found {
			return m.Name + ": " + m.LastError
		}
	}
	return ""
}

// versionsIf is the highest kubelet version per architecture.
func (l look) versionsIf(wanted bool) map[string]string {
	if !wanted {
		return nil
	}
	versions := map[string]string{}
	for _, owner := range l.o.inOrder() {
		for _, m := range owner.Machines {
			if m.Architecture != "" && version.Newer(m.Kubelet, versions[m.Architecture]) {
				versions[m.Architecture] = m.Kubelet
			}
		}
	}
	return versions
}

func find[T any](all []T, is func(T) bool) (T, bool) {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i], true
	}
	var none T
	return none, false
}
