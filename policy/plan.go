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
	all := entries(in.Candidates)
	if err := in.judgeAll(all); err != nil {
		return Plan{}, err
	}
	p := planner{in: in}
	canaries, others := split(all, func(e *entry) bool { return e.CanaryMatch && !in.NoCanaries })
	if !in.NoCanaries {
		if err := p.takeCanaries(canaries); err != nil {
			return Plan{}, err
		}
	}
	left := others
	for i, spec := range in.Waves {
		var taken []*entry
		taken, left = take(i, spec, left, len(others))
		p.add(PlannedWave{Name: spec.Name}, spec, i, taken)
	}
	if len(left) > 0 {
		return Plan{}, planError(ReasonLeftOver, "no wave takes %s: add a wave with rest: true, or select fewer clusters",
			paths(left))
	}
	p.finish(all)
	return p.plan, nil
}

// check refuses an input that no inventory can put right.
func (in PlanInput) check() error {
	if _, err := version.Parse(in.Target.Version); err != nil {
		return &PlanError{Reason: ReasonInvalidTarget, Message: fmt.Sprintf("target.version: %v", err)}
	}
	if err := in.checkWaves(); err != nil {
		return err
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

// checkWaves refuses waves that would not mean what they say.
func (in PlanInput) checkWaves() error {
	names := map[string]bool{}
	for i, w := range in.Waves {
		if w.Percent < 0 || w.Percent > 100 || !w.MaxConcurrency.inRange(1) || !w.MaxFailures.inRange(0) {
			return planError(ReasonInvalidLimit, "wave %s: percent %d, maxConcurrency %s and maxFailures %s: give "+
				"percentages from 1 to 100 (maxFailures from 0) and counts that are not negative", w.Name, w.Percent,
				w.MaxConcurrency, w.MaxFailures)
		}
		switch {
		case w.Name == CanaryWave || w.Name == catchUpWave && len(in.Waves) > 1:
			return planError(ReasonInvalidWave, "waves[%d]: %s is a wave of the hub's own: give it another name", i, w.Name)
		case names[w.Name]:
			return planError(ReasonInvalidWave, "waves[%d]: there are two waves called %s: give each a name of its own", i, w.Name)
		case w.Rest && i+1 < len(in.Waves):
			return planError(ReasonInvalidWave, "waves[%d]: %s takes the rest, and %s comes after it: rest: true stands in the "+
				"last wave only", i, w.Name, in.Waves[i+1].Name)
		}
		names[w.Name] = true
	}
	return nil
}

// judgeAll judges every candidate, and says which are not known well enough.
func (in PlanInput) judgeAll(all []*entry) error {
	j := judge{PlanInput: in, moves: map[string]verdict{}}
	known := true
	for _, e := range all {
		e.verdict = j.judge(e.Candidate)
		known = known && e.verdict.unknown == ""
	}
	if known {
		return nil
	}
	var unknown []string
	why := ""
	for _, e := range interleave(all) {
		if e.verdict.unknown != "" {
			unknown = append(unknown, e.Path)
			why = cmp.Or(why, e.verdict.unknown)
		}
	}
	return planError(ReasonVersionsUnknown, "the plan waits for %s: %s", list(unknown), why)
}

// planner fills a plan wave by wave.
type planner struct {
	in     PlanInput
	plan   Plan
	placed int
}

// takeCanaries makes the wave that goes first: one at a time, without a failure.
func (p *planner) takeCanaries(canaries []*entry) error {
	if len(canaries) == 0 {
		return planError(ReasonCanaryNotFound, "no selected cluster is a canary: name one, or say canaries: {none: true}")
	}
	var refused []string
	for _, e := range interleave(canaries) {
		if e.verdict.reason != "" {
			refused = append(refused, fmt.Sprintf("%s (%s)", e.Path, e.verdict.reason))
		}
	}
	if len(refused) > 0 {
		return planError(ReasonCanaryIneligible, "the target does not suit the canaries %s", list(refused))
	}
	for _, e := range canaries {
		for architecture, kubelet := range e.Kubelets {
			if p.plan.Proven == nil {
				p.plan.Proven = map[string]string{}
			}
			if e.AtTarget && version.Newer(kubelet, p.plan.Proven[architecture]) {
				p.plan.Proven[architecture] = kubelet
			}
		}
	}
	p.add(PlannedWave{Name: CanaryWave, Canary: true}, WaveSpec{}, -1, canaries)
	return nil
}

// take picks a wave's clusters from those that are left. The percentage is of all clusters that are no canaries.
func take(index int, spec WaveSpec, left []*entry, all int) (taken, rest []*entry) {
	switch {
	case spec.Rest:
		return left, nil
	case spec.Percent > 0:
		count := min(len(left), (all*spec.Percent+99)/100)
		first := make(map[*entry]bool, count)
		for _, e := range interleave(left)[:count] {
			first[e] = true
		}
		return split(left, func(e *entry) bool { return first[e] })
	default:
		return split(left, func(e *entry) bool { return slices.Contains(e.WaveMatches, index) })
	}
}

// add appends a wave of the clusters that need the upgrade and are suited to it.
func (p *planner) add(wave PlannedWave, spec WaveSpec, index int, taken []*entry) {
	wave.Selected = len(taken)
	for _, e := range taken {
		e.wave = index
	}
	eligible, aside := split(taken, func(e *entry) bool { return e.verdict.reason == "" && !e.AtTarget })
	for _, e := range aside {
		if v := e.verdict; v.reason != "" {
			p.plan.Ineligible = append(p.plan.Ineligible, Refused{e.ID, e.Path, v.reason, e.Path + ": " + v.message})
			continue
		}
		p.plan.AtTarget = append(p.plan.AtTarget, e.Path)
	}
	wave.Planned = len(eligible)
	wave.MaxConcurrency, wave.MaxFailures = spec.Counts(wave.Planned)
	for _, e := range interleave(eligible) {
		p.placed++
		wave.Clusters = append(wave.Clusters, Placed{ID: e.ID, Path: e.Path, Member: e.Member, Position: p.placed})
		if e.verdict.skew != "" {
			p.plan.Skewed = append(p.plan.Skewed, e.Path+": "+e.verdict.skew)
		}
		if e.verdict.minor {
			p.plan.Minor++
			continue
		}
		p.plan.Patch++
	}
	p.plan.Waves = append(p.plan.Waves, wave)
}

// finish sorts what was set aside, counts what the first match took from later waves, and names the plan.
func (p *planner) finish(all []*entry) {
	slices.Sort(p.plan.AtTarget)
	slices.SortFunc(p.plan.Ineligible, func(a, b Refused) int { return strings.Compare(a.Path, b.Path) })
	before := len(p.plan.Waves) - len(p.in.Waves)
	for _, e := range all {
		for _, i := range e.WaveMatches {
			if i != e.wave && i >= 0 && i < len(p.in.Waves) {
				p.plan.Waves[before+i].TakenBefore++
			}
		}
	}
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

func planError(reason, format string, args ...any) error {
	return &PlanError{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func paths(clusters []*entry) string {
	names := make([]string, 0, len(clusters))
	for _, e := range interleave(clusters) {
		names = append(names, e.Path)
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
