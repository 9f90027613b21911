// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// errGate is what a hub that may no longer lead is told.
var errGate = errors.New("the lease is old")

// inWaves is the standing policy k8s with a wave of clusters a and b, and a wave for the rest.
func inWaves(concurrency int32) *fleetv1.RolloutPolicy {
	p := standing("k8s")
	p.Spec.Waves = []fleetv1.Wave{
		{Name: "first", Names: []string{"mgmt-a/shop/a", "mgmt-a/shop/b"}, MaxConcurrency: new(intstr.FromInt32(concurrency))},
		{Name: "rest", Rest: new(true), MaxConcurrency: new(intstr.FromInt32(concurrency))},
	}
	return p
}

// under is a hub with a policy, its Rollout, and some clusters of one member.
func under(t *testing.T, p *fleetv1.RolloutPolicy, clusters ...string) (h *hub, name string) {
	t.Helper()
	objects := []client.Object{p, member("mgmt-a", int32(len(clusters)))}
	for _, c := range clusters {
		objects = append(objects, recorded(c))
	}
	h = newHub(t, objects...)
	h.turn()
	return h, h.allRollouts()[0].Name
}

// asked are the intents that are not Wait, by the last part of a ClusterUpgrade's name.
func (h *hub) asked(rollout string) map[string]fleetv1.Intent {
	h.t.Helper()
	all := map[string]fleetv1.Intent{}
	for _, cu := range h.upgrades() {
		if cu.Spec.Rollout.Name == rollout && cu.Spec.Intent != fleetv1.IntentWait {
			all[cu.Name[len(rollout)+1:]] = cu.Spec.Intent
		}
	}
	return all
}

// TestC050_ALimitHoldsWhateverTheCacheShows: ten clusters that are eligible at once, a cache that is held back and let go at
// random, hubs that are started again, members that finish: never more than two in flight.
func TestC050_ALimitHoldsWhateverTheCacheShows(t *testing.T) {
	const runs, looks, limit = 12, 24, 2
	for seed := range uint64(runs) {
		random := rand.New(rand.NewPCG(seed, 50))
		p := standing("k8s")
		p.Spec.Waves[0].MaxConcurrency = new(intstr.FromInt32(limit))
		var clusters []string
		for i := range 10 {
			clusters = append(clusters, fmt.Sprintf("c%d", i))
		}
		h, name := under(t, p, clusters...)
		for range looks {
			switch random.IntN(5) {
			case 0:
				h.hold()
			case 1:
				h.release()
			case 2:
				h.restart()
			case 3:
				h.finishOne(random)
			}
			if _, err := h.look(name); err != nil {
				t.Fatal(err)
			}
			if n := h.inFlight(); n > limit {
				t.Fatalf("seed %d: %d clusters are in flight", seed, n)
			}
		}
	}
}

// inFlight counts the clusters that run and are not through.
func (h *hub) inFlight() int {
	h.t.Helper()
	n := 0
	for _, cu := range h.upgrades() {
		if cu.Spec.Intent == fleetv1.IntentRun && cu.Status.Phase != fleetv1.UpgradeSucceeded {
			n++
		}
	}
	return n
}

// finishOne lets one of the clusters in flight succeed.
func (h *hub) finishOne(random *rand.Rand) {
	h.t.Helper()
	var running []string
	for _, cu := range h.upgrades() {
		if cu.Spec.Intent == fleetv1.IntentRun && cu.Status.Phase != fleetv1.UpgradeSucceeded {
			running = append(running, cu.Name)
		}
	}
	if len(running) > 0 {
		h.succeed(running[random.IntN(len(running))])
	}
}

// TestC128_ACacheThatIsBehindDelaysAndRepeatsNothing: no second start, no second write of a status, no second event.
func TestC128_ACacheThatIsBehindDelaysAndRepeatsNothing(t *testing.T) {
	h, name := within(t, "2026-11-30T01:00:00Z", bound("nights"), calendar("nights", "0 2 * * *", 4*time.Hour))
	h.settle(name)
	h.at("2026-11-30T07:00:00Z")
	h.hold()
	h.settle(name)
	first := &fleetv1.Rollout{}
	h.get(name, first)
	for range 5 {
		if result, err := h.look(name); err != nil || result.RequeueAfter != time.Second {
			t.Fatalf("again after %s, %v", result.RequeueAfter, err)
		}
	}
	again := &fleetv1.Rollout{}
	h.get(name, again)
	if told := h.told(); len(told) != 1 || first.ResourceVersion != again.ResourceVersion || h.running() != 0 {
		t.Errorf("%d run, told %q, status %s then %s", h.running(), told, first.ResourceVersion, again.ResourceVersion)
	}
}

