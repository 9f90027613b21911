// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"slices"
	"time"

	"github.com/windlass-dev/windlass/policy"
)

// newPlace is a cluster as it stands at the beginning. What keeps it from beginning then, and is nobody's silence,
// stays until the script lifts it.
func newPlace(c policy.Cluster, now time.Time) *place {
	p := &place{path: c.Path, member: c.Member, health: c.Health, healthSince: c.HealthSince}
	if p.health == policy.HealthUnknown {
		p.health, p.healthSince = policy.Healthy, now
	}
	waits := c.Phase == policy.Deferred || c.Phase == policy.Pending && policy.GivesBack(c.Reason)
	switch c.Reason {
	case policy.ReasonUnreachable, policy.ReasonMemberUnreachable, policy.ReasonClusterUnhealthy, policy.ReasonHealthUnknown,
		policy.ReasonFrozen:
		waits = false
	}
	if waits {
		p.hinder(obstacle{phase: c.Phase, reason: c.Reason, message: c.Message})
	}
	return p
}

// hinder adds what keeps it from beginning.
func (p *place) hinder(o obstacle) {
	p.free(o.reason)
	p.obstacles = append(p.obstacles, o)
}

// free takes away what keeps it from beginning.
func (p *place) free(reason string) {
	p.obstacles = slices.DeleteFunc(p.obstacles, func(o obstacle) bool { return o.reason == reason })
}
