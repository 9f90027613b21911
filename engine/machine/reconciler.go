// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/k8sd"
	"github.com/windlass-dev/windlass/engine/member"
	"github.com/windlass-dev/windlass/engine/protocol"
)

const (
	// recordTries bounds how often the outcome of a refresh is written again after a conflict.
	recordTries = 5
	// maxAnswers is how many things can be asked for in one look: k8sd, a drain, and taking a cordon back.
	maxAnswers = 3
	// sendWithin is how long after its record a refresh may be sent. Whoever wakes up later, after a pause of the
	// machine that it runs on, does not know whether another engine has taken the attempt for lost and made the next.
	sendWithin = time.Minute
	// shutdownGrace is how long a refresh that is being sent may still be recorded when the process is told to end.
	shutdownGrace = 10 * time.Second
)

// K8sd is what the upgrader asks of nodes. Errors of Refresh carry a class of package k8sd.
type K8sd interface {
	Refresh(ctx context.Context, node k8sd.Node, target protocol.Target) (changeID string, err error)
	RefreshStatus(ctx context.Context, node k8sd.Node, changeID string) (k8sd.Status, error)
}

// Reconciler upgrades the machines of one member.
type Reconciler struct {
	Member member.Member
	K8sd   K8sd
	// Drainer empties nodes. Nil: machines whose plan asks for a drain are refused.
	Drainer Drainer
	// Pace spreads the questions to k8sd and to nodes that are drained.
	Pace *Pace
	// Spread spreads attempts of machines that failed together; it must be a function of its arguments. Nil: none.
	Spread func(machine types.UID, attempt int) float64
}

// Reconcile looks at one machine, decides, and acts once.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	seen, found, err := r.Member.Machine(ctx, r.Member.Cache, req.NamespacedName)
	if err != nil || !found {
		r.Pace.Forget(req.NamespacedName)
		r.Pace.ForgetLook(req.NamespacedName)
		return reconcile.Result{}, err
	}
	o, err := r.observe(ctx, seen)
	if err != nil {
		return reconcile.Result{}, err
	}
	step := Next(o, r.now())
	for range maxAnswers {
		if !r.ask(ctx, seen, &o, step.Action) {
			break
		}
		step = Next(o, r.now())
	}
	switch step.Action {
	case Wait, Poll, Drain, Uncordon:
		return recheck(step, r.now()), nil
	case Write:
		err = r.write(ctx, seen, step)
	case Send:
		if err = r.check(ctx, seen, o); err == nil {
			err = r.send(ctx, seen, o, step)
		}
	}
	again, err := member.LookAgain(err)
	return reconcile.Result{RequeueAfter: again}, err
}

func (r *Reconciler) observe(ctx context.Context, m capi.Machine) (Observation, error) {
	o := Observation{
		Keys: r.Member.Keys, Marks: r.Member.Keys.Read(m.Annotations),
		NodeName: m.NodeName, KubeletVersion: m.KubeletVersion,
		Deleting: m.Deleting, Paused: m.Paused, Foreign: member.Foreign(r.Member.Keys, m),
	}
	o.Attempt, o.AttemptErr = member.Attempt(m)
	o.Plan, o.PlanErr = protocol.ParsePlan(m.Annotations[protocol.PlanKey])
	_, o.Managed = m.Annotations[protocol.HolderKey]
	if r.Spread != nil {
		o.Spread = r.Spread(m.UID, o.Attempt.Count)
	}
	if !o.Marks.HasChangeID {
		r.Pace.Forget(m.Key())
	}
	o.NextPoll = r.Pace.Next(m.Key(), o.asking())
	o.Drain = r.draining(m)
	key := clusterOf(m)
	c, found, err := r.Member.Cluster(ctx, r.Member.Cache, key)
	if err != nil {
		return Observation{}, err
	}
	o.Paused = o.Paused || !found || c.IsPaused() // a cluster that is not there yet is as good as paused
	o.StartBefore, o.StartBeforeErr = member.StartBefore(c)
	o.Withdrawn, err = r.withdrawn(ctx, r.Member.Cache, m, c)
	return o, err
}

// check reads the cluster and the owner past the cache: the pause, the permission and the request that count are those
// of the moment at which the refresh is sent (laws 9 and 11). The machine itself is checked by the write of the intent.
func (r *Reconciler) check(ctx context.Context, m capi.Machine, o Observation) error {
	c, found, err := r.Member.Cluster(ctx, r.Member.Live, clusterOf(m))
	if err != nil {
		return err
	}
	o.Paused = o.Paused || !found || c.IsPaused()
	o.StartBefore, o.StartBeforeErr = member.StartBefore(c)
	if o.Withdrawn, err = r.withdrawn(ctx, r.Member.Live, m, c); err != nil {
		return err
	}
	if Next(o, r.now()).Action != Send {
		return fmt.Errorf("refreshing machine %s: its cluster or its owner does not want it any more: %w", m.Key(), member.ErrStale)
	}
	return nil
}

