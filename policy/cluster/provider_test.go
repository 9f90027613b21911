// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/cluster"
)

// fate is how a change ends.
type fate string

const (
	well    fate = "well"
	badly   fate = "badly"
	never   fate = "never"   // snapd does not know it, or nothing ever ends it
	nothing fate = "nothing" // there is no update: an empty change id
	refused fate = "refused" // k8sd answers with an error: no change, no mark, no event
	unread  fate = "unread"  // done, and the node still runs what it ran
)

// refresh is a change on a node.
type refresh struct {
	id   string
	ends time.Time
	fate fate
	// late is when its id is written at the latest: a call to k8sd has its timeout.
	late time.Time
}

// node is a machine under the provider's single-machine controller, which acts in steps between which others may write.
type node struct {
	m       *cluster.Machine
	posts   int
	running *refresh
	// answer is a change that was sent and whose id is not written yet.
	answer *refresh
}

// provided is a member whose provider answers machines, and a hub that grants them one by one.
type provided struct {
	o     cluster.Observation
	now   time.Time
	nodes map[string]*node
	// fates of the next changes of a machine; the last stays. Default: well.
	fates map[string][]fate
	// takes is how long a change runs.
	takes  time.Duration
	ids    int
	grants map[string]int
	log    strings.Builder
	last   string
	// crash: what was decided is stored and not carried out.
	crash func() bool
}

// granting is a healthy cluster of three control plane machines and a pool of two, nothing written.
func granting() *provided {
	w := &provided{
		now: noon, takes: 20 * time.Second, nodes: map[string]*node{}, fates: map[string][]fate{}, grants: map[string]int{},
		crash: func() bool { return false },
		o: cluster.Observation{
			Intent: policy.Run, Reachable: true, Access: true, Present: true, Health: cluster.Verdict{Status: cluster.True},
			PerMachine: true, ProviderPresent: true,
			Limits: cluster.Limits{MaxConcurrentMachines: 1, MaxAttempts: 3, Timeout: 30 * time.Minute, Backoff: time.Minute},
			Owners: []cluster.Owner{
				owner(cluster.Workers, "MachineDeployment", "pool", 2),
				owner(cluster.ControlPlane, "CK8sControlPlane", "cp", 3),
			},
		},
	}
	for i := range w.o.Owners {
		o := &w.o.Owners[i]
		w.o.Standing = append(w.o.Standing, cluster.Standing{ID: o.ID()})
		for k := range o.Machines {
			o.Machines[k].Health = cluster.Verdict{Status: cluster.True}
			w.nodes[o.Machines[k].Name] = &node{m: &o.Machines[k]}
		}
	}
	return w
}

func (w *provided) machine(name string) *cluster.Machine { return w.nodes[name].m }

// look asks once, stores what a caller stores, and carries the step out unless the hub dies in between.
func (w *provided) look(t fataler) cluster.Step {
	t.Helper()
	w.observe()
	step := cluster.Next(w.o, w.now)
	w.judge(t, step)
	w.o.Phase, w.o.Reason, w.o.Message, w.o.LastError = step.Phase, step.Reason, step.Message, step.LastError
	w.o.Settled = step.Settled
	if step.Starts && w.o.StartedAt.IsZero() {
		w.o.StartedAt = w.now
	}
	if !step.AllProven {
		w.o.ProvenSince = time.Time{}
	} else if w.o.ProvenSince.IsZero() {
		w.o.ProvenSince = w.now
	}
	for name, n := range w.nodes {
		n.m.Record = step.Records[name]
	}
	for i := range w.o.Owners {
		w.o.Owners[i].Stale = w.o.Owners[i].Stale && w.o.Owners[i].ID() != step.Cleared
	}
	w.show(step)
	if !w.crash() {
		w.act(step)
	}
	return step
}

// settle looks until nothing is to be done now.
func (w *provided) settle(t fataler) cluster.Step {
	t.Helper()
	for range 40 {
		step := w.look(t)
		if step.Action == cluster.None && (step.Recheck.IsZero() || step.Recheck.After(w.now)) {
			return step
		}
	}
	t.Fatalf("does not settle\n%s", w.log.String())
	return cluster.Step{}
}

