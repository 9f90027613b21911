// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

func TestSettings(t *testing.T) {
	defaults := fleetv1.UpgradeSettings{
		Order: fleetv1.OrderControlPlaneFirst, MaxConcurrentMachines: 1, SingleControlPlane: fleetv1.SingleControlPlaneRefuse,
		Machine: fleetv1.MachineSettings{
			Timeout: metav1.Duration{Duration: 30 * time.Minute}, MaxAttempts: 3, Backoff: metav1.Duration{Duration: time.Minute},
		},
	}
	with := func(edit func(*fleetv1.UpgradeSettings)) fleetv1.UpgradeSettings {
		s := defaults
		edit(&s)
		return s
	}
	tests := map[string]struct {
		upgrade *fleetv1.PolicyUpgrade
		want    fleetv1.UpgradeSettings
	}{
		"nothing said is all defaults":    {want: defaults},
		"empty settings are all defaults": {upgrade: &fleetv1.PolicyUpgrade{Machine: &fleetv1.PolicyMachine{}}, want: defaults},
		"what is said is kept": {
			upgrade: &fleetv1.PolicyUpgrade{
				Order: fleetv1.OrderWorkersOnly, MaxConcurrentMachines: new(int32(4)),
				SingleControlPlane: fleetv1.SingleControlPlaneAllow,
			},
			want: with(func(s *fleetv1.UpgradeSettings) {
				s.Order, s.MaxConcurrentMachines = fleetv1.OrderWorkersOnly, 4
				s.SingleControlPlane = fleetv1.SingleControlPlaneAllow
			}),
		},
		"a machine's settings are filled in one by one": {
			upgrade: &fleetv1.PolicyUpgrade{Machine: &fleetv1.PolicyMachine{MaxAttempts: new(int32(5))}},
			want:    with(func(s *fleetv1.UpgradeSettings) { s.Machine.MaxAttempts = 5 }),
		},
		"a backoff of zero is one": {
			upgrade: &fleetv1.PolicyUpgrade{Machine: &fleetv1.PolicyMachine{Backoff: &metav1.Duration{}}},
			want:    with(func(s *fleetv1.UpgradeSettings) { s.Machine.Backoff = metav1.Duration{} }),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.upgrade.Settings()); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSettingsOfAPolicy(t *testing.T) {
	long, short := &metav1.Duration{Duration: 168 * time.Hour}, &metav1.Duration{Duration: time.Minute}
	after := metav1.NewTime(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))
	with := func(edit func(*fleetv1.UpgradeSettings)) fleetv1.UpgradeSettings {
		s := (*fleetv1.PolicyUpgrade)(nil).Settings()
		s.BeforeStart, s.DeferralMax = fleetv1.BeforeStartCatchUp, long
		edit(&s)
		return s
	}
	tests := map[string]struct {
		spec fleetv1.RolloutPolicySpec
		want fleetv1.UpgradeSettings
	}{
		"nothing said is all defaults": {want: with(func(*fleetv1.UpgradeSettings) {})},
		"empty parts are all defaults": {
			spec: fleetv1.RolloutPolicySpec{Unreachable: &fleetv1.Unreachable{}, Deferral: &fleetv1.Deferral{}},
			want: with(func(*fleetv1.UpgradeSettings) {}),
		},
		"what is said is kept": {
			spec: fleetv1.RolloutPolicySpec{
				Target:      fleetv1.Target{RefreshedAfter: &after},
				Unreachable: &fleetv1.Unreachable{BeforeStart: fleetv1.BeforeStartWait},
				Deferral:    &fleetv1.Deferral{Max: short},
				Upgrade: &fleetv1.PolicyUpgrade{
					ProgressDeadline: long, Machine: &fleetv1.PolicyMachine{Expected: short},
					SingleControlPlane: fleetv1.SingleControlPlaneAllowMarked,
				},
			},
			want: with(func(s *fleetv1.UpgradeSettings) {
				s.RefreshedAfter, s.BeforeStart, s.DeferralMax = &after, fleetv1.BeforeStartWait, short
				s.ProgressDeadline, s.Machine.Expected = long, short
				s.SingleControlPlane = fleetv1.SingleControlPlaneAllowMarked
			}),
		},
		"no wish to wait is honoured": {
			spec: fleetv1.RolloutPolicySpec{Deferral: &fleetv1.Deferral{Max: &metav1.Duration{}}},
			want: with(func(s *fleetv1.UpgradeSettings) { s.DeferralMax = &metav1.Duration{} }),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.spec.Settings()); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBound(t *testing.T) {
	long := strings.Repeat("é", fleetv1.MaxMessage)
	tests := map[string]struct{ message, want string }{
		"a short message stays":                   {"refused", "refused"},
		"one of just the length stays":            {long, long},
		"a longer one is cut, and says so":        {long + "é", strings.TrimSuffix(long, "é") + "…"},
		"what is no UTF-8 is replaced":            {"a\xffb", "a\uFFFDb"},
		"what is no UTF-8 is replaced and is cut": {long + "\xff", strings.TrimSuffix(long, "é") + "…"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, fleetv1.Bound(tc.message)); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzBound(f *testing.F) {
	f.Add("refused")
	f.Add(strings.Repeat("é", fleetv1.MaxMessage) + "\xff")
	f.Fuzz(func(t *testing.T, message string) {
		got := fleetv1.Bound(message)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > fleetv1.MaxMessage {
			t.Errorf("Bound(%q) = %q, which a status does not hold", message, got)
		}
	})
}

func TestUntilText(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 12, 1, 3, 0, 0, 0, time.FixedZone("", 3600)))
	got := []string{fleetv1.UntilText(&at), fleetv1.UntilText(nil), fleetv1.UntilText(&metav1.Time{})}
	if diff := cmp.Diff([]string{"2026-12-01T02:00:00Z", "act", "act"}, got); diff != "" {
		t.Errorf("until (-want +got):\n%s", diff)
	}
}

func TestPath(t *testing.T) {
	cluster := fleetv1.ObjectRef{Namespace: "shop", Name: "eu-1", UID: "u"}
	wc := &fleetv1.WorkloadCluster{Spec: fleetv1.WorkloadClusterSpec{ManagementCluster: "mgmt-a", Cluster: cluster}}
	cu := &fleetv1.ClusterUpgrade{Spec: fleetv1.ClusterUpgradeSpec{ManagementCluster: "mgmt-a", Cluster: cluster}}
	if diff := cmp.Diff([]string{"mgmt-a/shop/eu-1", "mgmt-a/shop/eu-1"}, []string{wc.Path(), cu.Path()}); diff != "" {
		t.Errorf("path (-want +got):\n%s", diff)
	}
}

func TestEveryKindIsInTheScheme(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := fleetv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{
		"ManagementCluster", "WorkloadCluster", "RolloutPolicy", "Rollout", "ClusterUpgrade", "MaintenanceCalendar", "Freeze", "Approval",
	} {
		for _, name := range []string{kind, kind + "List"} {
			if !scheme.Recognizes(fleetv1.GroupVersion.WithKind(name)) {
				t.Errorf("the scheme lacks %s", name)
			}
		}
	}
}
