// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"maps"
	"time"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/window"
)

// site is one cluster of one rollout: its machines in the member, and its controller in the hub.
type site struct {
	*rollout
	*place
	// index of its cluster in the fleet.
	index int
	// asked counts the intents that were written; heard is how many of them its controller had written when it last
	// looked, with what that said.
	asked, heard int
	intent       policy.Intent
	notAfter     time.Time
	// strange: the fleet has no member of that name, so that nobody can reach it.
	strange bool
	// granted: its claim is taken and machines may have begun.
	granted bool
	// touchedAt is when it was granted, or was in touch again; leash is when its permission ends since the hub is out of
	// touch, zero: it is in touch.
	touchedAt, leash time.Time
	// work is what is left; role is the index of its first in the work of the input. total and done count machines.
	work              []policy.Work
	role, total, done int
	// busy are the machines at work. changing: the next machine is of another role, and the hub is asked first.
	busy     *Machines
	changing bool
	// quarantined: a machine used up its attempts, as lastError says.
	quarantined string
	// provenAt is when the second read is due, once all machines are done.
	provenAt time.Time
	// status is what its controller reported last; seen is how old what the hub sees may be at most.
	status policy.Cluster
	seen   int
	told   int

	course Course
	// opening that machines last began in.
	opening window.Span
}

// Times of the parts that are stood for: how long a permission lasts and when it is renewed, and how far apart two
// reads of a cluster are.
const (
	permission = time.Hour
	renewal    = 30 * time.Minute
	secondRead = 10 * time.Second
)

// over: a cluster has ended for good.
func over(p policy.ClusterPhase) bool { return p.Ended() && p != policy.Deferred }

func newSite(r *rollout, index int, p *place) *site {
	c := r.fleet.Clusters[index]
	s := &site{rollout: r, place: p, index: index, intent: c.Intent, notAfter: c.NotAfter, touchedAt: r.now, status: c}
	s.work = append(s.work, c.Work...)
	if len(s.work) == 0 {
		s.work = []policy.Work{{Machines: 1}}
	}
	for _, work := range s.work {
		s.total += work.Machines
	}
	switch c.Phase {
	case policy.Progressing, policy.Holding:
		s.granted, p.holder = true, s
	case policy.Verifying:
		s.granted, p.holder, s.work = true, s, nil
	case policy.Failed:
		s.quarantined = c.LastError
	case policy.Pending, policy.Deferred, policy.Succeeded, policy.Ineligible, policy.Skipped, policy.Removed, "":
	}
	s.shed()
	s.course = Course{ID: c.ID, Path: c.Path, Member: c.Member, Phase: c.Phase}
	if c.Wave >= 0 && c.Wave < len(r.fleet.Waves) {
		s.course.Wave = r.fleet.Waves[c.Wave].Name
	}
	return s
}

// look: its controller looks at what it is asked for and at its member, and reports what it finds. Machines go on
// whether it can look or not.
func (s *site) look() {
	s.finishMachines()
	if s.away {
		s.beginMachines()
		return
	}
	c := s.fleet.Clusters[s.index]
	s.intent, s.notAfter, s.heard = c.Intent, c.NotAfter, s.asked
	status := s.status
	if s.touch(s.member) && !s.strange {
		s.grant()
		s.beginMachines()
		s.judge(&status)
	} else {
		s.beginMachines()
		s.judgeSilent(&status)
	}
	s.report(status)
}

// grant takes the claim and grants machines, when it is asked to and nothing is in the way.
func (s *site) grant() {
	if s.granted || s.gone || s.intent != policy.Run || over(s.status.Phase) || s.hindrance() != nil {
		return
	}
	s.granted, s.touchedAt, s.holder = true, s.now, s
}

// release gives the claim back.
func (s *site) release() {
	s.granted = false
	if s.holder == s {
		s.holder = nil
		for _, r := range s.rollouts {
			if other := r.paths[s.path]; other != nil && other != s {
				s.queue.put(s.now, other.look)
			}
		}
	}
}

