// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package live_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/windlass-dev/windlass/cmd/windlass/live"
	"github.com/windlass-dev/windlass/cmd/windlass/report"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

func now() time.Time { return time.Date(2026, 7, 1, 2, 30, 0, 0, time.UTC) }

func policy() *fleetv1.RolloutPolicy {
	return &fleetv1.RolloutPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "k8s-1-33", UID: "p", Generation: 2},
		Status: fleetv1.RolloutPolicyStatus{
			ObservedGeneration: 2, Rollout: "k8s-1-33-7xk2p",
			Conditions: []metav1.Condition{{Type: fleetv1.ReadyCondition, Status: metav1.ConditionTrue}},
		},
	}
}

func rollout() *fleetv1.Rollout {
	return &fleetv1.Rollout{
		ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "k8s-1-33-7xk2p"},
		Spec: fleetv1.RolloutSpec{
			Policy: fleetv1.LocalRef{Name: "k8s-1-33", UID: "p"}, Number: 1,
			Target: fleetv1.Target{Channel: new("1.33-classic/stable")},
		},
		Status: fleetv1.RolloutStatus{
			Phase: fleetv1.RolloutProgressing, Total: 1, Active: 1, Wave: "canaries",
			Waves: []fleetv1.WaveStatus{
				{Name: "canaries", Canary: true, Phase: fleetv1.WaveProgressing, Planned: 1, Active: 1},
			},
		},
	}
}

func upgrade() *fleetv1.ClusterUpgrade {
	return &fleetv1.ClusterUpgrade{
		ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "k8s-1-33-7xk2p-0"},
		Spec: fleetv1.ClusterUpgradeSpec{
			Rollout: fleetv1.LocalRef{Name: "k8s-1-33-7xk2p"}, ManagementCluster: "mgmt-a",
			Cluster: fleetv1.ObjectRef{Namespace: "shop", Name: "eu-1"}, Wave: "canaries", Canary: true,
		},
		Status: fleetv1.ClusterUpgradeStatus{
			Phase: fleetv1.UpgradeProgressing, Reason: "Upgrading", CurrentMachine: "eu-1-cp-1",
			Owners: []fleetv1.OwnerProgress{{Kind: "CP", Name: "cp", Role: fleetv1.RoleControlPlane, Total: 1}},
			Machines: []fleetv1.MachineProgress{
				{Name: "eu-1-cp-1", Owner: "cp", State: "InProgress"},
			},
		},
	}
}

func succeed(ro *fleetv1.Rollout) {
	ro.Status.Phase, ro.Status.Done, ro.Status.Active = fleetv1.RolloutSucceeded, 1, 0
	ro.Status.Waves[0].Phase, ro.Status.Waves[0].Succeeded = fleetv1.WaveSucceeded, 1
}

func halt(ro *fleetv1.Rollout) {
	ro.Status.Phase, ro.Status.Failed, ro.Status.Active = fleetv1.RolloutHalted, 1, 0
	ro.Status.Waves[0].Phase = fleetv1.WaveHalted
	ro.Status.Waiting = &fleetv1.Waiting{Reason: "CanaryFailed", Message: "canary mgmt-a/shop/eu-1 failed"}
}

// kinds that are watched.
const kinds = 5

// fakeHub is a hub that a test can write to. A fake's watch does not know of what was written between list and watch, as
// a server's does; so writers wait until every kind is watched.
type fakeHub struct {
	client.WithWatch

	mu      sync.Mutex
	watched map[reflect.Type]bool
	all     chan struct{}
	// fail, if given, refuses a watch.
	fail func(client.ObjectList) error
}

func hub(t *testing.T, objects ...client.Object) *fakeHub {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := fleetv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(objects...).Build()
	return &fakeHub{WithWatch: c, watched: map[reflect.Type]bool{}, all: make(chan struct{})}
}

