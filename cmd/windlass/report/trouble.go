// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// Trouble is a class of findings that a script may want to fail on.
type Trouble string

// The classes.
const (
	// Halted: a rollout is Halted.
	Halted Trouble = "halted"
	// Failed: a cluster of a rollout failed.
	Failed Trouble = "failed"
	// Stalled: something does not move until a person acts.
	Stalled Trouble = "stalled"
	// Unreachable: a management cluster does not answer, or has not yet.
	Unreachable Trouble = "unreachable"
)

// Troubles lists every class.
func Troubles() []Trouble { return []Trouble{Halted, Failed, Stalled, Unreachable} }

// ParseTrouble reads a class; the error names the accepted ones.
func ParseTrouble(text string) (Trouble, error) {
	var names []string
	for _, t := range Troubles() {
		if string(t) == text {
			return t, nil
		}
		names = append(names, string(t))
	}
	return "", fmt.Errorf("%q is none of %s", text, strings.Join(names, ", "))
}

// Find lists what a report holds of one class, one line each, in the report's order.
func (r Report) Find(t Trouble) []string {
	var found []string
	put := func(of Trouble, holds bool, what string, why *Why) {
		if of == t && holds {
			found = append(found, strings.TrimSuffix(what+": "+why.line(), ": "))
		}
	}
	stalled := func(why *Why) bool { return why != nil && why.Of == "" && why.Until == fleetv1.UntilAct }
	for _, mc := range r.ManagementClusters {
		put(Unreachable, mc.Reachable != "True", "management cluster "+r.name(mc.Namespace, mc.Name), mc.Why)
	}
	for _, ro := range r.Rollouts {
		name := "rollout " + r.name(ro.Namespace, ro.Name)
		put(Halted, ro.Phase == string(fleetv1.RolloutHalted), name, ro.Why)
		put(Stalled, stalled(ro.Why), name, ro.Why)
		for _, w := range ro.Waves {
			for _, c := range w.Clusters {
				put(Failed, c.Phase == string(fleetv1.UpgradeFailed), "cluster "+r.name(c.Namespace, c.Name), c.Why)
				put(Stalled, stalled(c.Why), "cluster "+r.name(c.Namespace, c.Name), c.Why)
			}
		}
	}
	return found
}
