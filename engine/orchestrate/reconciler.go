// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package orchestrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/lock"
	"github.com/windlass-dev/windlass/engine/member"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// maxUnlocks bounds the locks that one look gives back; a lock is not watched, so the look goes on after each.
const maxUnlocks = 8

// Request names an owner of any kind.
type Request struct {
	schema.GroupKind
	types.NamespacedName
}

// String names the owner for people.
func (r Request) String() string { return r.Kind + " " + r.NamespacedName.String() }

// Reconciler upgrades the machines of the owners of one member.
type Reconciler struct {
	Member member.Member
	Lock   lock.Lock
	// Nodes are asked right before a machine begins. Nil: they are not.
	Nodes Nodes
}

// Reconcile looks at one owner, decides, and acts once.
func (r *Reconciler) Reconcile(ctx context.Context, req Request) (reconcile.Result, error) {
	for range maxUnlocks {
		s, found, err := r.observe(ctx, r.Member.Cache, req)
		if err != nil || !found {
			return reconcile.Result{}, err
		}
		step := Next(s.Observation, r.now())
		if step.Action == Begin || step.Action == Unlock {
			if s, step, err = r.check(ctx, req, step); err != nil {
				again, err := member.LookAgain(err)
				return reconcile.Result{RequeueAfter: again}, err
			}
		}
		if step.Action == Wait {
			log.FromContext(ctx).V(1).Info("waiting", "reason", step.Reason, "message", step.Message)
			return recheck(step, r.now()), nil
		}
		err = r.act(ctx, s, step)
		if step.Action != Unlock || err != nil {
			again, err := member.LookAgain(err)
			return reconcile.Result{RequeueAfter: again}, err
		}
	}
	return reconcile.Result{RequeueAfter: time.Second}, nil
}

// scene is what an observation was made from: what the writes need.
type scene struct {
	Observation

	cluster capi.Cluster
}

// observe reads an owner with its cluster and machines, from the cache to decide or live to check.
func (r *Reconciler) observe(ctx context.Context, from client.Reader, req Request) (scene, bool, error) {
	owner, gvk, err := r.kind(req.GroupKind)
	if err != nil {
		return scene{}, false, err
	}
	o := capi.Object(gvk)
	if err := from.Get(ctx, req.NamespacedName, o); err != nil {
		if apierrors.IsNotFound(err) {
			return scene{}, false, nil
		}
		return scene{}, false, fmt.Errorf("reading %s: %w", req, err)
	}
	subject := owner.Subject(o)
	key := types.NamespacedName{Namespace: subject.Namespace, Name: subject.Cluster}
	c, found, err := r.Member.Cluster(ctx, from, key)
	if err != nil || !found {
		return scene{}, false, err
	}
	s := scene{cluster: c, Observation: Observation{
		Keys: r.Member.Keys, Subject: subject, Marks: r.Member.Keys.Read(subject.Annotations),
		Paused: subject.Paused || c.IsPaused(), Waiting: waitsFor(subject),
	}}
	s.Plan, s.PlanErr = protocol.ParsePlan(subject.Annotations[protocol.PlanKey])
	s.StartBefore, s.StartBeforeErr = member.StartBefore(c)
	machines, err := r.Member.Machines(ctx, from, key)
	if err != nil {
		return scene{}, false, err
	}
	s.Look(owner, machines)
	if s.RollsOut, err = r.rollsOut(ctx, from, owner, o, s); err != nil {
		return scene{}, false, err
	}
	if subject.Serial {
		s.Holders, err = r.holders(ctx, c)
	} else {
		s.ControlPlaneAsked, err = r.controlPlaneAsked(ctx, from, c)
	}
	return s, true, err
}

// controlPlaneAsked names the control plane of a cluster if it is asked to upgrade; one of a kind that we do not drive is
// not ours to wait for.
func (r *Reconciler) controlPlaneAsked(ctx context.Context, from client.Reader, c capi.Cluster) (string, error) {
	gvk, found := r.Member.Kinds.ControlPlane(c.ControlPlaneRef)
	if !found {
		return "", nil
	}
	o := capi.Object(gvk)
	key := types.NamespacedName{Namespace: c.Namespace, Name: c.ControlPlaneRef.Name}
	if err := from.Get(ctx, key, o); err != nil {
		return "", client.IgnoreNotFound(err)
	}
	if !r.Member.Keys.Read(o.GetAnnotations()).HasTo {
		return "", nil
	}
	return key.Name, nil
}

