// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"slices"
	"time"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/window"
)

// beginMachines lets the next machines begin, when they may.
func (s *site) beginMachines() {
	if !s.mayBegin() {
		return
	}
	now := s.now
	next := s.work[0]
	takes := next.Each
	if s.takes > 0 {
		takes = s.takes
	}
	s.busy = &Machines{
		At: now, Until: now.Add(takes), ID: s.course.ID, Work: s.role, Count: min(max(1, next.AtOnce), next.Machines),
		Claimed: s.holder == s, Heard: s.heardAt(),
	}
	s.rollout.began = append(s.rollout.began, *s.busy)
	s.moved, s.idle = now, 0
	if s.course.Began.IsZero() {
		s.course.Began = now
	}
	s.countOpening()
	s.tellMachines()
	s.queue.put(s.busy.Until, s.look)
}

// mayBegin: machines are left, none is at work, and nothing forbids the next.
func (s *site) mayBegin() bool {
	if !s.granted || s.gone || s.busy != nil || s.changing || len(s.work) == 0 || s.quarantined != "" || s.intent != policy.Run {
		return false
	}
	return !s.late() && s.hindrance() == nil
}

// late: the permission to begin machines has ended.
func (s *site) late() bool {
	now := s.now
	return !s.notAfter.IsZero() && now.After(s.notAfter) || !s.leash.IsZero() && now.After(s.leash)
}

// heardAt is when the hub could last tell it something.
func (s *site) heardAt() time.Time {
	if s.leash.IsZero() {
		return s.now
	}
	return s.leash.Add(-permission)
}

// lose: the hub is out of touch from now on; the permission ends an hour after it was last renewed.
func (s *site) lose() {
	if !s.leash.IsZero() {
		return
	}
	since := s.now.Sub(s.touchedAt)
	s.leash = s.touchedAt.Add(since - since%renewal + permission)
}

// regain: the hub is in touch again.
func (s *site) regain() {
	if s.touch(s.member) && !s.strange && !s.leash.IsZero() {
		s.leash, s.touchedAt = time.Time{}, s.now
	}
}

// finishMachines takes note of machines that have ended.
func (s *site) finishMachines() {
	if s.busy == nil || s.busy.Until.After(s.now) {
		return
	}
	ended := *s.busy
	s.busy = nil
	s.moved, s.idle = s.now, 0
	s.worked(ended)
	if s.failing {
		s.failing = false
		s.quarantined = "machine " + s.name() + "-" + number(s.done+1) + ": refresh refused by snapd"
		return
	}
	s.done += ended.Count
	s.status.LastProgressAt = ended.Until
	s.work = slices.Clone(s.work)
	s.work[0].Machines -= ended.Count
	role := s.role
	s.shed()
	if s.role != role {
		// What the next machine takes is another time: the hub says first until when it may begin.
		s.changing = true
		s.after = append(s.after, s.change)
	}
}

// change goes on with the next role, after the hub has had a look.
func (s *site) change() {
	s.changing = false
	s.look()
}

// shed drops work of which no machine is left.
func (s *site) shed() {
	for len(s.work) > 0 && s.work[0].Machines <= 0 {
		s.work = s.work[1:]
		s.role++
	}
}

// worked keeps when machines were at work.
func (s *site) worked(m Machines) {
	spans := &s.course.Spans
	if last := len(*spans) - 1; last >= 0 && (*spans)[last].End.Equal(m.At) {
		(*spans)[last].End = m.Until
		return
	}
	*spans = append(*spans, window.Span{Start: m.At, End: m.Until})
}

// countOpening counts the openings that machines began in.
func (s *site) countOpening() {
	set := s.set(s.fleet.Clusters[s.index])
	_, opening, open := set.Fits(s.now, 0)
	if set.Always() || !open || opening == s.opening {
		return
	}
	s.opening = opening
	if s.course.Windows++; s.course.Windows == 1 {
		s.course.Window = opening
	}
}
