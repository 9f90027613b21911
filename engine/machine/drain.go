// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/k8sd"
	"github.com/windlass-dev/windlass/engine/member"
	"github.com/windlass-dev/windlass/engine/protocol"
)

const (
	// lookEvery is how often a node that is drained is looked at.
	lookEvery = 5 * time.Second
	// notFreed begins what is told of a cordon that cannot be taken back.
	notFreed = "uncordon: "
)

// errCannotDrain: a machine is not refreshed on a node that was to be drained and was not.
var errCannotDrain = errors.New("annotation " + protocol.PlanKey + ": drain: this engine cannot drain nodes")

// Drainer empties nodes. Each call is one short look; by is the UID of the machine, which the Node then carries.
type Drainer interface {
	// Drain cordons the node, unless somebody else has, asks once for the eviction of what must go and returns what is
	// left. It never forces a pod out.
	Drain(ctx context.Context, node k8sd.Node, by string) ([]Left, error)
	// Uncordon takes back a cordon that the Node says is of by, and no other. A node that is gone is well.
	Uncordon(ctx context.Context, node k8sd.Node, by string) error
}

// Left is a pod that a node still has.
type Left struct {
	// Pod is namespace/name. Empty: Why names several.
	Pod string
	// Why it stays. Empty: it is going.
	Why string
}

// Draining is what concerns the drain of a machine's node.
type Draining struct {
	// Can: nodes can be drained here.
	Can bool
	// By is what the Node will carry: the machine's UID.
	By string
	// Record on the machine; nil: its node is not cordoned by us.
	Record *protocol.NodeDrain
	// Healthy: the machine and its node are.
	Healthy bool
	// NextLook is the earliest instant at which the node is drained or uncordoned again.
	NextLook time.Time
	// Drained and Freed are what came of draining, or uncordoning, in this look; nil: not tried yet.
	Drained *Drained
	Freed   *Freed
}

// Drained is what came of draining.
type Drained struct {
	Left []Left
	Err  error
}

// Freed is what came of uncordoning.
type Freed struct{ Err error }

// drain empties the node before a refresh; false: it is empty, or need not be.
func (o Observation) drain(now time.Time, a protocol.Attempt) (Step, bool) {
	wanted, d := o.plan().Drain, o.Drain.Record
	switch {
	case wanted == nil:
		return Step{}, false
	case d != nil && d.Node != o.NodeName:
		return o.uncordon(wait(DrainGoesOn), now), true // another node than the one that was cordoned
	case d == nil || d.Since.IsZero():
		return o.beginDrain(now, a), true
	case o.Drain.Drained == nil && now.Before(o.Drain.NextLook):
		return waitUntil(DrainGoesOn, o.Drain.NextLook), true
	case o.Drain.Drained == nil:
		return Step{Action: Drain}, true
	case o.Drain.Drained.empty():
		return Step{}, false
	}
	limit := time.Duration(wanted.Timeout)
	if !now.Before(d.Since.Add(limit)) {
		return o.failDrain(now, a, limit), true
	}
	next := *d
	next.Blocked = o.Drain.Drained.blocked(d.Blocked)
	if next.Format() != d.Format() { // which bounds the text
		return write(member.Patch{protocol.DrainKey: next.Format()}), true
	}
	return waitUntil(DrainGoesOn, earlier(o.Drain.NextLook, d.Since.Add(limit))), true
}

// beginDrain records what is about to be cordoned, so that whoever comes after a crash takes it back.
func (o Observation) beginDrain(now time.Time, a protocol.Attempt) Step {
	d := protocol.NodeDrain{Node: o.NodeName, By: o.Drain.By, Target: o.Marks.To, Since: now.UTC()}
	if o.Drain.Record != nil {
		d.By = o.Drain.Record.By // what the Node carries, if it was cordoned before
	}
	s := write(member.Patch{protocol.DrainKey: d.Format()})
	a.Count++ // the attempt that is about to begin
	began := member.Normal(protocol.EventDraining, "Draining node "+o.NodeName)
	began.Action = attemptAction(a)
	s.Events = []member.Event{began}
	return s
}

