// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-dev/windlass/policy/version"
)

// MakePlan puts each selected cluster into exactly one wave, canaries first, and sets aside what needs nothing or
// is not suited. When something must be put right before anything may start, the error is a *PlanError that names
// the clusters.
func MakePlan(in PlanInput) (Plan, error) {
	if err := in.check(); err != nil {
		return Plan{}, err
	}
	p := planner{in: in, verdicts: make(map[string]verdict, len(in.Candidates))}
	if err := p.judgeAll(); err != nil {
		return Plan{}, err
	}
	canaries, others := split(in.Candidates, func(c Candidate) bool { return c.CanaryMatch && !in.NoCanaries })
	if !in.NoCanaries {
		if err := p.takeCanaries(canaries); err != nil {
			return Plan{}, err
		}
	}
	left := others
	for i, spec := range in.Waves {
		var taken []Candidate
		taken, left = p.take(i, spec, left, len(others))
		p.add(PlannedWave{Name: spec.Name}, spec, taken)
	}
	if len(left) > 0 {
		return Plan{}, planError(ReasonLeftOver, "no wave takes %s: add a wave with rest: true, or select fewer clusters",
			paths(left))
	}
	p.finish()
	return p.plan, nil
}

// check refuses an input that no inventory can put right.
func (in PlanInput) check() error {
	if _, err := version.Parse(in.Target.Version); err != nil {
		return &PlanError{Reason: ReasonInvalidTarget, Message: fmt.Sprintf("target.version: %v", err)}
	}
	for _, w := range in.Waves {
		if w.Percent < 0 || w.Percent > 100 || !w.MaxConcurrency.inRange(1) || !w.MaxFailures.inRange(0) {
			return planError(ReasonInvalidLimit, "wave %s: percent %d, maxConcurrency %s and maxFailures %s: give "+
				"percentages from 1 to 100 (maxFailures from 0) and counts that are not negative", w.Name, w.Percent,
				w.MaxConcurrency, w.MaxFailures)
		}
	}
	switch {
	case len(in.AbsentCanaries) > 0:
		return planError(ReasonCanaryNotFound, "canaries %s are not among the clusters that the policy selects",
			list(in.AbsentCanaries))
	case len(in.AbsentNames) > 0:
		return planError(ReasonClusterNotFound, "no cluster is called %s", list(in.AbsentNames))
	case len(in.Candidates) == 0:
		return planError(ReasonNoClusters, "the policy selects no cluster")
	}
	return nil
}

// planner fills a plan wave by wave.
type planner struct {
	in       PlanInput
	verdicts map[string]verdict
	plan     Plan
	placed   int
}

// judgeAll judges every candidate, and says which are not known well enough.
func (p *planner) judgeAll() error {
	var unknown []string
	why := ""
	for _, c := range interleave(p.in.Candidates) {
		v := p.in.judge(c)
		p.verdicts[c.ID] = v
		if v.unknown != "" {
			unknown = append(unknown, c.Path)
			why = cmp.Or(why, v.unknown)
		}
	}
	if len(unknown) > 0 {
		return planError(ReasonVersionsUnknown, "the plan waits for %s: %s", list(unknown), why)
	}
	return nil
}

// takeCanaries makes the wave that goes first: one at a time, without a failure.
func (p *planner) takeCanaries(canaries []Candidate) error {
	if len(canaries) == 0 {
		return planError(ReasonCanaryNotFound, "no selected cluster is a canary: name one, or say canaries: {none: true}")
	}
	var refused []string
	for _, c := range interleave(canaries) {
		if v := p.verdicts[c.ID]; v.reason != "" {
			refused = append(refused, fmt.Sprintf("%s (%s)", c.Path, v.reason))
		}
	}
	if len(refused) > 0 {
		return planError(ReasonCanaryIneligible, "the target does not suit the canaries %s", list(refused))
	}
	for _, c := range interleave(canaries) {
		for architecture, kubelet := range c.Kubelets {
			if p.plan.Proven == nil {
				p.plan.Proven = map[string]string{}
			}
			if c.AtTarget && version.Newer(kubelet, p.plan.Proven[architecture]) {
				p.plan.Proven[architecture] = kubelet
			}
		}
	}
	p.add(PlannedWave{Name: CanaryWave, Canary: true}, WaveSpec{}, canaries)
	return nil
}

// take picks a wave's clusters from those that are left. The percentage is of all clusters that are no canaries.
func (p *planner) take(index int, spec WaveSpec, left []Candidate, all int) (taken, rest []Candidate) {
	switch {
	case spec.Rest:
		return left, nil
	case spec.Percent > 0:
		count := min(len(left), (all*spec.Percent+99)/100)
		ordered := interleave(left)
		return ordered[:count], ordered[count:]
	default:
		return split(left, func(c Candidate) bool { return slices.Contains(c.WaveMatches, index) })
	}
}

// add appends a wave of the clusters that need the upgrade and are suited to it.
func (p *planner) add(wave PlannedWave, spec WaveSpec, taken []Candidate) {
	wave.Selected = len(taken)
	eligible, aside := split(taken, func(c Candidate) bool { return p.verdicts[c.ID].reason == "" && !c.AtTarget })
	for _, c := range aside {
		if v := p.verdicts[c.ID]; v.reason != "" {
			p.plan.Ineligible = append(p.plan.Ineligible, Refused{c.ID, c.Path, v.reason, c.Path + ": " + v.message})
			continue
		}
		p.plan.AtTarget = append(p.plan.AtTarget, c.Path)
	}
	for _, c := range interleave(eligible) {
		p.placed++
		wave.Clusters = append(wave.Clusters, Placed{ID: c.ID, Path: c.Path, Member: c.Member, Position: p.placed})
		if p.verdicts[c.ID].minor {
			p.plan.Minor++
			continue
		}
		p.plan.Patch++
	}
	wave.Planned = len(wave.Clusters)
	wave.MaxConcurrency = spec.MaxConcurrency.AtLeastOne(wave.Planned)
	wave.MaxFailures = spec.MaxFailures.Of(wave.Planned)
	p.plan.Waves = append(p.plan.Waves, wave)
}

// finish sorts what was set aside and names the plan.
func (p *planner) finish() {
	slices.Sort(p.plan.AtTarget)
	slices.SortFunc(p.plan.Ineligible, func(a, b Refused) int { return strings.Compare(a.Path, b.Path) })
	p.plan.Total = len(p.in.Candidates)
	p.plan.Hash = hash(p.in.Target, p.in.Order, p.plan)
}

// hash covers target, order, members, places and limits.
func hash(parts ...any) string {
	sum := sha256.New()
	// Values of these types always encode, and a hash never fails to write.
	_ = json.NewEncoder(sum).Encode(parts)
	return hex.EncodeToString(sum.Sum(nil))[:32]
}

func split(all []Candidate, in func(Candidate) bool) (yes, no []Candidate) {
	for _, c := range all {
		if in(c) {
			yes = append(yes, c)
			continue
		}
		no = append(no, c)
	}
	return yes, no
}

func planError(reason, format string, args ...any) error {
	return &PlanError{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func paths(clusters []Candidate) string {
	names := make([]string, 0, len(clusters))
	for _, c := range interleave(clusters) {
		names = append(names, c.Path)
	}
	return list(names)
}

// maxNamed is how many clusters a message names.
const maxNamed = 10

// list names the first ten, and says how many there are.
func list(names []string) string {
	if len(names) <= maxNamed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more (%d in all)", strings.Join(names[:maxNamed], ", "), len(names)-maxNamed, len(names))
}