// TestC053_TheNextWaveBeginsAfterARestart, though nobody tells of what happened meanwhile.
func TestC053_TheNextWaveBeginsAfterARestart(t *testing.T) {
	h, name := under(t, inWaves(2), "a", "b", "c")
	h.settle(name)
	if diff := cmp.Diff(map[string]fleetv1.Intent{"a": "Run", "b": "Run"}, h.asked(name)); diff != "" {
		t.Fatalf("the first wave (-want +got):\n%s", diff)
	}
	h.succeed(name + "-a")
	h.succeed(name + "-b")
	h.restart()
	if _, err := h.look(name); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]fleetv1.Intent{"a": "Run", "b": "Run", "c": "Run"}, h.asked(name)); diff != "" {
		t.Errorf("after the first look (-want +got):\n%s", diff)
	}
	if w := h.status(name).Waves; w[0].ClosedAt == nil || w[1].ClosedAt != nil {
		t.Errorf("closed: %s, %s", w[0].ClosedAt, w[1].ClosedAt)
	}
}

// TestLaw15_AWaveIsClosedBeforeTheNextBegins: the write that closes it comes first, so that a cluster that comes back
// never opens it again.
func TestLaw15_AWaveIsClosedBeforeTheNextBegins(t *testing.T) {
	h, name := under(t, inWaves(2), "a", "b", "c")
	h.settle(name)
	h.succeed(name + "-a")
	h.say(name+"-b", func(s *fleetv1.ClusterUpgradeStatus) { s.Phase, s.Reason = fleetv1.UpgradeDeferred, "ClusterPaused" })
	h.settle(name)
	h.gate = errGate
	h.say(name+"-b", func(s *fleetv1.ClusterUpgradeStatus) { s.Phase, s.Reason = fleetv1.UpgradePending, "" })
	_, _ = h.look(name)
	s := h.status(name)
	if s.Waves[0].ClosedAt == nil || s.Wave != "rest" {
		t.Errorf("wave %s, the first closed at %s", s.Wave, s.Waves[0].ClosedAt)
	}
}

// TestC062_WhoJoinsOrLeavesDoesNotStopTheRun: d comes with the labels of the wave, c is deleted.
func TestC062_WhoJoinsOrLeavesDoesNotStopTheRun(t *testing.T) {
	h, name := under(t, standing("k8s"), "a", "b", "c")
	h.settle(name)
	h.succeed(name + "-a")
	h.settle(name)
	h.begin(name + "-b")
	committed := h.plan(name)
	if err := h.live.Create(t.Context(), recorded("d")); err != nil {
		t.Fatal(err)
	}
	h.remove("c")
	h.say(name+"-c", func(s *fleetv1.ClusterUpgradeStatus) { s.Phase = fleetv1.UpgradeRemoved })
	h.settle(name)
	d := &fleetv1.ClusterUpgrade{}
	h.get(name+"-d", d)
	if d.Spec.Wave != "catch-up" || d.Spec.Position != 4 || d.Spec.Intent != fleetv1.IntentWait {
		t.Errorf("d: wave %s, position %d, %s", d.Spec.Wave, d.Spec.Position, d.Spec.Intent)
	}
	if s := h.status(name); s.Phase != fleetv1.RolloutProgressing || s.Wave != "rest" {
		t.Errorf("while b is in flight: %s, wave %s", s.Phase, s.Wave)
	}
	h.succeed(name + "-b")
	h.settle(name)
	s := h.status(name)
	if s.Phase != fleetv1.RolloutCatchingUp || s.Waves[0].ClosedAt == nil || h.asked(name)["d"] != fleetv1.IntentRun {
		t.Errorf("once a and b are through: %s, closed at %s, %v", s.Phase, s.Waves[0].ClosedAt, h.asked(name))
	}
	if diff := cmp.Diff(committed, h.plan(name)); diff != "" || s.Waves[0].Planned != 3 {
		t.Errorf("the plan (-committed +later):\n%s", diff)
	}
	h.succeed(name + "-d")
	h.settle(name)
	if s = h.status(name); s.Phase != fleetv1.RolloutSucceeded || s.Progress != "3/4" {
		t.Errorf("at the end: %s, %s", s.Phase, s.Progress)
	}
	if err := h.live.Create(t.Context(), recorded("e")); err != nil {
		t.Fatal(err)
	}
	h.settle(name)
	if s = h.status(name); s.Phase != fleetv1.RolloutCatchingUp || h.asked(name)["e"] != fleetv1.IntentRun || s.EndedAt != nil {
		t.Errorf("one that joins after the end: %s, ended at %s, %v", s.Phase, s.EndedAt, h.asked(name))
	}
}

