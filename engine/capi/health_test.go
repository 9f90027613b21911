// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package capi_test

import (
	"strings"
	"testing"

	"github.com/windlass-dev/windlass/engine/capi"
)

func machine(change func(*capi.Machine)) capi.Machine {
	m := capi.Machine{
		NodeName: "n1", NodeReady: capi.True, NodeHealthy: capi.True, HealthCheck: capi.True, KubeletVersion: "v1.33.9",
	}
	m.Name = "m1"
	change(&m)
	return m
}

// TestMachineHealth: what is not reported is Unknown, and only True is good (law 3).
func TestMachineHealth(t *testing.T) {
	cases := map[string]struct {
		change func(*capi.Machine)
		want   capi.Status
	}{
		"all is reported and well": {func(*capi.Machine) {}, capi.True},
		"no health check exists":   {func(m *capi.Machine) { m.HealthCheck = capi.Unknown }, capi.True},
		"being deleted":            {func(m *capi.Machine) { m.Deleting = true }, capi.False},
		"being deleted without a node": {
			func(m *capi.Machine) { m.Deleting, m.NodeName = true, "" }, capi.False,
		},
		"no node yet":                     {func(m *capi.Machine) { m.NodeName = "" }, capi.Unknown},
		"the health check fails":          {func(m *capi.Machine) { m.HealthCheck = capi.False }, capi.False},
		"the node is not ready":           {func(m *capi.Machine) { m.NodeReady = capi.False }, capi.False},
		"the node is not healthy":         {func(m *capi.Machine) { m.NodeHealthy = capi.False }, capi.False},
		"the node's readiness is unknown": {func(m *capi.Machine) { m.NodeReady = capi.Unknown }, capi.Unknown},
		"the node's health is not known":  {func(m *capi.Machine) { m.NodeHealthy = capi.Unknown }, capi.Unknown},
		"False weighs more than what is unknown": {
			func(m *capi.Machine) { m.NodeReady, m.NodeHealthy = capi.Unknown, capi.False }, capi.False,
		},
		"nothing is reported": {func(m *capi.Machine) { *m = capi.Machine{} }, capi.Unknown},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { check(t, machine(c.change).Health(), c.want) })
	}
}

func TestControlPlaneHealth(t *testing.T) {
	cases := map[string]struct {
		c    capi.ControlPlane
		want capi.Status
	}{
		"all replicas are ready": {
			capi.ControlPlane{Replicas: new(int32(3)), StatusReplicas: 3, ReadyReplicas: 3, Available: capi.True}, capi.True,
		},
		"availability is not served": {
			capi.ControlPlane{Replicas: new(int32(3)), StatusReplicas: 3, ReadyReplicas: 3}, capi.True,
		},
		"not available": {
			capi.ControlPlane{Replicas: new(int32(3)), StatusReplicas: 3, ReadyReplicas: 3, Available: capi.False},
			capi.False,
		},
		"one is not ready": {
			capi.ControlPlane{Replicas: new(int32(3)), StatusReplicas: 3, ReadyReplicas: 2, Available: capi.True}, capi.False,
		},
		"one is missing": {
			capi.ControlPlane{Replicas: new(int32(3)), StatusReplicas: 2, ReadyReplicas: 2, Available: capi.True}, capi.False,
		},
		"one too many": {
			capi.ControlPlane{Replicas: new(int32(3)), StatusReplicas: 4, ReadyReplicas: 3, Available: capi.True}, capi.False,
		},
		"being deleted": {
			capi.ControlPlane{
				Meta: capi.Meta{Deleting: true}, Replicas: new(int32(1)), StatusReplicas: 1, ReadyReplicas: 1,
			}, capi.False,
		},
		"nothing is reported": {capi.ControlPlane{}, capi.Unknown},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { check(t, c.c.Health(), c.want) })
	}
}

func TestClusterHealth(t *testing.T) {
	cases := map[string]struct {
		c    capi.Cluster
		want capi.Status
	}{
		"connected":                    {capi.Cluster{Connected: capi.True}, capi.True},
		"the connection is not served": {capi.Cluster{}, capi.True},
		"not connected":                {capi.Cluster{Connected: capi.False}, capi.False},
		"being deleted":                {capi.Cluster{Meta: capi.Meta{Deleting: true}, Connected: capi.True}, capi.False},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { check(t, c.c.Health(), c.want) })
	}
}

