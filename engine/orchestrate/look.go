// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package orchestrate

import (
	"slices"
	"strings"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/member"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// Look splits the machines of the cluster into the owner's, by name, and what else matters of the others. Keys and
// Subject must be there.
func (o *Observation) Look(owner Owner, machines []capi.Machine) {
	machines = slices.Clone(machines)
	slices.SortFunc(machines, func(a, b capi.Machine) int { return strings.Compare(a.Name, b.Name) })
	o.Machines, o.ControlPlaneBusy = nil, ""
	for _, m := range machines {
		switch busy := member.Busy(m); {
		case owner.Owns(o.Subject, m):
			o.Machines = append(o.Machines, o.machine(m, busy))
		case m.ControlPlane && busy:
			o.ControlPlaneBusy = m.Name
		}
	}
}

func (o *Observation) machine(m capi.Machine, busy bool) Machine {
	marks := o.Keys.Read(m.Annotations)
	attempt, err := member.Attempt(m)
	return Machine{
		Machine: m, Marks: marks, Attempt: attempt, Busy: busy, Foreign: foreign(o.Keys, m),
		InFlight: err != nil || marks.InFlight(attempt) || !marks.HasTo && attempt.FailedAt.Before(attempt.SentAt),
	}
}

// foreign reports whether a machine is asked, or keeps a change, under another prefix than that of ours.
func foreign(ours protocol.Keys, m capi.Machine) bool {
	for _, prefix := range [...]string{protocol.ProviderPrefix, protocol.OwnPrefix} {
		if keys := protocol.KeysFor(prefix); keys != ours && keys.Read(m.Annotations).Busy() {
			return true
		}
	}
	return false
}
