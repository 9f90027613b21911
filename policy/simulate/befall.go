// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"slices"
	"strings"

	"github.com/windlass-dev/windlass/policy"
)

// kind is what an event of one kind does, and how it is told.
type kind struct {
	text string
	do   func(*world, Event)
}

// kinds of events.
func kinds() map[EventKind]kind {
	return map[EventKind]kind{
		MachineFails:     {"a machine of {cluster} is going to fail", onPlace(func(p *place, _ Event) { p.failing = true })},
		ClusterSlow:      {"machines of {cluster} take {takes} from now on", onPlace(func(p *place, e Event) { p.takes = e.Takes })},
		ClusterSick:      {"{cluster} is not healthy", fares(policy.Unhealthy)},
		ClusterUnseen:    {"the health of {cluster} is not known", fares(policy.HealthUnknown)},
		ClusterWell:      {"{cluster} is healthy again", fares(policy.Healthy)},
		ClusterPaused:    {"the Cluster {cluster} is paused", hinders(policy.ReasonClusterPaused, "the Cluster is paused")},
		ClusterResumed:   {"the Cluster {cluster} is no longer paused", frees(policy.ReasonClusterPaused)},
		ClusterClaimed:   {"another hub drives {cluster}", hinders(policy.ReasonClaimedByOther, "driven by another hub")},
		ClusterFreed:     {"the other hub is done with {cluster}", frees(policy.ReasonClaimedByOther)},
		OwnerDefers:      {"the owner of {cluster} puts it off until {until}", (*world).defers},
		ClusterJoins:     {"{join} is selected, and was not planned", (*world).joins},
		ClusterLeaves:    {"{cluster} is deleted", onPlace(func(p *place, _ Event) { p.gone = true })},
		LabelFlaps:       {"{cluster} loses its label and gets it back", func(*world, Event) {}},
		MemberSilent:     {"{member} falls silent", (*world).falls},
		MemberBack:       {"{member} answers again", (*world).returns},
		HubDown:          {"the hub stops", (*world).stops},
		HubBack:          {"the hub runs again", func(w *world, _ Event) { w.away = false }},
		Frozen:           {"freeze {name} by {by} of {whom}, from {from} until {until}", (*world).freezes},
		Thawed:           {"freeze {name} is removed", (*world).thaws},
		Approved:         {"{by} approves wave {wave}{expiry}", says(false)},
		Rejected:         {"{by} rejects wave {wave}", says(true)},
		Promoted:         {"{by} ends the soak of wave {wave}", (*world).promotes},
		PolicyPaused:     {"the policy is paused", onFleets(func(f *policy.Fleet, _ Event) { f.Paused = true })},
		PolicyResumed:    {"the policy is no longer paused", onFleets(func(f *policy.Fleet, _ Event) { f.Paused = false })},
		PolicyEdited:     {"the policy is edited: its digest is {name} now", onFleets(func(f *policy.Fleet, e Event) { f.Digest = e.Name })},
		TargetMoves:      {"the channel holds {version} now", (*world).moves},
		RolloutCancelled: {"the rollout is cancelled", onFleets(func(f *policy.Fleet, _ Event) { f.Cancelled = true })},
		TargetChanges:    {"a newer target takes over", onFleets(func(f *policy.Fleet, _ Event) { f.Superseded = true })},
	}
}

// befall lets one event of the script happen, and everybody whom it concerns look.
func (w *world) befall(e Event) {
	k, known := kinds()[e.Kind]
	if !known {
		k = kind{"nothing happens, since there is no " + string(e.Kind), func(*world, Event) {}}
	}
	for _, r := range w.rollouts {
		r.say(Happening, "", "%s", e.told(k.text))
	}
	k.do(w, e)
	for _, r := range w.rollouts {
		r.dirty = true
		for _, s := range r.sites {
			if e.concerns(s) {
				s.regain()
				s.look()
			}
		}
	}
}

// told is an event for people.
func (e Event) told(text string) string {
	whom, from, expiry, join := e.Cluster, stamp(e.From), "", ""
	if whom == "" {
		whom = "every cluster"
	}
	if e.From.IsZero() {
		from = "now"
	}
	if !e.Until.IsZero() {
		expiry = ", until " + stamp(e.Until)
	}
	if e.Join != nil {
		join = e.Join.Path
	}
	if e.Text != "" {
		text += ": " + e.Text
	}
	return strings.NewReplacer(
		"{cluster}", e.Cluster, "{member}", e.Member, "{wave}", e.Wave, "{name}", e.Name, "{by}", e.By, "{whom}", whom,
		"{from}", from, "{until}", stamp(e.Until), "{expiry}", expiry, "{takes}", short(e.Takes), "{version}", e.Version,
		"{join}", join,
	).Replace(text)
}

// concerns: a site has to look after the event.
func (e Event) concerns(s *site) bool {
	switch {
	case e.Kind == HubDown, e.Kind == HubBack:
		return true
	case e.Member != "":
		return s.member == e.Member
	default:
		return e.Cluster != "" && s.named(e.Cluster)
	}
}

// named: a site is the one that an event names.
func (s *site) named(name string) bool { return s.path == name || s.course.ID == name }

// onFleets does something to the fleet of every rollout.
func onFleets(do func(*policy.Fleet, Event)) func(*world, Event) {
	return func(w *world, e Event) {
		for _, r := range w.rollouts {
			do(&r.fleet, e)
		}
	}
}

