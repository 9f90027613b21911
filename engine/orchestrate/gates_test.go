// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package orchestrate_test

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/orchestrate"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// nodes answers which nodes are cordoned, and remembers which it was asked about.
type nodes struct {
	cordoned map[string]bool
	err      error
	asked    []string
}

func (n *nodes) Cordoned(_ context.Context, cluster types.NamespacedName, node string) (bool, error) {
	n.asked = append(n.asked, cluster.String()+" "+node)
	return n.cordoned[node], n.err
}

// set writes a field of an object.
func (w *world) set(name string, value any, path ...string) {
	w.t.Helper()
	w.change(name, func(o *unstructured.Unstructured) {
		if err := unstructured.SetNestedField(o.Object, value, path...); err != nil {
			w.t.Fatal(err)
		}
	})
}

// condition adds a condition to an object.
func (w *world) condition(name, kind, status string) {
	w.t.Helper()
	w.change(name, func(o *unstructured.Unstructured) {
		list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		list = append(list, map[string]any{"type": kind, "status": status})
		_ = unstructured.SetNestedSlice(o.Object, list, "status", "conditions")
	})
}

// machineSet adds a MachineSet of pool a, and lets it control machines.
func (w *world) machineSet(name string, wanted, there int64, machines ...string) {
	w.t.Helper()
	s := object(kinds.MachineSet, name, map[string]string{capi.DeploymentNameLabel: "a"})
	s.SetOwnerReferences(controlledBy("MachineDeployment", "a"))
	s.Object["spec"] = map[string]any{"replicas": wanted, "clusterName": "eu"}
	s.Object["status"] = map[string]any{"replicas": there}
	if err := w.client.Create(context.Background(), s); err != nil {
		w.t.Fatal(err)
	}
	for _, m := range machines {
		w.change(m, func(o *unstructured.Unstructured) { o.SetOwnerReferences(controlledBy("MachineSet", name)) })
	}
}

func controlledBy(kind, name string) []metav1.OwnerReference {
	return []metav1.OwnerReference{{
		APIVersion: capi.Group + "/v1beta2", Kind: kind, Name: name, UID: types.UID("uid-" + name), Controller: new(true),
	}}
}

// deleting asks for a machine's deletion, which a finalizer holds up.
func (w *world) deleting(name string) {
	w.t.Helper()
	w.change(name, func(o *unstructured.Unstructured) { o.SetFinalizers([]string{"test/keep"}) })
	w.remove(name)
}

// shrink leaves a control plane of n machines.
func (w *world) shrink(n int64) {
	w.t.Helper()
	for _, name := range []string{"cp-0", "cp-1", "cp-2"}[n:] {
		w.remove(name)
	}
	w.set("cp", n, "spec", "replicas")
	w.set("cp", n, "status", "replicas")
	w.set("cp", n, "status", "readyReplicas")
}

