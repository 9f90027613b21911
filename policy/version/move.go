// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package version

import (
	"fmt"
	"slices"
	"strings"
)

// MaxWorkerLag is how many minors workers may be older than their control plane.
const MaxWorkerLag = 3

// Refusal is why a move is not allowed. The zero value allows it.
type Refusal string

// The refusals.
const (
	// Allowed: nothing speaks against it.
	Allowed Refusal = ""
	// Downgrade: a machine is ahead of the target already.
	Downgrade Refusal = "Downgrade"
	// MinorNotAllowed: a machine would leave its minor.
	MinorNotAllowed Refusal = "MinorUpgradeNotAllowed"
	// SkewTooWide: a minor would be jumped, or control plane and workers would be too far apart.
	SkewTooWide Refusal = "SkewTooWide"
)

// Carried tells how many of the machines to move had this very target at their last refresh. The zero value: it is not
// known.
type Carried string

// How many machines carry the target.
const (
	CarriedUnknown Carried = ""
	CarriedByNone  Carried = "None"
	CarriedBySome  Carried = "Some"
	CarriedByAll   Carried = "All"
)

// Move is a cluster on its way to a target.
type Move struct {
	// Target version.
	Target string
	// Exact: the target is this very version. Otherwise it is a stream, such as a channel, that has at least this
	// one: a machine that is newer within the minor may have it from there.
	Exact bool
	// Carried: where no machine carries the target none can be newer because of it; where all do, all may be.
	Carried Carried
	// ControlPlane and Workers are the distinct versions that they run.
	ControlPlane, Workers []string
	// KeepControlPlane and KeepWorkers leave one of them where it is.
	KeepControlPlane, KeepWorkers bool
	// AllowMinor: machines may leave their minor.
	AllowMinor bool
}

// Result is a move as judged.
type Result struct {
	// Refusal, and a sentence about it.
	Refusal Refusal
	Message string
	// Minor: a machine leaves its minor.
	Minor bool
	// Skew says that workers are newer than the control plane already, which no move forbids; empty: they are not.
	Skew string
}

// Check judges a move (law 19). A version that cannot be read is an error: nothing is guessed.
func (m Move) Check() (Result, error) {
	target, err := Parse(m.Target)
	if err != nil {
		return Result{}, fmt.Errorf("target version: %w", err)
	}
	controlPlane, err := sorted(m.ControlPlane)
	if err != nil {
		return Result{}, fmt.Errorf("control plane: %w", err)
	}
	workers, err := sorted(m.Workers)
	if err != nil {
		return Result{}, fmt.Errorf("workers: %w", err)
	}
	var moved []Version
	if !m.KeepControlPlane {
		moved = append(moved, controlPlane...)
	}
	if !m.KeepWorkers {
		moved = append(moved, workers...)
	}
	minor := slices.ContainsFunc(moved, func(v Version) bool { return v.Minors(target) < 0 })
	if ahead, found := m.ahead(moved, target); found {
		return refuse(Downgrade, "runs %s, which is ahead of %s", ahead, target), nil
	}
	if result := m.skew(controlPlane, workers, target); result.Refusal != Allowed {
		return result, nil
	}
	if minor && !m.AllowMinor {
		return refuse(MinorNotAllowed, "would leave its minor for %s, and minorUpgrade is Refuse", target), nil
	}
	return Result{Minor: minor, Skew: skewed(controlPlane, workers)}, nil
}

// skewed says that somebody brought workers past the control plane; the slices are oldest first.
func skewed(controlPlane, workers []Version) string {
	if len(controlPlane) == 0 || len(workers) == 0 {
		return ""
	}
	newest := workers[len(workers)-1]
	if newest.Minors(controlPlane[0]) <= 0 {
		return ""
	}
	return fmt.Sprintf("has workers at %s, which are newer than the control plane at %s", newest, controlPlane[0])
}

// ahead finds a version that the target would lower. Of a stream, a newer patch beside older ones is a cluster
// half-way, unless no machine has it from there.
func (m Move) ahead(moved []Version, target Version) (Version, bool) {
	newer := 0
	for _, v := range moved {
		if v.Minors(target) > 0 {
			return v, true
		}
		if v.Compare(target) > 0 {
			newer++
			alone := m.Carried == CarriedByNone || newer == len(moved) && m.Carried != CarriedByAll
			if m.Exact || alone {
				return v, true
			}
		}
	}
	return Version{}, false
}

// skew judges distances; the slices are oldest first.
func (m Move) skew(controlPlane, workers []Version, target Version) Result {
	if m.KeepControlPlane {
		if !m.KeepWorkers && len(workers) > 0 && len(controlPlane) > 0 && target.Minors(controlPlane[0]) > 0 {
			return refuse(SkewTooWide, "workers at %s would be newer than the control plane at %s: that goes first", target,
				controlPlane[0])
		}
		return Result{}
	}
	if len(controlPlane) > 0 && target.Minors(controlPlane[0]) > 1 {
		return refuse(SkewTooWide, "the control plane at %s would jump a minor on its way to %s%s", controlPlane[0], target,
			way(controlPlane[0], workers, target))
	}
	if len(workers) > 0 && target.Minors(workers[0]) > MaxWorkerLag {
		return refuse(SkewTooWide, "workers at %s would be more than %d minors older than the control plane at %s%s",
			workers[0], MaxWorkerLag, target, m.wayOfWorkers(controlPlane, target))
	}
	return Result{}
}

// way names the stations to the target: "; needed are v1.31, v1.32, then v1.33: one rollout each". Workers that are too
// old for the first of them come up to the control plane before it.
func way(controlPlane Version, workers []Version, target Version) string {
	minors := stations(controlPlane, target)
	if len(minors) == 0 {
		return ""
	}
	if len(workers) > 0 && controlPlane.Minors(workers[0])+1 > MaxWorkerLag {
		minors = append([]string{controlPlane.minor()}, minors...)
	}
	return oneRolloutEach(minors)
}

// wayOfWorkers names the stations where only the workers are too old for the target.
func (m Move) wayOfWorkers(controlPlane []Version, target Version) string {
	if len(controlPlane) == 0 {
		return ""
	}
	from := controlPlane[0].minor()
	switch {
	case m.KeepWorkers:
		return "; needed before it is a rollout to " + from + " with order: WorkersOnly"
	case target.Minors(controlPlane[0]) > 0:
		return oneRolloutEach([]string{from, target.minor()})
	}
	return "; needed is order: WorkersOnly"
}

func oneRolloutEach(minors []string) string {
	last := len(minors) - 1
	return "; needed are " + strings.Join(minors[:last], ", ") + ", then " + minors[last] + ": one rollout each"
}

func refuse(refusal Refusal, format string, args ...any) Result {
	return Result{Refusal: refusal, Message: fmt.Sprintf(format, args...)}
}

func sorted(texts []string) ([]Version, error) {
	versions := make([]Version, 0, len(texts))
	for _, text := range texts {
		v, err := Parse(text)
		if err != nil {
			return nil, err
		}
		versions = append(versions, v)
	}
	slices.SortFunc(versions, Version.Compare)
	return versions, nil
}