// Watch notes which kinds are watched.
func (h *fakeHub) Watch(ctx context.Context, list client.ObjectList, o ...client.ListOption) (watch.Interface, error) {
	if h.fail != nil {
		if err := h.fail(list); err != nil {
			return nil, err
		}
	}
	events, err := h.WithWatch.Watch(ctx, list, o...)
	h.mu.Lock()
	defer h.mu.Unlock()
	kind := reflect.TypeOf(list)
	if err == nil && !h.watched[kind] {
		if h.watched[kind] = true; len(h.watched) == kinds {
			close(h.all)
		}
	}
	return events, err
}

// change writes the status of a Rollout, once that can be seen.
func change(t *testing.T, c *fakeHub, how func(*fleetv1.Rollout)) {
	t.Helper()
	<-c.all
	ro := rollout()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(ro), ro); err != nil {
		t.Error(err)
		return
	}
	how(ro)
	if err := c.Status().Update(t.Context(), ro); err != nil {
		t.Error(err)
	}
}

// watching runs a watch, hands each line to the test and returns all of them with the watch's error.
func watching(t *testing.T, c *fakeHub, o live.Options, line func(string)) ([]string, error) {
	t.Helper()
	read, write := io.Pipe()
	o.Namespace, o.Out, o.Now = "fleet", write, now
	result := make(chan error, 1)
	go func() {
		result <- live.Watch(t.Context(), c, o)
		_ = write.Close() // a pipe's end never fails to close
	}()
	var all []string
	for scanner := bufio.NewScanner(read); scanner.Scan(); {
		all = append(all, scanner.Text())
		line(scanner.Text())
	}
	return all, <-result
}

