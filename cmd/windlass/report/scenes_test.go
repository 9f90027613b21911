// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-dev/windlass/cmd/windlass/report"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// happyEnd: four clusters, all proven.
func happyEnd() report.Input {
	done := func(name string, canary bool, n int32) fleetv1.WaveStatus {
		return fleetv1.WaveStatus{
			Name: name, Canary: canary, Phase: fleetv1.WaveSucceeded, Planned: n, Succeeded: n, MaxConcurrency: 1,
			StartedAt: ago(time.Hour), CompletedAt: ago(10 * time.Minute),
		}
	}
	return world(fleetv1.RolloutStatus{
		Phase: fleetv1.RolloutSucceeded, Progress: "4/4", Done: 4, EndedAt: ago(10 * time.Minute),
		Waves:  []fleetv1.WaveStatus{done("canaries", true, 1), done("early", false, 1), done("rest", false, 2)},
		Proven: []fleetv1.ProvenVersion{{Architecture: "amd64", Version: newKubelet}},
		Conditions: []metav1.Condition{{
			Type: fleetv1.ReadyCondition, Status: metav1.ConditionTrue, Reason: "Succeeded",
			Message: "4 of 4 clusters succeeded", LastTransitionTime: *ago(10 * time.Minute),
		}},
	}, metav1.ConditionTrue,
		succeeded("mgmt-a", "eu-1", "canaries", 1), succeeded("mgmt-b", "us-1", "early", 2),
		succeeded("mgmt-a", "eu-2", "rest", 3), succeeded("mgmt-b", "us-2", "rest", 4))
}

// canaryHalted: the second machine of the canary failed three times.
func canaryHalted() report.Input {
	const said = "Download snap \"k8s\" (640) from channel \"1.33-classic/stable\": connection refused"
	canary := tenant{
		member: "mgmt-a", name: "eu-1", wave: "canaries", position: 1, done: 1,
		status: fleetv1.ClusterUpgradeStatus{
			Phase: fleetv1.UpgradeFailed, Reason: "MachineQuarantined", Message: "eu-1-cp-2 failed 3 of 3 attempts",
			Since: ago(58 * time.Minute), Until: fleetv1.UntilAct, CurrentMachine: "eu-1-cp-2", LastError: said,
			Attempts: 3, MaxAttempts: 3, StartedAt: ago(90 * time.Minute), EndedAt: ago(58 * time.Minute),
		},
		states: map[int]fleetv1.MachineProgress{1: {
			State: "Idle", Attempts: 3, LastError: said, StartedAt: ago(80 * time.Minute), EndedAt: ago(58 * time.Minute),
		}},
	}
	why := &fleetv1.Waiting{
		Reason: "CanaryFailed", Since: ago(58 * time.Minute),
		Message: "canary mgmt-a/shop/eu-1 failed: eu-1-cp-2 failed 3 of 3 attempts; 3 other clusters were not touched",
	}
	return world(fleetv1.RolloutStatus{
		Phase: fleetv1.RolloutHalted, Wave: "canaries", Progress: "0/4", Failed: 1, Waiting: why, Until: fleetv1.UntilAct,
		Waves: []fleetv1.WaveStatus{
			{Name: "canaries", Canary: true, Phase: fleetv1.WaveHalted, Planned: 1, Failed: 1, MaxConcurrency: 1, Waiting: why},
			{Name: "early", Phase: fleetv1.WaveWaiting, Planned: 1, Pending: 1, MaxConcurrency: 1},
			{Name: "rest", Phase: fleetv1.WaveWaiting, Planned: 2, Pending: 2, MaxConcurrency: 2, MaxFailures: 1},
		},
	}, metav1.ConditionTrue,
		canary, pending("mgmt-b", "us-1", "early", 2), pending("mgmt-a", "eu-2", "rest", 3),
		pending("mgmt-b", "us-2", "rest", 4))
}

