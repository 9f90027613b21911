// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package version_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy/version"
)

func TestC126VersionsAreOrderedAsNumbersNotAsText(t *testing.T) {
	want := []string{"1.9", "1.10", "1.33.4-rc.0", "1.33.4"}
	for i, older := range want {
		for _, newer := range want[i+1:] {
			if parse(t, older).Compare(parse(t, newer)) != -1 || parse(t, newer).Compare(parse(t, older)) != 1 {
				t.Errorf("C126: %s is not older than %s", older, newer)
			}
		}
	}
	want = []string{"1.9.0", "v1.10.0", "v1.33.4-rc.0", "v1.33.4", "1.33.10", "v1.34.0-alpha.1", "v1.34.0"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, func(a, b string) int { return parse(t, a).Compare(parse(t, b)) })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if parse(t, "v1.33.4+k8s1").Compare(parse(t, "1.33.4")) != 0 {
		t.Error("build metadata counts")
	}
	if parse(t, "v1.33").Compare(parse(t, "v1.33.4")) != 0 || parse(t, "v1.31").Compare(parse(t, "v1.33.4")) != -1 {
		t.Error("an open patch is compared")
	}
}

func TestLaw3WhatCannotBeReadFitsNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		kubelet, want string
		fits          bool
	}{
		"the version itself":           {"v1.33.9", "v1.33.9", true},
		"a newer patch":                {"v1.33.10", "v1.33.9", true},
		"an older patch":               {"v1.33.8", "v1.33.9", false},
		"a pre-release of it":          {"v1.33.9-rc.1", "v1.33.9", false},
		"another minor":                {"v1.34.0", "v1.33.9", false},
		"any patch of a minor":         {"v1.33.0", "v1.33", true},
		"anything known":               {"v1.30.1", "", true},
		"an unknown kubelet":           {"", "", false},
		"an unreadable kubelet":        {"latest", "v1.33", false},
		"an unreadable want":           {"v1.33.9", "stable", false},
		"a major alone is no version":  {"v1.33.9", "v1", false},
		"another major, the same rest": {"v2.33.9", "v1.33.9", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := version.Fits(tc.kubelet, tc.want); got != tc.fits {
				t.Errorf("Fits(%q, %q) = %v", tc.kubelet, tc.want, got)
			}
		})
	}
}