// heldFor is why a ClusterUpgrade is held, as it is told.
func (h *hub) heldFor(name string) *fleetv1.Waiting {
	h.t.Helper()
	cu := &fleetv1.ClusterUpgrade{}
	h.get(name, cu)
	return cu.Spec.Hold
}

// TestAFreezeOfTheHubsNamespaceStopsEveryPolicy at a machine boundary, and its removal lets it go on (law 22).
func TestAFreezeOfTheHubsNamespaceStopsEveryPolicy(t *testing.T) {
	h, name := started(t)
	h.begin(name + "-a")
	freeze := &fleetv1.Freeze{
		ObjectMeta: metav1.ObjectMeta{Namespace: "windlass-system", Name: "incident"},
		Spec:       fleetv1.FreezeSpec{Scope: fleetv1.FreezeScope{All: new(true)}, Reason: "INC0042", By: "jane"},
	}
	elsewhere := freeze.DeepCopy()
	elsewhere.Namespace = "another"
	if err := h.live.Create(t.Context(), elsewhere); err != nil {
		t.Fatal(err)
	}
	h.settle(name)
	if h.running() != 1 {
		t.Fatal("a Freeze of another namespace stops it")
	}
	if err := h.live.Create(t.Context(), freeze); err != nil {
		t.Fatal(err)
	}
	h.settle(name)
	if s := h.status(name); h.running() != 0 || h.holding() != 1 || s.Waiting == nil || s.Waiting.Reason != "Frozen" {
		t.Errorf("%d run, %d hold, waiting %+v", h.running(), h.holding(), s.Waiting)
	}
	if why := h.heldFor(name + "-a"); why == nil || why.Reason != "Frozen" || !strings.Contains(why.Message, "INC0042") {
		t.Errorf("its ClusterUpgrade is told %+v", why)
	}
	for _, paused := range []bool{true, false} { // what it is told follows the reason, though it is held all the while
		h.policy(func(s *fleetv1.RolloutPolicySpec) { s.Paused = paused })
		h.settle(name)
		want := map[bool]string{true: "Paused", false: "Frozen"}[paused]
		if why := h.heldFor(name + "-a"); h.holding() != 1 || why == nil || why.Reason != want {
			t.Errorf("paused %v: %d hold, it is told %+v", paused, h.holding(), why)
		}
	}
	if err := h.live.Delete(t.Context(), freeze); err != nil {
		t.Fatal(err)
	}
	h.settle(name)
	if h.running() != 1 {
		t.Errorf("%d run when it is gone", h.running())
	}
	if why := h.heldFor(name + "-a"); why != nil {
		t.Errorf("it runs and is told %+v", why)
	}
}

// TestAnApprovalOpensItsGate: of the digest that the Rollout shows, by an author for whom the API server vouches.
func TestAnApprovalOpensItsGate(t *testing.T) {
	p := standing("k8s")
	p.Spec.Waves[0].Approval = &fleetv1.ApprovalGate{Count: 1}
	h, name := under(t, p, "a", "b")
	h.vouched = false
	h.settle(name)
	s := h.status(name)
	if s.Phase != fleetv1.RolloutAwaitingApproval || s.Digest == "" || s.Settings == "" || h.running() != 0 {
		t.Fatalf("%s, digest %q, %d run", s.Phase, s.Digest, h.running())
	}
	approve := func(name, digest string) {
		a := &fleetv1.Approval{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Spec: fleetv1.ApprovalSpec{
				Rollout: h.allRollouts()[0].Name, Wave: "rest", PlanDigest: digest, Decision: fleetv1.DecisionApproved, By: "jane",
			},
		}
		if err := h.live.Create(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	approve("fine", s.Digest)
	h.settle(name)
	if h.running() != 0 {
		t.Error("an Approval counts for whose author nobody vouches")
	}
	h.vouched, h.silent = true, errGate
	h.settle(name)
	if h.running() != 0 {
		t.Error("an Approval counts though it cannot be told whether anybody vouches for its author")
	}
	if result, err := h.look(name); err != nil || result.RequeueAfter == 0 || result.RequeueAfter > time.Second {
		t.Errorf("it is asked again after %s: %v", result.RequeueAfter, err)
	}
	h.silent = nil
	h.settle(name)
	s = h.status(name)
	want := &fleetv1.WaveApprovals{Needed: 1, Given: 1, By: []string{"jane"}}
	if diff := cmp.Diff(want, s.Waves[0].Approvals); diff != "" || h.running() != 1 || s.Phase != fleetv1.RolloutProgressing {
		t.Errorf("%s, %d run (-want +got):\n%s", s.Phase, h.running(), diff)
	}
}
