// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package orchestrate

import (
	"slices"
	"strings"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/member"
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
		Machine: m, Marks: marks, Attempt: attempt, Busy: busy, Foreign: member.Foreign(o.Keys, m),
		InFlight: err != nil || marks.InFlight(attempt) || !marks.HasTo && attempt.FailedAt.Before(attempt.SentAt),
	}
}