// hindrance is why it cannot begin, or go on; nil: it can.
func (s *site) hindrance() *obstacle {
	if s.holder != nil && s.holder != s {
		return &obstacle{
			phase: policy.Pending, reason: policy.ReasonClaimedByOther,
			message: "driven by rollout " + s.holder.in.Name,
		}
	}
	for i := range s.obstacles {
		o := &s.obstacles[i]
		if !o.until.IsZero() && !o.until.After(s.now) || s.granted && o.reason == policy.ReasonDeferredByOwner {
			continue
		}
		return o
	}
	switch s.health {
	case policy.Healthy:
		return nil
	case policy.Unhealthy:
		return &obstacle{phase: policy.Pending, reason: policy.ReasonClusterUnhealthy, message: "it is not healthy"}
	case policy.HealthUnknown:
	}
	return &obstacle{phase: policy.Pending, reason: policy.ReasonHealthUnknown, message: "its health is not known"}
}

// judge fills in what its controller reports while the member answers.
func (s *site) judge(status *policy.Cluster) {
	idle := s.busy == nil
	switch {
	case status.Phase == policy.Failed:
		s.clear(status)
	case over(status.Phase):
		status.Settled = true
	case s.gone:
		s.end(status, policy.Removed, "ClusterRemoved", "the cluster no longer exists")
	case s.quarantined != "":
		s.end(status, policy.Failed, "MachineQuarantined", s.quarantined)
		status.LastError, status.Settled = s.quarantined, false
		s.clear(status)
	case s.intent == policy.Withdraw && idle:
		s.end(status, policy.Skipped, "Withdrawn", "it was taken back")
	case s.intent == policy.Withdraw:
		is(status, policy.Holding, "Withdrawing", "the machine at work is left to finish")
	case s.granted && s.wantsBack() && idle:
		s.release()
		s.judge(status)
	case !s.granted:
		s.judgeIdle(status)
	default:
		s.judgeWorking(status)
	}
}

func (s *site) wantsBack() bool { return s.intent == policy.Wait || s.intent == "" }

// clear takes back what is left on one that failed, when that is asked for.
func (s *site) clear(status *policy.Cluster) {
	if s.intent == policy.Withdraw && s.busy == nil && !status.Settled {
		status.Settled = true
		s.release()
	}
}

// judgeIdle is for one to which nothing is granted.
func (s *site) judgeIdle(status *policy.Cluster) {
	if o := s.hindrance(); o != nil {
		is(status, o.phase, o.reason, o.message)
		status.Until = o.until
		return
	}
	is(status, policy.Pending, "", "")
}

// judgeWorking is for one that has begun.
func (s *site) judgeWorking(status *policy.Cluster) {
	if len(s.work) == 0 {
		s.prove(status)
		return
	}
	o := s.hindrance()
	switch {
	case o != nil:
		is(status, policy.Holding, o.reason, o.message)
	case s.intent == policy.Hold:
		is(status, policy.Holding, "OnHold", "no further machine begins")
	case s.wantsBack():
		is(status, policy.Holding, "Withdrawing", "the machine at work is left to finish")
	case s.busy == nil && s.late():
		is(status, policy.Holding, "IntentEnded", "its permission ended at "+stamp(s.notAfter))
	default:
		is(status, policy.Progressing, "Upgrading", "")
	}
}

// prove reads a cluster of which every machine is done a second time; what is not healthy is not proven (law 3).
func (s *site) prove(status *policy.Cluster) {
	switch {
	case s.health != policy.Healthy:
		s.provenAt = time.Time{}
		is(status, policy.Progressing, "OwnerUnhealthy", "every machine carries the target, and it is not healthy")
	case s.provenAt.IsZero():
		s.provenAt = s.now.Add(secondRead)
		s.queue.put(s.provenAt, s.look)
		is(status, policy.Verifying, "SecondRead", "it is read once more")
	case s.now.Before(s.provenAt):
		is(status, policy.Verifying, "SecondRead", "it is read once more")
	default:
		s.end(status, policy.Succeeded, "Proven", "")
		status.Versions = maps.Clone(s.versions)
	}
}