// observe tells what a look sees: proofs, leftovers, standings.
func (w *provided) observe() {
	for i := range w.o.Owners {
		o := &w.o.Owners[i]
		for k := range o.Machines {
			m := &o.Machines[k]
			m.Proven = cluster.Verdict{Status: cluster.False, Message: m.Name + " is at " + m.Release + ", " + m.Kubelet}
			if m.Release == o.Target && m.Kubelet == latest {
				m.Proven = m.Health
			}
			if o.Stale {
				m.Proven = cluster.Verdict{Status: cluster.False, Message: m.Name + " may be of before"}
			}
			m.Leftovers = m.Ours
		}
		s := &w.o.Standing[i]
		s.Armed, s.Returnable = false, s.Previous != ""
		for _, m := range o.Machines {
			s.Armed = s.Armed || s.Release != "" && m.Release != s.Release
			s.Returnable = s.Returnable && m.Proven.Good() && m.Release == s.Previous
		}
	}
}

func (w *provided) show(step cluster.Step) {
	text := step.String()
	if step.Action == cluster.None {
		text += "\n         " + step.Message
	}
	if text != w.last {
		w.last = text
		fmt.Fprintf(&w.log, "%s  %s\n", w.now.Format("04:05"), text)
	}
}

func (w *provided) act(step cluster.Step) {
	switch step.Action {
	case cluster.TakeClaim:
		w.o.Claim = cluster.Claim{State: cluster.ClaimOurs, Since: w.now}
	case cluster.ReleaseClaim:
		w.o.Claim = cluster.Claim{}
	case cluster.RetireOwner, cluster.ReturnRelease:
		for i := range w.o.Standing {
			s := &w.o.Standing[i]
			switch {
			case s.ID != step.Owner:
			case step.Action == cluster.ReturnRelease:
				s.Release = s.Previous
			default:
				if s.Release != "" {
					s.Previous = s.Release
				}
				s.HasTo, s.Status, s.Release = false, "", ""
			}
		}
	case cluster.Settle:
		for _, name := range step.Leftovers {
			m := w.machine(name)
			m.Ours = false
			if m.Marks.Status != "done" || m.Marks.HasTo || m.Marks.HasChangeID {
				m.Marks = cluster.Marks{}
			}
		}
	default:
		w.actOn(step)
	}
}

// clear takes the release off an owner's machines.
func (w *provided) clear(id string) {
	for i := range w.o.Owners {
		for k := range w.o.Owners[i].Machines {
			if w.o.Owners[i].ID() == id {
				w.o.Owners[i].Machines[k].Release = ""
			}
		}
	}
}

func (w *provided) actOn(step cluster.Step) {
	if step.Action == cluster.ClearReleases {
		w.clear(step.Owner)
	}
	if step.Machine == "" {
		return
	}
	m := w.machine(step.Machine)
	switch step.Action {
	case cluster.GrantMachine:
		w.grants[m.Name]++
		m.Ours, m.Marks = true, cluster.Marks{To: text, HasTo: true}
	case cluster.FollowMachine:
		w.grants[m.Name]++
		m.Ours, m.Marks.To, m.Marks.HasTo, m.Marks.LastFailed = true, text, true, ""
	case cluster.RevokeMachine:
		m.Marks.To, m.Marks.HasTo = "", false
	case cluster.ClearMachine:
		m.Marks = cluster.Marks{LastFailed: m.Marks.LastFailed}
	case cluster.RecordRelease:
		m.Marks, m.Release = cluster.Marks{Status: "done"}, text
	}
}

// pass lets the clock run to an instant or by a span, ending changes on the way.
func (w *provided) pass(span time.Duration) {
	w.now = w.now.Add(span)
	for name, n := range w.nodes {
		if n.answer != nil && !w.now.Before(n.answer.late) {
			w.provide(name)
		}
		if c := n.running; c != nil && c.fate != never && !w.now.Before(c.ends) && c.fate == well {
			n.m.Kubelet = latest
		}
	}
}

// provide is one step of the provider's controller on a machine (PROTOCOL.md 2.2): false when there is nothing to do.
func (w *provided) provide(name string) bool {
	n := w.nodes[name]
	marks := &n.m.Marks
	switch {
	case n.answer != nil:
		marks.Status, marks.ChangeID, marks.HasChangeID = "in-progress", n.answer.id, true
		n.answer = nil
	case !marks.HasTo:
		return false
	case !marks.HasChangeID:
		marks.Status, n.m.Release = "", ""
		n.posts++
		n.answer = w.send(n)
		return n.answer != nil
	default:
		return w.goOn(n, marks)
	}
	return true
}

