// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package orchestrate

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-dev/windlass/engine/member"
)

// errPlanChanged: read live, the owner does not allow what its cached copy did.
var errPlanChanged = errors.New("the step does not hold any more")

// Nodes are the nodes of workload clusters.
type Nodes interface {
	// Cordoned reports whether a node takes no new pods. An error means that it is not known.
	Cordoned(ctx context.Context, cluster types.NamespacedName, node string) (bool, error)
}

// check decides once more, on the member read live, whether a machine begins or a lock is given back: the lock is always
// read live, so that a cache may not show yet why it is held. Before a machine begins its nodes have a say too.
func (r *Reconciler) check(ctx context.Context, req Request, seen Step) (scene, Step, error) {
	s, found, err := r.observe(ctx, r.Member.Live, req)
	if err != nil {
		return scene{}, Step{}, err
	}
	step := Next(s.Observation, r.now())
	if !found || step.Action != seen.Action || step.Machine != seen.Machine || step.Holder.Key() != seen.Holder.Key() {
		err := fmt.Errorf("%s %s%s: %w", seen.Action, seen.Machine, seen.Holder.Name, errors.Join(errPlanChanged, member.ErrStale))
		return scene{}, Step{}, err
	}
	for asked := map[string]bool{}; r.Nodes != nil && step.Action == Begin && !asked[step.Machine]; {
		asked[step.Machine] = true
		r.askNodes(ctx, &s, step.Machine)
		step = Next(s.Observation, r.now()) // another worker, where the first one's node is cordoned
	}
	return s, step, nil
}

// askNodes finds out whether the node of a machine that is about to begin, and in a control plane those of all others,
// are cordoned.
func (r *Reconciler) askNodes(ctx context.Context, s *scene, beginning string) {
	for i, m := range s.Machines {
		if m.NodeName == "" || !s.Subject.Serial && m.Name != beginning {
			continue
		}
		is, err := r.Nodes.Cordoned(ctx, s.cluster.Key(), m.NodeName)
		if err != nil {
			s.NodesErr = fmt.Errorf("node %s: %w", m.NodeName, err)
			return
		}
		s.Machines[i].Cordoned = is
	}
}

// begin takes the lock, marks the machine and shows it on the owner. Each of these can be repeated: a crash in between
// leaves what the next look continues from.
func (r *Reconciler) begin(ctx context.Context, s scene, step Step) error {
	if s.Subject.Serial {
		held, holders, err := r.Lock.Acquire(ctx, s.cluster, s.machine(step.Machine), s.limit())
		if err != nil {
			return err
		}
		if !held {
			return fmt.Errorf("machine %s holds the lock: %w", holders[0].Name, member.ErrStale)
		}
	}
	if err := r.writeMachine(ctx, s, step); err != nil {
		return err
	}
	return r.writeOwner(ctx, s, step.OwnerPatch, step.Events)
}