func TestSameAndNewer(t *testing.T) {
	type answer struct{ Same, Newer bool }
	for name, tc := range map[string]struct {
		a, b string
		want answer
	}{
		"one version, two spellings":       {"v1.33.4+k8s1", "1.33.4", answer{Same: true}},
		"a newer one":                      {"v1.33.10", "v1.33.9", answer{Newer: true}},
		"an older one":                     {"v1.33.8", "v1.33.9", answer{}},
		"anything beats what is not known": {"v1.33.8", "", answer{Newer: true}},
		"what is not known beats nothing":  {"", "v1.33.8", answer{}},
		"two unreadable ones, alike":       {"edge", "edge", answer{Same: true}},
		"a minor is not one of its patches": {
			"v1.33", "v1.33.4", answer{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := answer{version.Same(tc.a, tc.b), version.Newer(tc.a, tc.b)}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLaw19Moves(t *testing.T) {
	all := func(versions ...string) []string { return versions }
	for name, tc := range map[string]struct {
		move  version.Move
		want  version.Refusal
		minor bool
	}{
		"a patch within the minor": {
			move: version.Move{Target: "v1.33.9", ControlPlane: all("v1.33.4"), Workers: all("v1.33.4", "v1.32.1")},
			want: version.MinorNotAllowed,
		},
		"a patch for all": {
			move: version.Move{Target: "v1.33.9", ControlPlane: all("v1.33.4"), Workers: all("v1.33.4")},
		},
		"the next minor, refused by default": {
			move: version.Move{Target: "v1.33", ControlPlane: all("v1.32.4")},
			want: version.MinorNotAllowed,
		},
		"the next minor, allowed": {
			move:  version.Move{Target: "v1.33", ControlPlane: all("v1.32.4"), AllowMinor: true},
			minor: true,
		},
		"two minors at once": {
			move: version.Move{Target: "v1.33", ControlPlane: all("v1.31.4", "v1.33.0"), AllowMinor: true},
			want: version.SkewTooWide,
		},
		"another major": {
			move: version.Move{Target: "v2.0", ControlPlane: all("v1.99.4"), AllowMinor: true},
			want: version.SkewTooWide,
		},
		"C120: an older minor by the track": {
			move: version.Move{Target: "v1.32", ControlPlane: all("v1.33.4"), Workers: all("v1.33.4")},
			want: version.Downgrade,
		},
		"C120: an older patch of the channel": {
			move: version.Move{Target: "v1.33.1", ControlPlane: all("v1.33.4"), Workers: all("v1.33.4")},
			want: version.Downgrade,
		},
		"C120: an older revision": {
			move: version.Move{Target: "v1.33.1", Exact: true, ControlPlane: all("v1.33.4"), Workers: all("v1.33.4")},
			want: version.Downgrade,
		},
		"C120: a stable release beside a newer pre-release": {
			move: version.Move{Target: "v1.33.4", ControlPlane: all("v1.34.0-rc.1"), AllowMinor: true},
			want: version.Downgrade,
		},
		"C120: a pre-release beside its own release": {
			move: version.Move{Target: "v1.33.4-rc.1", ControlPlane: all("v1.33.4")},
			want: version.Downgrade,
		},
		"C121: the next target while workers are a minor behind": {
			move:  version.Move{Target: "v1.33", ControlPlane: all("v1.32.4"), Workers: all("v1.31.9"), AllowMinor: true},
			minor: true,
		},
		"C121: the next target while the control plane is half-way": {
			move: version.Move{
				Target: "v1.33", ControlPlane: all("v1.31.9", "v1.32.4"), Workers: all("v1.31.9"), AllowMinor: true,
			},
			want: version.SkewTooWide,
		},
		"C123: workers to a version that one control plane machine has not": {
			move: version.Move{
				Target: "v1.33", ControlPlane: all("v1.33.1", "v1.32.4"), Workers: all("v1.32.4"), KeepControlPlane: true,
				AllowMinor: true,
			},
			want: version.SkewTooWide,
		},
		"C123: workers that are ahead let the control plane catch up": {
			move:  version.Move{Target: "v1.33", ControlPlane: all("v1.32.4"), Workers: all("v1.33.1"), AllowMinor: true},
			minor: true,
		},
		"an older minor": {
			move: version.Move{Target: "v1.32", ControlPlane: all("v1.33.4"), AllowMinor: true},
			want: version.Downgrade,
		},
		"workers ahead of the target": {
			move: version.Move{Target: "v1.33", ControlPlane: all("v1.33.1"), Workers: all("v1.34.0"), AllowMinor: true},
			want: version.Downgrade,
		},
		"a channel that all machines are ahead of": {
			move: version.Move{Target: "v1.33.1", ControlPlane: all("v1.33.4"), Workers: all("v1.33.5")},
			want: version.Downgrade,
		},
		"a channel, half-way": {
			move: version.Move{Target: "v1.33.9", ControlPlane: all("v1.33.10"), Workers: all("v1.33.5")},
		},
		"a channel that no machine has, and one machine is ahead of": {
			move: version.Move{
				Target: "v1.33.9", Carried: version.CarriedByNone, ControlPlane: all("v1.33.10"), Workers: all("v1.33.5"),
			},
			want: version.Downgrade,
		},
		"a channel that some machines have, half-way": {
			move: version.Move{
				Target: "v1.33.9", Carried: version.CarriedBySome, ControlPlane: all("v1.33.10"), Workers: all("v1.33.5"),
			},
		},
		"a channel that some machines have, and all are ahead of": {
			move: version.Move{
				Target: "v1.33.9", Carried: version.CarriedBySome, ControlPlane: all("v1.33.10"), Workers: all("v1.33.11"),
			},
			want: version.Downgrade,
		},
		"a channel that all machines have, and all are ahead of": {
			move: version.Move{Target: "v1.33.9", Carried: version.CarriedByAll, ControlPlane: all("v1.33.10")},
		},
		"a channel that all machines have, and one is a minor ahead of": {
			move: version.Move{
				Target: "v1.33.9", Carried: version.CarriedByAll, ControlPlane: all("v1.33.10"), Workers: all("v1.34.0"),
			},
			want: version.Downgrade,
		},
		"a revision that all machines have and are ahead of": {
			move: version.Move{Target: "v1.33.9", Exact: true, Carried: version.CarriedByAll, ControlPlane: all("v1.33.10")},
			want: version.Downgrade,
		},
		"a revision that one machine is ahead of": {
			move: version.Move{Target: "v1.33.9", Exact: true, ControlPlane: all("v1.33.10"), Workers: all("v1.33.5")},
			want: version.Downgrade,
		},
		"workers catch up with the control plane": {
			move: version.Move{
				Target: "v1.33", ControlPlane: all("v1.33.1"), Workers: all("v1.31.9"), KeepControlPlane: true, AllowMinor: true,
			},
			minor: true,
		},
		"workers would pass the control plane": {
			move: version.Move{
				Target: "v1.33", ControlPlane: all("v1.32.1"), Workers: all("v1.32.1"), KeepControlPlane: true, AllowMinor: true,
			},
			want: version.SkewTooWide,
		},
		"workers may stay three minors behind": {
			move: version.Move{
				Target: "v1.33", ControlPlane: all("v1.32.1"), Workers: all("v1.30.1"), KeepWorkers: true, AllowMinor: true,
			},
			minor: true,
		},
		"but not four": {
			move: version.Move{
				Target: "v1.33", ControlPlane: all("v1.32.1"), Workers: all("v1.29.1"), KeepWorkers: true, AllowMinor: true,
			},
			want: version.SkewTooWide,
		},
		"nor while the control plane goes first": {
			move: version.Move{Target: "v1.33", ControlPlane: all("v1.32.1"), Workers: all("v1.29.1"), AllowMinor: true},
			want: version.SkewTooWide,
		},
		"workers ahead that stay do not keep the control plane behind": {
			move: version.Move{
				Target: "v1.33", ControlPlane: all("v1.32.1"), Workers: all("v1.34.1"), KeepWorkers: true, AllowMinor: true,
			},
			minor: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.move.Check()
			if err != nil {
				t.Fatal(err)
			}
			if got.Refusal != tc.want || got.Minor != tc.minor {
				t.Errorf("got %q (%s) minor=%v, want %q minor=%v", got.Refusal, got.Message, got.Minor, tc.want, tc.minor)
			}
		})
	}
}

func TestMovesOfUnreadableVersionsAreErrors(t *testing.T) {
	for name, move := range map[string]version.Move{
		"target":        {Target: "stable", ControlPlane: []string{"v1.33.1"}},
		"control plane": {Target: "v1.33", ControlPlane: []string{"?"}},
		"workers":       {Target: "v1.33", ControlPlane: []string{"v1.33.1"}, Workers: []string{""}},
	} {
		if result, err := move.Check(); err == nil {
			t.Errorf("%s: %v", name, result)
		}
	}
}

func parse(t *testing.T, text string) version.Version {
	t.Helper()
	v, err := version.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
