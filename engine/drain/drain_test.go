// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package drain_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/windlass-dev/windlass/engine/drain"
	"github.com/windlass-dev/windlass/engine/machine"
)

func (p *place) drained(c *drain.Client) []machine.Left {
	p.t.Helper()
	left, err := c.Drain(p.t.Context(), p.node, by)
	if err != nil {
		p.t.Fatal(err)
	}
	return left
}

// budget lets no pod of an app go; fresh: its controller has seen it.
func (p *place) budget(app string, fresh bool) {
	p.t.Helper()
	pdb := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: app},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: new(intstr.FromInt32(2)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
		},
	}
	p.create(pdb)
	pdb.Status = policyv1.PodDisruptionBudgetStatus{DesiredHealthy: 2, CurrentHealthy: 2, ExpectedPods: 2}
	if fresh {
		pdb.Status.ObservedGeneration = pdb.Generation
	}
	if err := workload.Client.Status().Update(p.t.Context(), pdb); err != nil {
		p.t.Fatal(err)
	}
}

func TestDrainEvictsWhatMustGoAndNothingElse(t *testing.T) {
	p := newPlace(t, "evicts")
	p.create(&appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "logs"},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "logs"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "logs"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			},
		},
	})
	p.running("web-0")
	p.running("web-1")
	p.phase(p.running("job", unmanaged), corev1.PodSucceeded)
	p.running("of-a-daemonset", func(pod *corev1.Pod) {
		pod.OwnerReferences[0].Kind, pod.OwnerReferences[0].Name = "DaemonSet", "logs"
	})
	p.running("static", unmanaged, func(pod *corev1.Pod) {
		pod.Annotations, pod.Spec.Volumes = map[string]string{corev1.MirrorPodAnnotationKey: "x"}, nil
	})
	p.running("proxy", unmanaged, func(pod *corev1.Pod) { pod.Labels = map[string]string{"app": "k8sd-proxy"} })
	p.running("elsewhere", func(pod *corev1.Pod) { pod.Spec.NodeName = "another-node" })

	c := drainer()
	same(t, "left", []machine.Left{{Pod: "evicts/job"}, {Pod: "evicts/web-0"}, {Pod: "evicts/web-1"}}, p.drained(c))
	same(t, "staying", []string{"elsewhere", "of-a-daemonset", "proxy", "static"}, p.staying())
	p.ended()
	same(t, "left in the end", []machine.Left{}, p.drained(c))
}

func TestDrainHonoursABudgetAndNamesIt(t *testing.T) {
	p := newPlace(t, "budgets")
	p.running("db")
	p.running("web")
	p.budget("db", true)
	want := []machine.Left{{
		Pod: "budgets/db",
		Why: "PodDisruptionBudget: The disruption budget db needs 2 healthy pods and has 2 currently",
	}, {Pod: "budgets/web"}}
	for range 2 { // a pod that is going is not asked again
		same(t, "left", want, p.drained(drainer()))
	}
	same(t, "staying", []string{"db"}, p.staying())
}

func TestABudgetThatNobodyHasSeenYetHoldsUpNoOtherPod(t *testing.T) {
	p := newPlace(t, "unseen")
	p.running("db")
	p.running("web")
	p.budget("db", false)
	begin := time.Now()
	left := p.drained(drainer(func(o *drain.Options) { o.Timeout = time.Second }))
	same(t, "staying", []string{"db"}, p.staying())
	if len(left) != 2 || left[0].Pod != "unseen/db" || left[0].Why == "" || left[1] != (machine.Left{Pod: "unseen/web"}) {
		t.Errorf("left %v", left)
	}
	if took := time.Since(begin); took > time.Minute { // without an end it would ask for ever
		t.Errorf("the look took %s", took)
	}
}

func TestWhilePodsHaveNoControllerNoneIsEvicted(t *testing.T) {
	p := newPlace(t, "unmanaged")
	p.running("naked", unmanaged)
	p.running("web")
	same(t, "left", []machine.Left{{Why: "cannot delete Pods that declare no controller: unmanaged/naked"}}, p.drained(drainer()))
	same(t, "staying", []string{"naked", "web"}, p.staying())
}

func TestNothingIsWrittenByWhoMayNotWrite(t *testing.T) {
	lost := errors.New("the lease is lost")
	p := newPlace(t, "lost")
	p.running("web")
	refused := drainer(func(o *drain.Options) { o.MayWrite = func() error { return lost } })
	if _, err := refused.Drain(t.Context(), p.node, by); !errors.Is(err, lost) {
		t.Errorf("Drain: %v", err)
	}
	same(t, "cordoned", false, p.read().Spec.Unschedulable)
	p.drained(drainer())
	p.running("late")
	if _, err := refused.Drain(t.Context(), p.node, by); !errors.Is(err, lost) {
		t.Errorf("Drain of a node that is cordoned: %v", err)
	}
	same(t, "staying", []string{"late"}, p.staying())
	if err := refused.Uncordon(t.Context(), p.node, by); !errors.Is(err, lost) {
		t.Errorf("Uncordon: %v", err)
	}
	same(t, "cordoned", true, p.read().Spec.Unschedulable)
}

func TestANodeThatCannotBeAskedIsAnError(t *testing.T) {
	p := newPlace(t, "unasked")
	away := errors.New("connection refused")
	c := drainer(func(o *drain.Options) {
		o.Connect = func(context.Context, types.NamespacedName) (kubernetes.Interface, error) { return nil, away }
	})
	if _, err := c.Drain(t.Context(), p.node, by); !errors.Is(err, away) {
		t.Errorf("Drain: %v", err)
	}
	if err := c.Uncordon(t.Context(), p.node, by); !errors.Is(err, away) {
		t.Errorf("Uncordon: %v", err)
	}
	if _, err := c.Cordoned(t.Context(), p.node.Cluster, p.node.NodeName); !errors.Is(err, away) {
		t.Errorf("Cordoned: %v", err)
	}
	p.node.NodeName = "nobody"
	if _, err := drainer().Drain(t.Context(), p.node, by); err == nil {
		t.Error("a node that does not exist is drained")
	}
}

func TestAClusterIsReachedByItsKubeconfigSecretIfThatIsComplete(t *testing.T) {
	p := newPlace(t, "reached")
	good := string(workload.Kubeconfig())
	for name, c := range map[string]struct{ kubeconfig, because string }{
		"complete":          {good, ""},
		"with a plugin":     {strings.Replace(good, "token:", "exec: {apiVersion: client.authentication.k8s.io/v1, command: sh}\n    token:", 1), "plugins are refused"},
		"with a token file": {strings.Replace(good, "token:", "tokenFile: /etc/passwd\n    token:", 1), "files are refused"},
		"none":              {"", "no kubeconfig"},
	} {
		t.Run(name, func(t *testing.T) {
			secrets := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(&corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "eu-kubeconfig"},
				Data:       map[string][]byte{"value": []byte(c.kubeconfig)},
			}).Build()
			_, err := drain.New(drain.Options{Reader: secrets}).Cordoned(t.Context(), p.node.Cluster, p.node.NodeName)
			if c.because == "" && err != nil || c.because != "" && (err == nil || !strings.Contains(err.Error(), c.because)) {
				t.Errorf("got %v, want %q", err, c.because)
			}
		})
	}
}