// midWay: the canary is through, one cluster is at work, one waits for a claim, others for their turn.
func midWay() report.Input {
	working := tenant{
		member: "mgmt-b", name: "us-1", wave: "early", position: 2, done: 3,
		status: fleetv1.ClusterUpgradeStatus{
			Phase: fleetv1.UpgradeProgressing, Reason: "Upgrading", Message: "us-1-md-1 is being refreshed",
			Since: ago(3 * time.Minute), CurrentMachine: "us-1-md-1", Attempts: 2, MaxAttempts: 3, StartedAt: ago(time.Hour),
		},
		states: map[int]fleetv1.MachineProgress{
			3: {State: "InProgress", Attempts: 2, LastError: "snap is busy", StartedAt: ago(3 * time.Minute)},
		},
	}
	claimed := pending("mgmt-a", "eu-2", "early", 3)
	claimed.status = fleetv1.ClusterUpgradeStatus{
		Phase: fleetv1.UpgradePending, Reason: "ClaimedByOther", Message: "hub-x/fleet/security-now drives it",
		Since: ago(30 * time.Minute), Until: "2026-07-01T02:31:00Z",
	}
	why := &fleetv1.Waiting{
		Reason: "MaxConcurrency", Message: "1 of 1 clusters of wave early are in flight", Since: ago(50 * time.Minute),
	}
	return world(fleetv1.RolloutStatus{
		Phase: fleetv1.RolloutProgressing, Wave: "early", Progress: "1/4", Done: 1, Active: 1, Waiting: why,
		Proven: []fleetv1.ProvenVersion{{Architecture: "amd64", Version: newKubelet}},
		Waves: []fleetv1.WaveStatus{
			{Name: "canaries", Canary: true, Phase: fleetv1.WaveSucceeded, Planned: 1, Succeeded: 1, MaxConcurrency: 1},
			{Name: "early", Phase: fleetv1.WaveProgressing, Planned: 2, Active: 1, Pending: 1, MaxConcurrency: 1, Waiting: why},
			{Name: "rest", Phase: fleetv1.WaveWaiting, Planned: 1, Pending: 1, MaxConcurrency: 1, Waiting: &fleetv1.Waiting{
				Reason: "WaitingForWave", Message: "wave early is not complete", Since: ago(2 * time.Hour),
			}},
		},
	}, metav1.ConditionTrue,
		succeeded("mgmt-a", "eu-1", "canaries", 1), working, claimed, pending("mgmt-b", "us-2", "rest", 4))
}

// silentMember: as midWay, and mgmt-b, where a cluster is in flight, no longer answers.
func silentMember() report.Input {
	in := midWay()
	in.ManagementClusters[0] = member("mgmt-b", metav1.ConditionFalse)
	for i := range in.ClusterUpgrades {
		cu := &in.ClusterUpgrades[i]
		if cu.Spec.ManagementCluster == "mgmt-b" && cu.Status.Phase == fleetv1.UpgradeProgressing {
			cu.Status.Phase, cu.Status.Reason, cu.Status.Since = fleetv1.UpgradeHolding, "MemberUnreachable", ago(40*time.Minute)
			cu.Status.Message = "mgmt-b does not answer: dial tcp 10.0.0.7:6443: i/o timeout"
		}
	}
	return in
}

// overview is the same fleet without a policy in mind, with a cluster that no policy selects.
func overview() report.Input {
	in := midWay()
	in.Policy = ""
	in.WorkloadClusters = append(in.WorkloadClusters, tenant{member: "mgmt-b", name: "lab"}.recorded())
	return in
}

// scenes by name.
func scenes() map[string]report.Input {
	return map[string]report.Input{
		"happy-end": happyEnd(), "canary-halted": canaryHalted(), "mid-way": midWay(), "silent-member": silentMember(),
		"overview": overview(), "nothing-there": {Namespace: "fleet"},
	}
}
