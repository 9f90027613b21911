// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

// Run plays one rollout until it has ended, stands still for good, or Until.
func Run(in Input) Result { return RunAll([]Input{in})[0] }

// RunAll plays several rollouts that share members, and perhaps clusters, each from its From on, until the Until of the
// first, which is the earliest, with its lag. A cluster is driven by one of them at a time. What befalls clusters and members, or is done by
// people, befalls them all.
func RunAll(ins []Input) []Result {
	w := newWorld(ins)
	w.play()
	results := make([]Result, 0, len(ins))
	for _, r := range w.rollouts {
		results = append(results, r.result())
	}
	return results
}

// result is what became of a rollout.
func (r *rollout) result() Result {
	d := r.last
	result := Result{
		Waves: r.waves, Log: r.log, Phase: d.Phase, Reason: d.Reason, Message: d.Message, Stopped: r.stopped(),
		Peak: r.peak, Decisions: r.decisions,
	}
	if result.Stopped == "" {
		result.EndedAt = r.ending
	}
	for _, s := range r.sites {
		result.Clusters = append(result.Clusters, s.course)
	}
	return result
}

// stopped says why it stands still; empty: it has ended.
func (r *rollout) stopped() string {
	d := r.last
	switch {
	case r.broken != "":
		return r.broken
	case r.ended():
		return ""
	case r.away:
		return "the hub does not run"
	case r.spent():
		return "it was decided " + number(r.decisions) + " times, which is the bound"
	case d.Waiting != nil:
		return words(*d.Waiting)
	case len(d.Holds) > 0:
		return d.Holds[0].Path + ": " + words(d.Holds[0].Waiting)
	default:
		return r.leftInFlight()
	}
}

// leftInFlight says which clusters nobody hears of any more.
func (r *rollout) leftInFlight() string {
	var left []string
	for _, c := range r.fleet.Clusters {
		if InFlight(c) {
			left = append(left, c.Path)
		}
	}
	switch len(left) {
	case 0:
		return "nothing says what it waits for"
	case 1:
		return left[0] + " is in flight, and nothing is heard of it"
	default:
		return list(left) + " are in flight, and nothing is heard of them"
	}
}