// TestNoMachineBeginsWhere names what keeps machines from beginning, and the reason that the owner shows.
func TestNoMachineBeginsWhere(t *testing.T) {
	own := protocol.KeysFor(protocol.OwnPrefix)
	for name, c := range map[string]struct {
		owner   string
		want    orchestrate.Reason
		prepare func(w *world)
	}{
		"Fault16: the owner is paused": {"a", "", func(w *world) {
			w.annotate("a", map[string]string{capi.PausedAnnotation: ""})
		}},
		"Fault16: the cluster is paused": {"a", "", func(w *world) {
			w.annotate("eu", map[string]string{capi.PausedAnnotation: ""})
		}},
		"Fault16: the cluster is paused by its spec": {"cp", "", func(w *world) { w.set("eu", true, "spec", "paused") }},
		"the owner is being deleted":                 {"a", "", func(w *world) { w.deleting("a") }},
		"the permission is over": {"a", orchestrate.NotPermitted, func(w *world) {
			w.annotate("eu", map[string]string{protocol.StartBeforeKey: protocol.FormatStartBefore(start)})
		}},
		"the permission is absent": {"a", orchestrate.NotPermitted, func(w *world) {
			w.annotate("eu", nil, protocol.StartBeforeKey)
		}},
		"the permission is garbled": {"a", orchestrate.NotPermitted, func(w *world) {
			w.annotate("eu", map[string]string{protocol.StartBeforeKey: "x"})
		}},
		"a control plane machine is at work": {"a", orchestrate.ControlPlaneInFlight, func(w *world) {
			w.annotate("cp-1", map[string]string{keys.To: target})
		}},
		"the control plane is asked too": {"a", orchestrate.ControlPlaneInFlight, func(w *world) {
			w.annotate("cp", map[string]string{keys.To: target})
		}},
		"Fault15: all machines are unhealthy": {"a", orchestrate.MachineUnhealthy, func(w *world) {
			w.healthy("a-0", false)
			w.healthy("a-1", false)
		}},
		"Fault16: a health check wants all machines replaced": {"a", orchestrate.MachineUnhealthy, func(w *world) {
			w.condition("a-0", "HealthCheckSucceeded", "False")
			w.condition("a-1", "HealthCheckSucceeded", "False")
		}},
		"another pool machine is asked by hand": {"a", orchestrate.AskedByHand, func(w *world) {
			w.annotate("a-1", map[string]string{keys.To: other})
		}},
		"another pool machine is asked by others": {"a", orchestrate.ForeignUpgrade, func(w *world) {
			w.annotate("a-1", map[string]string{own.To: other})
		}},
		"C110: a replica is not ready": {"cp", orchestrate.NotReady, func(w *world) { w.ready(2) }},
		"C110: a replica is missing": {"cp", orchestrate.NotReady, func(w *world) {
			w.set("cp", int64(2), "status", "replicas")
		}},
		"the control plane is not available": {"cp", orchestrate.NotReady, func(w *world) {
			w.condition("cp", "Available", "False")
		}},
		"etcd of the control plane is not healthy": {"cp", orchestrate.NotReady, func(w *world) {
			w.condition("cp", "EtcdClusterHealthy", "False")
		}},
		"another machine's etcd member is not healthy": {"cp", orchestrate.MachineUnhealthy, func(w *world) {
			w.condition("cp-2", "EtcdMemberHealthy", "False")
		}},
		"another machine's etcd pod is not healthy": {"cp", orchestrate.MachineUnhealthy, func(w *world) {
			w.condition("cp-1", "EtcdPodHealthy", "False")
		}},
		"C109: the control plane has one machine": {"cp", orchestrate.SingleControlPlane, func(w *world) { w.shrink(1) }},
		"the control plane has two machines":      {"cp", orchestrate.NoQuorum, func(w *world) { w.shrink(2) }},
		"another control plane machine is unhealthy": {"cp", orchestrate.MachineUnhealthy, func(w *world) {
			w.healthy("cp-2", false)
		}},
		"Fault09b: another control plane machine is asked by hand": {"cp", orchestrate.AskedByHand, func(w *world) {
			w.annotate("cp-2", map[string]string{keys.To: target})
		}},
		"Fault09b: another control plane machine is asked by others": {"cp", orchestrate.ForeignUpgrade, func(w *world) {
			w.annotate("cp-2", map[string]string{own.To: target})
		}},
		"Fault09b: another control plane machine has a change": {"cp", orchestrate.AskedByHand, func(w *world) {
			w.annotate("cp-2", map[string]string{keys.ChangeID: ""})
		}},
		"Fault09b: another control plane machine has a foreign change": {"cp", orchestrate.ForeignUpgrade, func(w *world) {
			w.annotate("cp-2", map[string]string{own.ChangeID: "7"})
		}},
		"Fault16: another control plane machine is being deleted": {"cp", orchestrate.MachineDeleting, func(w *world) {
			w.deleting("cp-2")
		}},
		"C114: a new MachineSet has been made": {"a", orchestrate.RolloutRunning, func(w *world) {
			w.machineSet("a-old", 2, 2, "a-0", "a-1")
			w.machineSet("a-new", 1, 0)
		}},
		"C114: a machine of an old MachineSet is being deleted": {"a", orchestrate.RolloutRunning, func(w *world) {
			w.machineSet("a-old", 0, 0, "a-0")
			w.machineSet("a-new", 2, 2, "a-1")
			w.deleting("a-0")
		}},
		"C114: nobody has looked at the pool's new spec yet": {"a", orchestrate.RolloutRunning, func(w *world) {
			w.set("a", int64(1), "metadata", "generation")
			w.set("a", int64(0), "status", "observedGeneration")
		}},
		"C114: the pool says that it rolls out": {"a", orchestrate.RolloutRunning, func(w *world) {
			w.condition("a", "RollingOut", "True")
		}},
		"C114: the control plane says that it rolls out": {"cp", orchestrate.RolloutRunning, func(w *world) {
			w.condition("cp", "RollingOut", "True")
		}},
		"C114: a control plane machine has an old spec": {"cp", orchestrate.RolloutRunning, func(w *world) {
			w.set("cp", int64(2), "status", "updatedReplicas")
		}},
		"Fault03: the machines run a later minor": {"a", orchestrate.WouldDowngrade, func(w *world) {
			w.shows("a-0", "v1.35.0")
			w.shows("a-1", "v1.35.0")
		}},
		"a control plane node is cordoned": {"cp", orchestrate.NodeCordoned, func(w *world) {
			w.nodes = &nodes{cordoned: map[string]bool{"node-cp-2": true}}
		}},
		"the node of the machine itself is cordoned": {"cp", orchestrate.NodeCordoned, func(w *world) {
			w.nodes = &nodes{cordoned: map[string]bool{"node-cp-0": true}}
		}},
		"all nodes of the pool are cordoned": {"a", orchestrate.NodeCordoned, func(w *world) {
			w.nodes = &nodes{cordoned: map[string]bool{"node-a-0": true, "node-a-1": true}}
		}},
		"nodes cannot be asked": {"a", orchestrate.NodesUnknown, func(w *world) {
			w.nodes = &nodes{err: errors.New("connection refused")}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 3, 2)
			w.grant(c.owner)
			c.prepare(w)
			before := w.marked()
			w.settle(c.owner)
			same(t, "marked", before, w.marked())
			same(t, "marks and locks written", []string(nil), w.trace)
			same(t, "reason shown", c.want, w.waits(c.owner))
			if c.want == "" {
				same(t, "writes", 0, w.writes)
			}
		})
	}
}