// onPlace does something to the cluster that the event names.
func onPlace(do func(*place, Event)) func(*world, Event) {
	return func(w *world, e Event) {
		for _, r := range w.rollouts {
			for _, s := range r.sites {
				if s.named(e.Cluster) {
					do(s.place, e)
					return
				}
			}
		}
	}
}

// fares sets the health of a cluster.
func fares(health policy.Health) func(*world, Event) {
	return func(w *world, e Event) {
		onPlace(func(p *place, _ Event) {
			if p.health != health {
				p.health, p.healthSince = health, w.now
			}
		})(w, e)
	}
}

// hinders puts something in the way of a cluster.
func hinders(reason, message string) func(*world, Event) {
	return onPlace(func(p *place, e Event) {
		o := obstacle{phase: policy.Deferred, reason: reason, message: message, until: e.Until}
		if reason == policy.ReasonClaimedByOther {
			o.phase = policy.Pending
		}
		if e.Text != "" {
			o.message += ": " + e.Text
		}
		p.hinder(o)
	})
}

func frees(reason string) func(*world, Event) {
	return onPlace(func(p *place, _ Event) { p.free(reason) })
}

// defers lets the owner put a cluster off, and its controllers look again when that is over.
func (w *world) defers(e Event) {
	hinders(policy.ReasonDeferredByOwner, "its owner put it off until "+stamp(e.Until))(w, e)
	for _, r := range w.rollouts {
		for _, s := range r.sites {
			if s.named(e.Cluster) && !e.Until.IsZero() {
				w.queue.put(e.Until, s.look)
			}
		}
	}
}

// joins adds a cluster to catch-up of the rollouts that have one.
func (w *world) joins(e Event) {
	for _, r := range w.rollouts {
		wave := slices.IndexFunc(r.fleet.Waves, func(wave policy.Wave) bool { return wave.CatchUp })
		if wave < 0 || e.Join == nil {
			continue
		}
		c := *e.Join
		c.Wave = wave
		r.fleet.Clusters = append(r.fleet.Clusters, c)
		r.settle(len(r.fleet.Clusters) - 1)
	}
}

// falls lets a member fall silent.
func (w *world) falls(e Event) {
	w.silent[e.Member] = true
	w.lose(func(s *site) bool { return s.member == e.Member })
	onFleets(func(f *policy.Fleet, _ Event) {
		if m, known := f.Members[e.Member]; known && m.Ready {
			m.Ready, m.Since, m.Reason, m.Message = false, w.now, "Unreachable", "it does not answer"
			f.Members[e.Member] = m
		}
	})(w, e)
}

func (w *world) returns(e Event) {
	w.silent[e.Member] = false
	onFleets(func(f *policy.Fleet, _ Event) {
		if m, known := f.Members[e.Member]; known && !m.Ready {
			m.Ready, m.Since, m.Reason, m.Message = true, w.now, "", ""
			f.Members[e.Member] = m
		}
	})(w, e)
}

// stops lets the hub stop: nothing is decided or told until it is back.
func (w *world) stops(Event) {
	w.away = true
	w.lose(func(*site) bool { return true })
}

// lose starts the end of the permissions of sites that are out of touch.
func (w *world) lose(of func(*site) bool) {
	for _, r := range w.rollouts {
		for _, s := range r.sites {
			if of(s) {
				s.lose()
			}
		}
	}
}

func (w *world) freezes(e Event) {
	freeze := policy.Freeze{
		Name: e.Name, Reason: e.Text, By: e.By, From: e.From, Until: e.Until, Created: w.now,
		NewClustersOnly: e.NewClustersOnly, All: e.Cluster == "",
	}
	for _, r := range w.rollouts {
		freeze.Clusters = map[string]bool{}
		for _, s := range r.sites {
			if !freeze.All && s.named(e.Cluster) {
				freeze.Clusters[s.course.ID] = true
			}
		}
		r.fleet.Freezes = append(slices.Clip(r.fleet.Freezes), freeze)
	}
}

func (w *world) thaws(e Event) {
	onFleets(func(f *policy.Fleet, _ Event) {
		f.Freezes = slices.DeleteFunc(slices.Clone(f.Freezes), func(z policy.Freeze) bool { return z.Name == e.Name })
	})(w, e)
}

// says records one person's word, for the plan and the settings as they stand.
func says(rejected bool) func(*world, Event) {
	return func(w *world, e Event) {
		for _, r := range w.rollouts {
			r.fleet.Approvals = append(slices.Clip(r.fleet.Approvals), policy.Approval{
				Name: e.Name, By: e.By, Wave: e.Wave, Digest: r.fleet.Digest, Rejected: rejected, Reason: e.Text, At: w.now,
				ExpiresAt: e.Until, Verified: true,
			})
		}
	}
}

func (w *world) promotes(e Event) {
	onFleets(func(f *policy.Fleet, _ Event) {
		for i := range f.Waves {
			f.Waves[i].Promoted = f.Waves[i].Promoted || f.Waves[i].Name == e.Wave
		}
	})(w, e)
}

// moves lets clusters end on another version from now on.
func (w *world) moves(e Event) {
	architecture := e.Architecture
	if architecture == "" {
		architecture = "amd64"
	}
	for _, r := range w.rollouts {
		r.versions[architecture] = e.Version
	}
}
