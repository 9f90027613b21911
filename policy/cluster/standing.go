// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

// retire takes off an owner what the controllers of a provider would obey, instead of what step would do: with an old
// release they would take finished machines back to it.
func (l look) retire(step Step, s Standing) Step {
	step.Action, step.Owner, step.Machine = RetireOwner, s.ID, ""
	if Final(step.Phase) {
		return step
	}
	if s.Armed {
		step.Reason, step.Message = ReasonOwnerArmed, s.ID+" has release "+s.Release+", which a machine of it lacks"
	}
	return step
}

// armed is an owner whose machines would be taken back (law 11: no exit path leaves one).
func (l look) armed() (Standing, bool) {
	return find(l.o.Standing, func(s Standing) bool { return s.Armed })
}

// returnable is an owner that gets the release back that was taken off it: each of its machines is proven at it.
func (l look) returnable() (Standing, bool) {
	return find(l.o.Standing, func(s Standing) bool { return s.Returnable && s.Previous != "" && !s.marked() })
}
