// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// proxyNamespace is where k8sd-proxy pods live.
const proxyNamespace = "kube-system"

// nodeTable knows the API server and the kubelet of each node. It is where the simulator writes.
type nodeTable struct {
	mu    sync.Mutex
	nodes map[string]*node
}

type node struct {
	name    string
	pod     string // of k8sd-proxy
	server  *Server
	kubelet *kubelet // nil: down
}

func newNodeTable() *nodeTable { return &nodeTable{nodes: map[string]*node{}} }

func (t *nodeTable) put(n *node) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.nodes[n.name] = n
}

func (t *nodeTable) get(name string) (*node, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := t.nodes[name]; n != nil {
		return n, nil
	}
	return nil, fmt.Errorf("no node %q in this world", name)
}

// swap replaces the kubelet of a node and closes the one it had.
func (t *nodeTable) swap(n *node, k *kubelet) {
	t.mu.Lock()
	old := n.kubelet
	n.kubelet = k
	t.mu.Unlock()
	if old != nil {
		old.close()
	}
}

// SetVersion writes the kubelet version that a Node reports.
func (t *nodeTable) SetVersion(ctx context.Context, name, version string) error {
	return t.patch(ctx, name, types.MergePatchType, map[string]any{
		"nodeInfo": map[string]any{"kubeletVersion": version, "kubeProxyVersion": version},
	})
}

// SetReady writes a Node's condition Ready.
func (t *nodeTable) SetReady(ctx context.Context, name string, ready bool) error {
	return t.patch(ctx, name, types.StrategicMergePatchType, map[string]any{
		"conditions": []corev1.NodeCondition{readiness(ready, time.Now())},
	})
}

func (t *nodeTable) patch(ctx context.Context, name string, kind types.PatchType, status map[string]any) error {
	n, err := t.get(name)
	if err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second) // the API server may be frozen
	defer cancel()
	o := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	return n.server.Client.Status().Patch(ctx, o, client.RawPatch(kind, patch))
}

func readiness(ready bool, now time.Time) corev1.NodeCondition {
	c := corev1.NodeCondition{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
		Message: "kubelet is posting ready status", LastTransitionTime: metav1.NewTime(now),
	}
	if !ready {
		c.Status, c.Reason, c.Message = corev1.ConditionFalse, "KubeletNotReady", "kubelet is restarting"
	}
	return c
}

// addNode makes the node of a Machine: k8sd, kubelet, Node and k8sd-proxy pod.
func (w *World) addNode(ctx context.Context, s *Server, m *clusterv1.Machine, name, token string) error {
	k8sd, err := w.sim.Add(name, token, m.Spec.Version)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(name))
	n := &node{name: name, server: s, pod: "k8sd-proxy-" + hex.EncodeToString(sum[:])[:10]}
	k, err := newKubelet(w.id.tls, proxyNamespace+"/"+n.pod, k8sd)
	if err != nil {
		return err
	}
	n.kubelet = k
	w.table.put(n)
	w.onClose(func() error { w.table.swap(n, nil); return nil })
	if err := createWithStatus(ctx, s.Client, nodeObject(m, name, k.addr.Port)); err != nil {
		return err
	}
	return createWithStatus(ctx, s.Client, proxyPod(n))
}

// createWithStatus creates an object and then writes its status, which a create drops.
func createWithStatus(ctx context.Context, c client.Client, o client.Object) error {
	want := o.DeepCopyObject().(client.Object)
	if err := c.Create(ctx, o); err != nil {
		return err
	}
	status, err := json.Marshal(want)
	if err != nil {
		return err
	}
	var only struct {
		Status json.RawMessage `json:"status"`
	}
	if err := json.Unmarshal(status, &only); err != nil {
		return err
	}
	patch, err := json.Marshal(only)
	if err != nil {
		return err
	}
	return c.Status().Patch(ctx, o, client.RawPatch(types.MergePatchType, patch))
}

func nodeObject(m *clusterv1.Machine, name string, kubeletPort int) *corev1.Node {
	now := time.Now()
	no := func(t corev1.NodeConditionType, reason string) corev1.NodeCondition {
		return corev1.NodeCondition{
			Type: t, Status: corev1.ConditionFalse, Reason: reason, LastTransitionTime: metav1.NewTime(now),
		}
	}
	labels := map[string]string{corev1.LabelHostname: name, corev1.LabelArchStable: "amd64", corev1.LabelOSStable: "linux"}
	if _, ok := m.Labels[clusterv1.MachineControlPlaneLabel]; ok {
		labels["node-role.kubernetes.io/control-plane"] = ""
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: labels,
			Annotations: map[string]string{
				clusterv1.ClusterNameAnnotation:      m.Spec.ClusterName,
				clusterv1.ClusterNamespaceAnnotation: m.Namespace,
				clusterv1.MachineAnnotation:          m.Name,
			},
		},
		Spec: corev1.NodeSpec{ProviderID: m.Spec.ProviderID},
		Status: corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{
				no(corev1.NodeMemoryPressure, "KubeletHasSufficientMemory"),
				no(corev1.NodeDiskPressure, "KubeletHasNoDiskPressure"),
				no(corev1.NodePIDPressure, "KubeletHasSufficientPID"),
				readiness(true, now),
			},
			// No Hostname: kube-apiserver would look it up.
			Addresses:       []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(kubeletPort)}},
			NodeInfo: corev1.NodeSystemInfo{
				MachineID: name, SystemUUID: name, BootID: name,
				KernelVersion: "6.8.0-generic", OSImage: "Ubuntu 24.04 LTS", ContainerRuntimeVersion: "containerd://2.1.4",
				KubeletVersion: m.Spec.Version, KubeProxyVersion: m.Spec.Version,
				OperatingSystem: "linux", Architecture: "amd64",
			},
		},
	}
}

func proxyPod(n *node) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: proxyNamespace, Name: n.pod, Labels: map[string]string{"app": "k8sd-proxy"},
		},
		Spec: corev1.PodSpec{
			NodeName:   n.name,
			Containers: []corev1.Container{{Name: "k8sd-proxy", Image: "socat:1.8.0.0"}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, HostIP: "127.0.0.1", HostIPs: []corev1.HostIP{{IP: "127.0.0.1"}},
			PodIP: "10.1.0.1", PodIPs: []corev1.PodIP{{IP: "10.1.0.1"}},
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		},
	}
}

// nodeDown cuts the way to a node: its kubelet refuses connections.
func (w *World) nodeDown(name string) error {
	n, err := w.table.get(name)
	if err != nil {
		return err
	}
	w.table.swap(n, nil)
	return nil
}

// nodeUp brings the kubelet back, on another port, which the Node then says.
func (w *World) nodeUp(ctx context.Context, name string) error {
	n, err := w.table.get(name)
	if err != nil {
		return err
	}
	k8sd := w.sim.Addr(name)
	if k8sd == nil {
		return errors.New("no k8sd on node " + name)
	}
	k, err := newKubelet(w.id.tls, proxyNamespace+"/"+n.pod, k8sd)
	if err != nil {
		return err
	}
	w.table.swap(n, k)
	return w.table.patch(ctx, name, types.MergePatchType, map[string]any{
		"daemonEndpoints": map[string]any{"kubeletEndpoint": map[string]any{"Port": k.addr.Port}},
	})
}