func check(t *testing.T, got capi.Verdict, want capi.Status) {
	t.Helper()
	if got.Status != want {
		t.Errorf("judged %q (%s), want %q", got.Status, got.Message, want)
	}
	if got.Good() != (want == capi.True) {
		t.Errorf("%q is good: %t", want, got.Good())
	}
	if (got.Message == "") != (want == capi.True) {
		t.Errorf("%q with message %q", got.Status, got.Message)
	}
}

// TestProven: success is the proof for this target (law 3): release, kubelet and health.
func TestProven(t *testing.T) {
	const target = "channel=1.33-classic/stable"
	cases := map[string]struct {
		release string
		want    capi.Want
		change  func(*capi.Machine)
		status  capi.Status
		says    string
	}{
		"release, kubelet and health": {
			target, capi.Want{Target: target, Version: "v1.33.9"}, func(*capi.Machine) {}, capi.True, "",
		},
		"a newer patch": {
			target, capi.Want{Target: target, Version: "v1.33.2"}, func(*capi.Machine) {}, capi.True, "",
		},
		"the right release and an older kubelet is not done": {
			target, capi.Want{Target: target, Version: "v1.33.10"}, func(*capi.Machine) {}, capi.False, "kubelet",
		},
		"another release": {
			"channel=1.33-classic/edge",
			capi.Want{Target: target, Version: "v1.33"},
			func(*capi.Machine) {}, capi.False,
			`release "channel=1.33-classic/edge"`,
		},
		"no release, though the kubelet fits": {
			"", capi.Want{Target: target, Version: "v1.33"}, func(*capi.Machine) {}, capi.False, `release ""`,
		},
		"a kubelet that is not reported": {
			target,
			capi.Want{Target: target, Version: "v1.33"},
			func(m *capi.Machine) { m.KubeletVersion = "" }, capi.False,
			"kubelet",
		},
		"a kubelet that is not reported, and any is wanted": {
			target, capi.Want{Target: target}, func(m *capi.Machine) { m.KubeletVersion = "" }, capi.False, "kubelet",
		},
		"not healthy": {
			target,
			capi.Want{Target: target, Version: "v1.33"},
			func(m *capi.Machine) { m.NodeHealthy = capi.False },
			capi.False, "not healthy",
		},
		"health is not known": {
			target,
			capi.Want{Target: target, Version: "v1.33"},
			func(m *capi.Machine) { m.NodeReady = capi.Unknown },
			capi.Unknown, "not known",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := machine(c.change).Proven(c.release, c.want)
			check(t, got, c.status)
			if !strings.Contains(got.Message, c.says) {
				t.Errorf("it does not say %q: %s", c.says, got.Message)
			}
		})
	}
}

func TestFits(t *testing.T) {
	cases := map[string]struct {
		kubelet, want string
		fits          bool
	}{
		"the same":                        {"v1.33.9", "v1.33.9", true},
		"a newer patch":                   {"v1.33.10", "v1.33.9", true},
		"an older patch":                  {"v1.33.8", "v1.33.9", false},
		"a newer minor is another":        {"v1.34.0", "v1.33.9", false},
		"an older minor":                  {"v1.32.12", "v1.33.0", false},
		"another major":                   {"v2.33.9", "v1.33.9", false},
		"only a minor takes any patch":    {"v1.33.0", "v1.33", true},
		"only a minor is not the next":    {"v1.34.0", "v1.33", false},
		"a build's suffix does not count": {"v1.33.9-canonical+abc", "v1.33.9", true},
		"without a v":                     {"1.33.9", "v1.33.9", true},
		"any version that is known":       {"v1.33.9", "", true},
		"any version, but none is known":  {"", "", false},
		"not known":                       {"", "v1.33", false},
		"not readable":                    {"latest", "v1.33", false},
		"a wish that is not readable":     {"v1.33.9", "stable", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := capi.Fits(c.kubelet, c.want); got != c.fits {
				t.Errorf("%q fits %q: %t", c.kubelet, c.want, got)
			}
		})
	}
}

func TestOnlyMinor(t *testing.T) {
	for text, want := range map[string]bool{
		"v1.33": true, "1.33": true, "v1.33.0": false, "v1.33.9": false, "v1": false, "": false, "latest": false,
	} {
		if got := capi.OnlyMinor(text); got != want {
			t.Errorf("%q names only a minor: %t", text, got)
		}
	}
}
