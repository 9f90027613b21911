// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package drain_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/engine/drain"
	"github.com/windlass-dev/windlass/engine/k8sd"
	"github.com/windlass-dev/windlass/test/env"
)

// workload is the API server that the tests of this package share. It is written once, before the first test.
var workload *env.Server //nolint:gochecknoglobals // TestMain has no other way to hand it on

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute) // the binaries may have to be built
	defer cancel()
	w, err := env.Start(ctx, env.Options{Log: os.Stderr})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if workload, err = w.APIServer(ctx, "workload"); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

const by = "uid-m0"

// place is a node of its own, with a namespace of its own.
type place struct {
	t         *testing.T
	node      k8sd.Node
	namespace string
}

func newPlace(t *testing.T, name string) *place {
	t.Helper()
	p := &place{t: t, namespace: name, node: k8sd.Node{
		Cluster: types.NamespacedName{Namespace: "shop", Name: "eu"}, Machine: "m0", NodeName: name,
	}}
	p.create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
	p.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	return p
}

func (p *place) create(o client.Object) {
	p.t.Helper()
	if err := workload.Client.Create(p.t.Context(), o); err != nil {
		p.t.Fatal(err)
	}
}

// running adds a pod of a ReplicaSet to the node; change may make it another.
func (p *place) running(name string, change ...func(pod *corev1.Pod)) *corev1.Pod {
	p.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.namespace, Name: name, Labels: map[string]string{"app": name},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "uid-web", Controller: new(true),
			}},
		},
		Spec: corev1.PodSpec{
			NodeName: p.node.NodeName, Containers: []corev1.Container{{Name: "c", Image: "i"}},
			Volumes: []corev1.Volume{{
				Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}},
			}},
		},
	}
	for _, c := range change {
		c(pod)
	}
	p.create(pod)
	p.phase(pod, corev1.PodRunning)
	return pod
}

func (p *place) phase(pod *corev1.Pod, phase corev1.PodPhase) {
	p.t.Helper()
	before := pod.DeepCopy()
	pod.Status.Phase = phase
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	if err := workload.Client.Status().Patch(p.t.Context(), pod, client.MergeFrom(before)); err != nil {
		p.t.Fatal(err)
	}
}

func unmanaged(pod *corev1.Pod) { pod.OwnerReferences = nil }

// ended lets the pods that are going go, as their kubelet would.
func (p *place) ended() {
	p.t.Helper()
	var pods corev1.PodList
	if err := workload.Client.List(p.t.Context(), &pods, client.InNamespace(p.namespace)); err != nil {
		p.t.Fatal(err)
	}
	for i := range pods.Items {
		if pods.Items[i].DeletionTimestamp == nil {
			continue
		}
		if err := workload.Client.Delete(p.t.Context(), &pods.Items[i], client.GracePeriodSeconds(0)); err != nil {
			p.t.Fatal(err)
		}
	}
}

// staying names the pods of the namespace that nobody has asked to go.
func (p *place) staying() []string {
	p.t.Helper()
	var pods corev1.PodList
	if err := workload.Client.List(p.t.Context(), &pods, client.InNamespace(p.namespace)); err != nil {
		p.t.Fatal(err)
	}
	var names []string
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp == nil {
			names = append(names, pod.Name)
		}
	}
	slices.Sort(names)
	return names
}

func (p *place) read() *corev1.Node {
	p.t.Helper()
	n := &corev1.Node{}
	if err := workload.Client.Get(p.t.Context(), types.NamespacedName{Name: p.node.NodeName}, n); err != nil {
		p.t.Fatal(err)
	}
	return n
}

// drainer is a client of the shared API server; change may make it another.
func drainer(change ...func(o *drain.Options)) *drain.Client {
	o := drain.Options{Connect: func(context.Context, types.NamespacedName) (kubernetes.Interface, error) {
		return kubernetes.NewForConfig(workload.Config)
	}}
	for _, c := range change {
		c(&o)
	}
	return drain.New(o)
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