// judgeSilent is for one whose member does not answer: what was granted stays as it was last seen (law 14).
func (s *site) judgeSilent(status *policy.Cluster) {
	if s.granted || over(status.Phase) {
		return
	}
	message := "management cluster " + s.member + " does not answer"
	switch {
	case s.intent == policy.Withdraw:
		s.end(status, policy.Skipped, "Withdrawn", "it was taken back")
	case s.in.FailBeforeStart && s.intent == policy.Run:
		s.end(status, policy.Failed, policy.ReasonMemberUnreachable, message)
		status.LastError = message
	case s.in.FailBeforeStart, s.in.WaitBeforeStart:
		is(status, policy.Pending, policy.ReasonMemberUnreachable, message)
	default:
		is(status, policy.Deferred, policy.ReasonUnreachable, message)
	}
}

// is sets phase and reason, and since when that is so.
func is(status *policy.Cluster, phase policy.ClusterPhase, reason, message string) {
	status.Phase, status.Reason, status.Message, status.Until = phase, reason, message, time.Time{}
}

// end is a last phase.
func (s *site) end(status *policy.Cluster, phase policy.ClusterPhase, reason, message string) {
	is(status, phase, reason, message)
	status.EndedAt, status.Settled = s.now, true
	s.course.Ended = s.now
	if phase == policy.Removed {
		s.busy, s.work = nil, nil
	}
	if phase != policy.Failed {
		s.release()
	}
}

// report says what changed, to the hub within the lag.
func (s *site) report(status policy.Cluster) {
	was := s.status
	status.Work, status.Health, status.HealthSince = s.work, s.health, s.healthSince
	if status.Phase != was.Phase || status.Reason != was.Reason {
		status.Since = s.now
		s.moved, s.idle = s.now, 0
		s.tellCluster(status)
	}
	s.status = status
	s.course.Phase, s.course.Reason, s.course.Message = status.Phase, status.Reason, status.Message
	s.told++
	told, heard := s.told, s.heard
	confirmed := s.wantsBack() && !s.granted
	s.soon(func() { s.see(status, told, heard, confirmed) })
}

// see lets the hub see a status, unless it saw a newer one, or does not run.
func (s *site) see(status policy.Cluster, told, heard int, confirmed bool) {
	if told <= s.seen || s.away {
		return
	}
	s.seen = told
	c := &s.fleet.Clusters[s.index]
	was := *c
	c.Phase, c.Reason, c.Message, c.Since = status.Phase, status.Reason, status.Message, status.Since
	c.Until = status.Until
	c.LastError, c.Versions, c.EndedAt, c.Settled = status.LastError, status.Versions, status.EndedAt, status.Settled
	c.Work, c.Health, c.HealthSince = status.Work, status.Health, status.HealthSince
	c.LastProgressAt = status.LastProgressAt
	if confirmed && heard == s.asked {
		c.Returning = false
	}
	if differs(was, *c) {
		s.dirty = true
	}
}

// differs: two states of a cluster may be decided on differently.
func differs(a, b policy.Cluster) bool {
	return a.Phase != b.Phase || a.Reason != b.Reason || a.Message != b.Message || !a.Until.Equal(b.Until) || a.Settled != b.Settled ||
		a.Returning != b.Returning || a.Health != b.Health || each(a) != each(b) || len(a.Work) != len(b.Work)
}

// each is how long its next machine takes.
func each(c policy.Cluster) time.Duration {
	if len(c.Work) == 0 {
		return 0
	}
	return c.Work[0].Each
}