// failDrain: the attempt ends before its refresh was sent.
func (o Observation) failDrain(now time.Time, a protocol.Attempt, limit time.Duration) Step {
	if a.From == "" {
		a.From = o.KubeletVersion
	}
	a.Target = o.Marks.To
	a.Count++
	a.Quarantined = a.Count >= o.plan().MaxAttempts
	why := fmt.Sprintf("drain: not finished after %s: %s", limit, o.Drain.Drained.remains())
	d := protocol.NodeDrain{Node: o.NodeName, By: o.Drain.Record.By, Target: o.Marks.To, Failed: true}
	return o.failed(now, a, why, member.Patch{protocol.DrainKey: d.Format()})
}

// release takes back the cordon of a machine that waits and has no use for it any more.
func (o Observation) release(s Step, now time.Time) Step {
	if s.Action != Wait || o.Drain.Record == nil || !o.Drain.Can {
		return s
	}
	if s.Reason == NothingToDo && o.settling() {
		s.Reason = Settling
	}
	if o.keepsCordon(s.Reason) {
		return s
	}
	return o.uncordon(s, now)
}

// keepsCordon reports whether the node stays cordoned while its machine waits for a reason.
func (o Observation) keepsCordon(r Reason) bool {
	switch r {
	case Quarantined, NotPermitted, Withdrawn, ForeignUpgrade, NothingToDo:
		return false
	case BackingOff, NoNode, NoVersion:
		return !o.Drain.Record.Failed
	case Deleting, Paused, DrainGoesOn, Settling, Running, NodeSilent, Undecided, NotShown, OldChangeRunning:
		return true
	}
	return true
}

// settling: the upgrade is done and its plan, which goes with its proof, still stands.
func (o Observation) settling() bool {
	done := o.Marks.Status == protocol.StatusDone && o.Marks.Release == o.Drain.Record.Target
	return done && o.Plan.Drain != nil &&
		!(o.Drain.Healthy && capi.Fits(o.KubeletVersion, o.plan().ExpectedVersion))
}

// uncordon takes the cordon back, and forgets it once that is done. Meanwhile the machine waits as it does.
func (o Observation) uncordon(meanwhile Step, now time.Time) Step {
	freed := o.Drain.Freed
	switch {
	case freed == nil && !now.Before(o.Drain.NextLook):
		return Step{Action: Uncordon}
	case freed != nil && freed.Err == nil:
		return write(member.Patch{protocol.DrainKey: nil})
	case freed != nil && !strings.HasPrefix(o.Drain.Record.Blocked, notFreed):
		next := *o.Drain.Record
		next.Blocked = notFreed + freed.Err.Error()
		return write(member.Patch{protocol.DrainKey: next.Format()})
	}
	meanwhile.Recheck = earlier(meanwhile.Recheck, o.Drain.NextLook)
	return meanwhile
}

func (d Drained) empty() bool { return d.Err == nil && len(d.Left) == 0 }

// blocked names the pods that do not go. Of errors the first is told: their texts differ in what matters to nobody.
func (d Drained) blocked(before string) string {
	switch {
	case d.Err != nil && before != "":
		return before
	case d.Err != nil:
		return d.Err.Error()
	}
	var all []string
	for _, l := range d.Left {
		if l.Why != "" {
			all = append(all, l.String())
		}
	}
	return strings.Join(all, "; ")
}

// remains says what keeps the node from being empty.
func (d Drained) remains() string {
	if d.Err != nil {
		return d.Err.Error()
	}
	all := make([]string, 0, len(d.Left))
	for _, l := range d.Left {
		all = append(all, l.String())
	}
	return strings.Join(all, "; ")
}

// String says it for people.
func (l Left) String() string {
	switch {
	case l.Pod == "":
		return l.Why
	case l.Why == "":
		return "pod " + l.Pod + " is still going"
	}
	return "pod " + l.Pod + ": " + l.Why
}