// rollsOut reads the MachineSets of a pool and says whether it replaces its machines.
func (r *Reconciler) rollsOut(
	ctx context.Context, from client.Reader, owner Owner, o *unstructured.Unstructured, s scene,
) (string, error) {
	machines := make([]capi.Machine, 0, len(s.Machines))
	for _, m := range s.Machines {
		machines = append(machines, m.Machine)
	}
	if s.Subject.Serial {
		return owner.RollsOut(o, nil, machines), nil
	}
	sets, err := r.Member.MachineSets(ctx, from, s.Subject.Key())
	if err != nil {
		return "", err
	}
	return owner.RollsOut(o, sets, machines), nil
}

// waitsFor reads what an owner says that it waits for; what cannot be read is written anew.
func waitsFor(s Subject) protocol.Waiting {
	w, err := protocol.ParseWaiting(s.Annotations[protocol.WaitingKey])
	if err != nil {
		return protocol.Waiting{}
	}
	return w
}

// holders reads the lock. One that cannot be read has none here: to take it is what repairs it, or refuses.
func (r *Reconciler) holders(ctx context.Context, c capi.Cluster) ([]lock.Holder, error) {
	holders, err := r.Lock.Holders(ctx, c)
	if errors.Is(err, lock.ErrMalformed) {
		log.FromContext(ctx).Info("the lock cannot be read", "error", err.Error())
		return nil, nil
	}
	return holders, err
}

func (r *Reconciler) act(ctx context.Context, s scene, step Step) error {
	switch step.Action {
	case Begin:
		return r.begin(ctx, s, step)
	case WriteMachine:
		return r.writeMachine(ctx, s, step)
	case WriteOwner:
		return r.writeOwner(ctx, s, step.Patch, step.Events)
	case Unlock:
		return r.Lock.Release(ctx, s.cluster, step.Holder)
	case Wait:
	}
	return nil
}

func (r *Reconciler) writeMachine(ctx context.Context, s scene, step Step) error {
	_, err := r.Member.Annotate(ctx, r.Member.Kinds.Machine, s.machine(step.Machine).Meta, step.Patch)
	return err
}

func (r *Reconciler) writeOwner(ctx context.Context, s scene, p member.Patch, happened []member.Event) error {
	if _, err := r.Member.Annotate(ctx, s.Subject.GVK, s.Subject.Meta, p); err != nil {
		return err
	}
	for _, e := range happened {
		log.FromContext(ctx).Info(e.Note, "reason", e.Reason)
	}
	r.Member.Record(s.Subject.GVK, s.Subject.Meta, happened...)
	return nil
}

func (s scene) machine(name string) capi.Machine {
	for _, m := range s.Machines {
		if m.Name == name {
			return m.Machine
		}
	}
	return capi.Machine{}
}

// kind returns the owner of a kind and the version to read it in.
func (r *Reconciler) kind(gk schema.GroupKind) (Owner, schema.GroupVersionKind, error) {
	if gk == r.Member.Kinds.MachineDeployment.GroupKind() {
		return MachineDeployment{}, r.Member.Kinds.MachineDeployment, nil
	}
	gvk, found := r.Member.Kinds.ControlPlane(capi.Ref{Group: gk.Group, Kind: gk.Kind})
	if !found {
		return nil, gvk, reconcile.TerminalError(fmt.Errorf("%s is no kind of owner here", gk))
	}
	return ControlPlane{}, gvk, nil
}

func (r *Reconciler) now() time.Time { return r.Member.Clock.Now() }

func recheck(s Step, now time.Time) reconcile.Result {
	if s.Recheck.IsZero() {
		return reconcile.Result{}
	}
	return reconcile.Result{RequeueAfter: max(s.Recheck.Sub(now), time.Millisecond)}
}
