// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-dev/windlass/policy/version"
)

// verdict is what planning thinks of one candidate.
type verdict struct {
	// unknown says what is not known about it; the plan waits.
	unknown string
	// reason and message say why it is ineligible.
	reason, message string
	// minor: it leaves its minor.
	minor bool
	// skew says that its workers are newer than its control plane.
	skew string
}

// judge judges candidates. Few sets of versions make up a fleet, so each is compared once.
type judge struct {
	PlanInput
	moves map[string]verdict
}

// judge says whether the target suits a candidate.
func (j judge) judge(c *Candidate) verdict {
	switch {
	case c.Unsupported != "":
		return verdict{reason: ReasonUnsupported, message: c.Unsupported}
	case c.AtTarget:
		return verdict{}
	case !c.Known:
		return verdict{unknown: "its versions have not been read"}
	case len(c.ControlPlaneVersions) == 0 || c.ControlPlaneReplicas <= 0:
		return verdict{unknown: "its control plane has not been read"}
	}
	if v := j.judgeShape(c); v != (verdict{}) {
		return v
	}
	key := strings.Join(c.ControlPlaneVersions, " ") + "/" + strings.Join(c.WorkerVersions, " ") + "/" + string(c.Carried)
	v, found := j.moves[key]
	if !found {
		v = j.judgeMove(c)
		j.moves[key] = v
	}
	return v
}

// judgeMove looks at versions.
func (j judge) judgeMove(c *Candidate) verdict {
	result, err := version.Move{
		Target:           j.Target.Version,
		Exact:            !strings.HasPrefix(j.Target.Text, "channel="),
		Carried:          c.Carried,
		ControlPlane:     c.ControlPlaneVersions,
		Workers:          c.WorkerVersions,
		KeepControlPlane: j.Order == WorkersOnly,
		KeepWorkers:      j.Order == ControlPlaneOnly,
		AllowMinor:       j.Target.MinorUpgrade,
	}.Check()
	if err != nil {
		return verdict{unknown: err.Error()}
	}
	return verdict{reason: string(result.Refusal), message: result.Message, minor: result.Minor, skew: result.Skew}
}

// judgeShape looks at architectures and at the size of the control plane.
func (j judge) judgeShape(c *Candidate) verdict {
	wanted := j.Target.Architecture
	switch {
	case j.Order != WorkersOnly && c.ControlPlaneReplicas == 1 && !j.AllowSingleControlPlane:
		return verdict{reason: ReasonSingleControlPlane, message: "has one control plane machine, and singleControlPlane " +
			"is Refuse"}
	case j.Order != WorkersOnly && c.ControlPlaneReplicas == 2 && !j.AllowSingleControlPlane:
		return verdict{reason: ReasonSingleControlPlane, message: "has two control plane machines, of which one is no " +
			"quorum, and singleControlPlane is Refuse"}
	case wanted == "":
		return verdict{}
	case len(c.Architectures) == 0:
		return verdict{unknown: "the architecture of its machines has not been read"}
	case len(c.Architectures) > 1:
		return verdict{reason: ReasonMixedArchitecture, message: fmt.Sprintf("has machines of %s, and the target is of %s",
			strings.Join(c.Architectures, ", "), wanted)}
	case !slices.Contains(c.Architectures, wanted):
		return verdict{reason: ReasonOtherArchitecture, message: fmt.Sprintf("is of %s, and the target is of %s",
			c.Architectures[0], wanted)}
	}
	return verdict{}
}