func TestAWatchTellsEachChangeInOneLineAndEndsWithTheReport(t *testing.T) {
	c := hub(t, policy(), rollout(), upgrade())
	all, err := watching(t, c, live.Options{Policy: "k8s-1-33", UntilDone: true}, func(line string) {
		if strings.Contains(line, "mgmt-a/shop/eu-1") && strings.Contains(line, "Progressing  ") &&
			strings.HasPrefix(line, "02:30:00Z") {
			change(t, c, succeed)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"02:30:00Z  -             policy k8s-1-33                   Ready",
		"02:30:00Z  -             rollout k8s-1-33-7xk2p            Progressing   0/1 clusters",
		"02:30:00Z  canaries      wave                              Progressing   0/1 clusters",
		"02:30:00Z  canaries      mgmt-a/shop/eu-1                  Progressing   " +
			"cp 0/1 workers 0/0, Upgrading, eu-1-cp-1 InProgress",
		"02:30:00Z  -             rollout k8s-1-33-7xk2p            Succeeded     1/1 clusters",
		"02:30:00Z  canaries      wave                              Succeeded     1/1 clusters",
		"Fleet report of policy k8s-1-33, namespace fleet, at 2026-07-01T02:30:00Z",
	}
	if diff := cmp.Diff(want, all[:min(len(all), len(want))]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAHaltedRolloutEndsTheWatchWithItsReason(t *testing.T) {
	c := hub(t, policy(), rollout(), upgrade())
	_, err := watching(t, c, live.Options{UntilDone: true}, func(line string) {
		if strings.Contains(line, "wave ") && strings.Contains(line, "Progressing") {
			change(t, c, halt)
		}
	})
	var ended *live.EndedError
	if !errors.As(err, &ended) {
		t.Fatalf("error %v, want an EndedError", err)
	}
	want := []string{"rollout k8s-1-33-7xk2p ended Halted: CanaryFailed: canary mgmt-a/shop/eu-1 failed"}
	if diff := cmp.Diff(want, ended.Rollouts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheEndOfAnOlderTargetDoesNotEndTheWatch(t *testing.T) {
	p, old := policy(), rollout()
	p.Generation = 3
	succeed(old)
	c := hub(t, p, old)
	all, err := watching(t, c, live.Options{Policy: "k8s-1-33", UntilDone: true}, func(line string) {
		// The hub sees the new target only now, and makes the next rollout.
		if strings.Contains(line, "rollout k8s-1-33-7xk2p") && strings.HasPrefix(line, "02:30:00Z") {
			<-c.all
			next := rollout()
			next.Name, next.Spec.Number, next.ResourceVersion = "k8s-1-33-next0", 2, ""
			succeed(next)
			if err := c.Create(t.Context(), next); err != nil {
				t.Error(err)
			}
			p.Status.ObservedGeneration, p.Status.Rollout = 3, next.Name
			if err := c.Status().Update(t.Context(), p); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil || !strings.Contains(strings.Join(all, "\n"), "rollout k8s-1-33-next0") {
		t.Errorf("ended (%v) before the new rollout:\n%s", err, strings.Join(all, "\n"))
	}
}

func TestWatchingAnUnknownPolicyFailsAtOnce(t *testing.T) {
	_, err := watching(t, hub(t, policy()), live.Options{Policy: "k8s-1-3"}, func(string) {})
	var unknown *report.UnknownPolicyError
	if !errors.As(err, &unknown) || !strings.Contains(err.Error(), `did you mean "k8s-1-33"?`) {
		t.Errorf("error %v, want a suggestion", err)
	}
}

func TestABrokenConnectionIsToldAndMended(t *testing.T) {
	var broken atomic.Bool
	c := hub(t, policy(), rollout())
	c.fail = func(list client.ObjectList) error {
		if _, is := list.(*fleetv1.RolloutList); is && broken.CompareAndSwap(false, true) {
			return errors.New("connection refused")
		}
		return nil
	}
	all, err := watching(t, c, live.Options{UntilDone: true}, func(line string) {
		if strings.Contains(line, "it answers again") {
			change(t, c, succeed)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, line := range all {
		if strings.Contains(line, "  hub  ") {
			told = append(told, line)
		}
	}
	want := []string{
		"02:30:00Z  -             hub                               Unreachable   trying again: connection refused",
		"02:30:00Z  -             hub                               Reachable     it answers again",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheEndOfTheContextIsNoError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out := &closing{cancel: cancel}
	if err := live.Watch(ctx, hub(t, policy(), rollout()), live.Options{Out: out, Now: now}); err != nil {
		t.Error(err)
	}
}

// closing ends a context with the first byte written.
type closing struct{ cancel context.CancelFunc }

func (c *closing) Write(p []byte) (int, error) {
	c.cancel()
	return len(p), nil
}

func TestOnATerminalWavesAndClustersAreBars(t *testing.T) {
	c := hub(t, policy(), rollout(), upgrade())
	out := &screen{seen: func(text string) bool {
		return strings.Contains(text, "wave canaries 0/1 Progressing") &&
			strings.Contains(text, "mgmt-a/shop/eu-1 cp 0/1 workers 0/0 eu-1-cp-1 (Upgrading)")
	}, then: func() { change(t, c, succeed) }}
	o := live.Options{Namespace: "fleet", Policy: "k8s-1-33", Out: out, Terminal: true, UntilDone: true, Now: now}
	if err := live.Watch(t.Context(), c, o); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"rollout k8s-1-33-7xk2p to channel=1.33-classic/stable: Progressing", "100%", "wave canaries 1/1 Succeeded",
		"Fleet report of policy k8s-1-33",
	} {
		if !strings.Contains(out.text.String(), want) {
			t.Errorf("the screen never said %q", want)
		}
	}
}

// screen keeps what is written, and acts once when it has seen enough.
type screen struct {
	text bytes.Buffer
	seen func(string) bool
	then func()
}

func (s *screen) Write(p []byte) (int, error) {
	s.text.Write(p)
	if s.then != nil && s.seen(s.text.String()) {
		s.then()
		s.then = nil
	}
	return len(p), nil
}
