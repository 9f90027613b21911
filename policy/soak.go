// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "time"

// soak is how long a wave has been watched after its last success (law 8). The clock depends on what was stored and on
// since when clusters are what they are, not on the instant at which it is looked at.
type soak struct {
	// clock to store.
	clock Clock
	// until is when it is over if nothing happens; zero: it stands, it is over, or there is none.
	until time.Time
	// over: the next wave may begin.
	over bool
	// stopped by this cluster, which is not healthy (sick) or of which that is not known, since then. -1: it runs.
	stopped int
	sick    bool
	since   time.Time
}

// watched is what a soak has to know of the clusters of a wave that succeeded.
type watched struct {
	clusters int
	// last success; undated is a cluster of which it is not known, -1: there is none.
	last    time.Time
	undated int
	// well is since when all are healthy, if they are.
	well time.Time
	// sick and unknown are the first clusters that are not known to be healthy, -1: there is none.
	sick, unknown int
	// broke is since when one of them has not been.
	broke time.Time
}

// soakings are the soaks by wave; nil when no wave has one.
func (b *board) soakings() []soak {
	wanted := false
	for i := range b.Waves {
		wanted = wanted || b.Waves[i].Soak > 0
	}
	if !wanted {
		return nil
	}
	seen := make([]watched, len(b.Waves))
	for i := range seen {
		seen[i] = watched{undated: -1, sick: -1, unknown: -1}
	}
	for i := range b.Clusters {
		c := &b.Clusters[i]
		if c.Phase == Succeeded && c.Wave >= 0 && c.Wave < len(b.Waves) && b.Waves[c.Wave].Soak > 0 {
			seen[c.Wave].watch(i, c)
		}
	}
	soaks := make([]soak, len(b.Waves))
	for i := range b.Waves {
		soaks[i] = b.soakOf(i, &seen[i])
	}
	return soaks
}

func (w *watched) watch(i int, c *Cluster) {
	w.clusters++
	if c.EndedAt.IsZero() && w.undated < 0 {
		w.undated = i
	}
	w.last = latest(w.last, c.EndedAt)
	switch c.Health {
	case Healthy:
		w.well = latest(w.well, c.HealthSince)
		return
	case Unhealthy:
		if w.sick < 0 {
			w.sick = i
		}
	case HealthUnknown:
		if w.unknown < 0 {
			w.unknown = i
		}
	default: // no health that is known
		if w.unknown < 0 {
			w.unknown = i
		}
	}
	if w.broke.IsZero() || c.HealthSince.Before(w.broke) {
		w.broke = c.HealthSince
	}
}

// soakOf is the soak of one wave, as if the wave were complete. One that was over when a later wave began stays over.
func (b *board) soakOf(wave int, seen *watched) soak {
	w := &b.Waves[wave]
	s := soak{clock: w.Soaked, stopped: -1}
	if w.Soak <= 0 || wave == b.catchUp || w.Promoted || wave < b.begun || b.seen[wave] == 0 {
		s.over = true
		return s
	}
	begins := latest(seen.last, seen.well)
	if b.anew(s.clock, seen.last, begins) {
		s.clock = Clock{Since: begins}
	}
	switch {
	case seen.clusters == 0 || seen.undated >= 0:
		s.clock, s.stopped = Clock{Elapsed: w.Soaked.Elapsed}, seen.undated
	case seen.sick >= 0 || seen.unknown >= 0:
		b.edge(seen.broke)
		s.interrupt(b.now, w.Soak, seen)
	default:
		s.run(b.now, w.Soak, begins, seen.last)
		b.edge(s.until)
	}
	return s
}

// anew: another success, or health that was not seen all the time, begins a soak anew. One that stands has counted more
// than there was time since the last success.
func (b *board) anew(clock Clock, last, begins time.Time) bool {
	switch {
	case !clock.Since.IsZero():
		return begins.After(clock.Since)
	case clock.Elapsed == 0:
		return false
	}
	counted := last.Add(clock.Elapsed)
	b.edge(counted)
	return counted.After(b.now)
}

// run lets a soak go on while all are healthy. When it is over it stands at its full length, and what comes after is
// drift.
func (s *soak) run(now time.Time, long time.Duration, begins, last time.Time) {
	if s.clock.Since.IsZero() {
		if s.over = s.clock.Elapsed >= long; s.over {
			return
		}
		s.clock.Since = latest(begins, last.Add(s.clock.Elapsed))
	}
	ends := s.clock.Since.Add(long - s.clock.Elapsed)
	if s.over = !now.Before(ends); s.over {
		s.clock = Clock{Elapsed: long}
		return
	}
	s.until = ends
}

// interrupt stops a soak, and takes all of it back where a cluster is not healthy; unless it was over by then.
func (s *soak) interrupt(now time.Time, long time.Duration, seen *watched) {
	if seen.broke.After(now) { // by another clock: what lies ahead counts for nothing
		s.clock = Clock{Elapsed: s.clock.Elapsed}
	} else {
		s.clock = Clock{Elapsed: s.clock.At(seen.broke)}
	}
	if s.over = s.clock.Elapsed >= long; s.over {
		return
	}
	s.stopped, s.since = seen.unknown, seen.broke
	if s.sick = seen.sick >= 0; s.sick {
		s.clock, s.stopped = Clock{}, seen.sick
	}
}

// soaking keeps the current wave from beginning while one before it is watched (law 8); nil: none is.
func (b *board) soaking() *Waiting {
	for i := range b.soaks {
		if i < b.current && !b.soaks[i].over {
			return b.soakHold(i)
		}
	}
	return nil
}

func (b *board) soakHold(wave int) *Waiting {
	s, name := &b.soaks[wave], b.Waves[wave].Name
	var hold *Waiting
	switch {
	case !s.until.IsZero():
		hold = wait(ReasonSoaking, "wave %s is watched until %s: its clusters must stay healthy for %s", name, stamp(s.until),
			b.Waves[wave].Soak)
		hold.Since, hold.Until = s.clock.Since, s.until
		return hold
	case s.stopped < 0:
		hold = wait(ReasonSoakStopped, "no cluster is left in wave %s that could be watched", name)
		hold.Act = true
		return hold
	case s.sick:
		hold = wait(ReasonSoakStopped, "%s is not healthy: wave %s is watched for %s from when all its clusters are",
			b.Clusters[s.stopped].Path, name, b.Waves[wave].Soak)
	default:
		hold = wait(ReasonSoakStopped, "the health of %s is not known: meanwhile the time for which wave %s is watched does "+
			"not count", b.Clusters[s.stopped].Path, name)
	}
	hold.Since = s.since
	return hold
}

// soakingNow is the standing of a rollout whose next wave waits for the health of the last.
func soakingNow(b *board) *standing {
	hold := b.soaking()
	if hold == nil {
		return nil
	}
	return &standing{PhaseProgressing, hold.Reason, hold.Message}
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