func TestNodesAreAskedRightBeforeAMachineBeginsOnly(t *testing.T) {
	n := &nodes{}
	w := newWorld(t, 3, 2)
	w.nodes = n
	w.ready(2)
	w.grant("cp")
	w.settle("cp")
	same(t, "asked while the control plane is not ready", []string(nil), n.asked)
	w.ready(3)
	w.settle("cp")
	same(t, "asked", []string{"shop/eu node-cp-0", "shop/eu node-cp-1", "shop/eu node-cp-2"}, n.asked)
	same(t, "marked", []string{"cp-0"}, w.marked())
}

func TestOfAPoolTheNodeThatBeginsIsAskedAboutAndACordonedOneIsLeftForLater(t *testing.T) {
	n := &nodes{cordoned: map[string]bool{"node-a-0": true}}
	w := newWorld(t, 3, 3)
	w.nodes = n
	w.grant("a")
	w.settle("a")
	same(t, "asked", []string{"shop/eu node-a-0", "shop/eu node-a-1"}, n.asked)
	same(t, "marked", []string{"a-1"}, w.marked())
}

func TestNodesAreAskedAgainWhileTheyAreInTheWay(t *testing.T) {
	for name, n := range map[string]*nodes{
		"cordoned": {cordoned: map[string]bool{"node-cp-1": true}},
		"unknown":  {err: errors.New("connection refused")},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 3, 0)
			w.nodes = n
			w.grant("cp")
			same(t, "asked again after", "15s", w.settle("cp").String())
			n.cordoned, n.err = nil, nil
			w.settle("cp")
			same(t, "marked", []string{"cp-0"}, w.marked())
			same(t, "reason shown", orchestrate.Reason(""), w.waits("cp"))
		})
	}
}

func TestC109_AControlPlaneWithoutAQuorumToLoseIsUpgradedWhereThePlanAllowsIt(t *testing.T) {
	for _, n := range []int64{1, 2} {
		w := newWorld(t, n, 0)
		w.grant("cp")
		w.annotate("cp", map[string]string{protocol.PlanKey: `{"expectedVersion":"v1.34","allowSingleControlPlane":true}`})
		w.settle("cp")
		same(t, "marked", []string{"cp-0"}, w.marked())
	}
}