// draining reads what concerns the drain. A record that cannot be read is as good as one of this machine and its node.
func (r *Reconciler) draining(m capi.Machine) Draining {
	d := Draining{Can: r.Drainer != nil, By: string(m.UID), Healthy: m.Health().Good()}
	text, found := m.Annotations[protocol.DrainKey]
	if !found {
		r.Pace.ForgetLook(m.Key())
		return d
	}
	record, err := protocol.ParseNodeDrain(text)
	if err != nil || record.Node == "" || record.By == "" {
		record = protocol.NodeDrain{Node: m.NodeName, By: d.By}
	}
	d.Record, d.NextLook = &record, r.Pace.NextLook(m.Key())
	return d
}

// ask adds to an observation what a step wants to know; false: it wants nothing.
func (r *Reconciler) ask(ctx context.Context, m capi.Machine, o *Observation, action Action) bool {
	at := node(m)
	switch action {
	case Poll:
		o.Answer = r.poll(ctx, m, o.Marks.ChangeID)
		o.NextPoll = r.Pace.Asked(m.Key(), o.asking(), r.now())
		return true
	case Drain:
		left, err := r.Drainer.Drain(ctx, at, o.Drain.Record.By)
		o.Drain.Drained = &Drained{Left: left, Err: err}
		logFailure(ctx, "the node could not be drained", err)
		if o.Drain.Drained.empty() {
			return true // there is nothing to look at again
		}
	case Uncordon:
		at.NodeName = o.Drain.Record.Node
		err := r.Drainer.Uncordon(ctx, at, o.Drain.Record.By)
		o.Drain.Freed = &Freed{Err: err}
		logFailure(ctx, "the node could not be uncordoned", err)
	case Wait, Write, Send:
		return false
	}
	o.Drain.NextLook = r.Pace.Looked(m.Key(), r.now())
	return true
}

func logFailure(ctx context.Context, what string, err error) {
	if err != nil {
		log.FromContext(ctx).V(1).Info(what, "error", err.Error())
	}
}

func (r *Reconciler) poll(ctx context.Context, m capi.Machine, changeID string) *Answer {
	status, err := r.K8sd.RefreshStatus(ctx, node(m), changeID)
	logFailure(ctx, "k8sd could not be asked", err)
	return &Answer{Status: status, Err: err}
}

func (r *Reconciler) write(ctx context.Context, seen capi.Machine, step Step) error {
	if _, err := r.Member.Annotate(ctx, r.Member.Kinds.Machine, seen.Meta, step.Patch); err != nil {
		return err
	}
	for _, e := range step.Events {
		log.FromContext(ctx).Info(e.Note, "reason", e.Reason)
	}
	r.Member.Record(r.Member.Kinds.Machine, seen.Meta, step.Events...)
	return nil
}

// send records the intent, asks for the refresh and records what came of it. Between the two records the machine is
// "sent, not known": whoever finds it so sends nothing (law 4).
func (r *Reconciler) send(ctx context.Context, seen capi.Machine, o Observation, step Step) error {
	meta, err := r.Member.Annotate(ctx, r.Member.Kinds.Machine, seen.Meta, step.Patch)
	if err != nil {
		return err
	}
	if r.now().Sub(step.Attempt.SentAt) > min(sendWithin, o.timeout()) {
		return fmt.Errorf("refreshing machine %s: this process stood still: %w", seen.Key(), member.ErrStale)
	}
	ctx, cancel := outlasting(ctx, shutdownGrace)
	defer cancel()
	o.Attempt = step.Attempt
	changeID, err := r.K8sd.Refresh(ctx, node(seen), step.Target)
	if err != nil {
		log.FromContext(ctx).Info("refresh failed", "class", k8sd.ClassOf(err), "error", err.Error())
	}
	seen.Meta = meta
	return r.record(ctx, seen, Sent(o, changeID, err, r.now()))
}

// record writes the outcome of a refresh. On a conflict the machine is read again: the outcome still holds as long as
// the attempt on it is the one that was sent.
func (r *Reconciler) record(ctx context.Context, seen capi.Machine, outcome Step) error {
	intent := seen.Annotations[protocol.AttemptKey]
	var err error
	for range recordTries {
		if err = r.write(ctx, seen, outcome); !errors.Is(err, member.ErrStale) {
			return err
		}
		again, found, readErr := r.Member.Machine(ctx, r.Member.Live, seen.Key())
		switch {
		case readErr != nil:
			return readErr
		case !found, again.UID != seen.UID, again.Annotations[protocol.AttemptKey] != intent:
			return fmt.Errorf("recording a refresh of machine %s: %w", seen.Key(), err)
		}
		seen = again
	}
	return err
}

func (r *Reconciler) now() time.Time { return r.Member.Clock.Now() }

func recheck(s Step, now time.Time) reconcile.Result {
	if s.Recheck.IsZero() {
		return reconcile.Result{}
	}
	return reconcile.Result{RequeueAfter: max(s.Recheck.Sub(now), time.Millisecond)}
}

func node(m capi.Machine) k8sd.Node {
	return k8sd.Node{Cluster: clusterOf(m), Machine: m.Name, NodeName: m.NodeName}
}

func clusterOf(m capi.Machine) types.NamespacedName {
	return types.NamespacedName{Namespace: m.Namespace, Name: m.Cluster}
}

// outlasting returns a context that lives on for a while when its parent is cancelled.
func outlasting(parent context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	stop := context.AfterFunc(parent, func() { time.AfterFunc(grace, cancel) })
	return ctx, func() { stop(); cancel() }
}