func (w *provided) send(n *node) *refresh {
	c := &refresh{fate: well, ends: w.now.Add(w.takes), late: w.now.Add(50 * time.Second)}
	if fates := w.fates[n.m.Name]; len(fates) > 0 {
		c.fate = fates[0]
		w.fates[n.m.Name] = fates[min(1, len(fates)-1):]
	}
	if c.fate == refused {
		return nil
	}
	if c.fate != nothing {
		w.ids++
		c.id = fmt.Sprint(w.ids)
	}
	n.running = c
	return c
}

func (w *provided) goOn(n *node, marks *cluster.Marks) bool {
	switch marks.Status {
	case "in-progress":
		c := n.running
		switch {
		case c == nil || c.id != marks.ChangeID || c.id == "" || c.fate == never || w.now.Before(c.ends):
			return false
		case c.fate == badly:
			marks.Status, marks.LastFailed = "failed", w.now.Format(time.RFC1123Z)
			n.m.Said = "Failed to perform in place upgrade: hook failed"
		default:
			marks.Status = "done"
		}
	case "done":
		n.m.Release = marks.To
		*marks = cluster.Marks{Status: "done"}
	case "failed":
		marks.Status, marks.ChangeID, marks.HasChangeID = "", "", false
	default:
		marks.Status, marks.LastFailed = "failed", w.now.Format(time.RFC1123Z)
	}
	return true
}

// judge checks a step against the world before it is carried out.
func (w *provided) judge(t fataler, step cluster.Step) {
	t.Helper()
	wrong := func(what string) {
		t.Helper()
		t.Fatalf("%s: %v\nobserved: %+v\n%s", what, step, w.o, w.log.String())
	}
	revokes := step.Action == cluster.RevokeMachine || step.Action == cluster.ClearMachine ||
		step.Action == cluster.TakeClaim || step.Action == cluster.ReleaseClaim || step.Action == cluster.Settle
	switch {
	case step.Action == cluster.None:
	case !w.o.Reachable || !w.o.Access || !w.o.Present || w.o.Claim.State == cluster.ClaimOther:
		wrong("written to what is not to be written to")
	case step.Action != cluster.TakeClaim && w.o.Claim.State != cluster.ClaimOurs:
		wrong("written without a claim")
	case step.Action == cluster.SetPermission || step.Action == cluster.GrantOwner:
		wrong("an engine's permission, and there is none")
	case w.o.Paused && !revokes && step.Action != cluster.RetireOwner:
		wrong("written to a paused cluster")
	}
	if step.Action == cluster.GrantMachine {
		w.judgeGrant(wrong, step)
	}
	if step.Phase == policy.Succeeded && w.o.Phase != policy.Succeeded {
		for name, n := range w.nodes {
			if n.m.Release != text || n.m.Kubelet != latest {
				wrong("a success that is none: " + name)
			}
		}
	}
}

func (w *provided) judgeGrant(wrong func(string), step cluster.Step) {
	busy, workers := 0, strings.HasPrefix(step.Machine, "pool")
	for i := range w.o.Owners {
		for _, m := range w.o.Owners[i].Machines {
			if m.Name != step.Machine && (m.Marks.HasTo || m.Marks.HasChangeID && m.Marks.Status == "in-progress" || m.Deleting) {
				busy++
			}
			if workers && w.o.Owners[i].Role == cluster.ControlPlane && m.Release != text {
				wrong("workers before the control plane")
			}
			if m.Name != step.Machine && !m.Health.Good() && m.Record.At.IsZero() {
				wrong("begun beside an unhealthy machine")
			}
		}
	}
	limit := 1
	if workers {
		limit = w.o.Limits.MaxConcurrentMachines
	}
	for _, s := range w.o.Standing {
		if s.HasTo || s.Release != "" {
			wrong("begun while the provider's orchestrator has orders")
		}
	}
	switch {
	case busy >= limit:
		wrong("too many at once")
	case w.o.Intent != policy.Run || !w.o.NotAfter.IsZero() && !w.now.Before(w.o.NotAfter):
		wrong("begun without an intent")
	case w.machine(step.Machine).Marks.HasTo || w.machine(step.Machine).Marks.Status == "in-progress" &&
		w.machine(step.Machine).Marks.HasChangeID:
		wrong("granted while in flight")
	}
}
