// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package version_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-dev/windlass/policy/version"
)

func TestC122EveryMinorOnTheWayIsAStation(t *testing.T) {
	for name, tc := range map[string]struct {
		from, to string
		want     []string
	}{
		"C122: three minors behind":      {"v1.30.4", "v1.33", []string{"v1.31", "v1.32", "v1.33"}},
		"the patch of the target is not": {"1.31.0", "v1.33.9", []string{"v1.32", "v1.33"}},
		"the next minor":                 {"v1.32.4+k8s1", "v1.33.0-rc.1", []string{"v1.33"}},
		"numbers, not digits":            {"v1.9", "v1.11", []string{"v1.10", "v1.11"}},
		"within a minor":                 {"v1.33.1", "v1.33.9", nil},
		"downwards":                      {"v1.34.1", "v1.33.9", nil},
		"another major":                  {"v1.33.1", "v2.1", nil},
		"another major, a minor away":    {"v1.999.1", "v2.0", nil},
		"nothing that was read right":    {"v1.1", "v1.999", nil},
		"the longest way":                {"v1.49", "v1.99", minors(50, 99)},
		"an unreadable start":            {"?", "v1.33", nil},
		"an unreadable target":           {"v1.33", "latest/edge", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, version.Stations(tc.from, tc.to)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func minors(first, last int) []string {
	var all []string
	for minor := first; minor <= last; minor++ {
		all = append(all, fmt.Sprintf("v1.%d", minor))
	}
	return all
}

// Who follows the stations is never refused on the way, and who leaves one out is.
func TestC122StationsAreMovesThatAreAllowed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.IntRange(20, 40).Draw(t, "from")
		stations := version.Stations(fmt.Sprintf("v1.%d.7", from), fmt.Sprintf("v1.%d", from+rapid.IntRange(2, 9).Draw(t, "far")))
		at := fmt.Sprintf("v1.%d.7", from)
		for i, station := range stations {
			move := func(to string) version.Refusal {
				all := []string{at}
				result, err := version.Move{Target: to, ControlPlane: all, Workers: all, AllowMinor: true}.Check()
				if err != nil {
					t.Fatal(err)
				}
				return result.Refusal
			}
			if refusal := move(station); refusal != version.Allowed {
				t.Fatalf("from %s to its station %s: %s", at, station, refusal)
			}
			if i+1 < len(stations) && move(stations[i+1]) != version.SkewTooWide {
				t.Fatalf("from %s to %s, past %s, is allowed", at, stations[i+1], station)
			}
			at = station + ".1"
		}
	})
}

func TestC122ARefusalNamesTheWay(t *testing.T) {
	all := func(versions ...string) []string { return versions }
	for name, tc := range map[string]struct {
		move version.Move
		says string
	}{
		"C122: three minors behind": {
			version.Move{Target: "v1.33", ControlPlane: all("v1.30.4"), Workers: all("v1.30.4")},
			"the control plane at v1.30.4 would jump a minor on its way to v1.33; needed are v1.31, v1.32, then v1.33: " +
				"one rollout each",
		},
		"half-way to a station": {
			version.Move{Target: "v1.33.9", ControlPlane: all("v1.32.1", "v1.31.9"), Workers: all("v1.31.9")},
			"on its way to v1.33.9; needed are v1.32, then v1.33: one rollout each",
		},
		"workers too old for the first station": {
			version.Move{Target: "v1.33", ControlPlane: all("v1.31.2"), Workers: all("v1.28.0", "v1.31.2")},
			"; needed are v1.31, v1.32, then v1.33: one rollout each",
		},
		"workers old enough for the first station": {
			version.Move{Target: "v1.33", ControlPlane: all("v1.31.2"), Workers: all("v1.29.0")},
			"; needed are v1.32, then v1.33: one rollout each",
		},
		"only workers are too old": {
			version.Move{Target: "v1.33", ControlPlane: all("v1.32.2"), Workers: all("v1.29.0")},
			"workers at v1.29.0 would be more than 3 minors older than the control plane at v1.33; needed are v1.32, then " +
				"v1.33: one rollout each",
		},
		"workers that stay are too old": {
			version.Move{Target: "v1.33", ControlPlane: all("v1.32.2"), Workers: all("v1.29.0"), KeepWorkers: true},
			"; needed before it is a rollout to v1.32 with order: WorkersOnly",
		},
		"workers are too old already": {
			version.Move{Target: "v1.33", ControlPlane: all("v1.33.2"), Workers: all("v1.29.0")},
			"; needed is order: WorkersOnly",
		},
		"no control plane that is known": {
			version.Move{Target: "v1.33", Workers: all("v1.29.0")},
			"workers at v1.29.0 would be more than 3 minors older than the control plane at v1.33",
		},
		"C123: workers before their control plane": {
			version.Move{
				Target: "v1.33", ControlPlane: all("v1.33.1", "v1.32.9"), Workers: all("v1.32.9"), KeepControlPlane: true,
			},
			"workers at v1.33 would be newer than the control plane at v1.32.9: that goes first",
		},
		"another major has no stations": {
			version.Move{Target: "v2.1", ControlPlane: all("v1.33.2")},
			"the control plane at v1.33.2 would jump a minor on its way to v2.1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.move.AllowMinor = true
			got, err := tc.move.Check()
			if err != nil {
				t.Fatal(err)
			}
			if got.Refusal != version.SkewTooWide || !strings.HasSuffix(got.Message, tc.says) {
				t.Errorf("%s: %s\nwant SkewTooWide: %s", got.Refusal, got.Message, tc.says)
			}
		})
	}
}

// The way that a refusal names can be gone: each rollout that it asks for is allowed when its turn comes.
func TestC122TheWayThatIsNamedIsAllowed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cp, lag := rapid.IntRange(25, 35).Draw(t, "control plane"), rapid.IntRange(0, 3).Draw(t, "lag")
		controlPlane, workers := fmt.Sprintf("v1.%d.3", cp), fmt.Sprintf("v1.%d.3", cp-lag)
		check := func(target string) version.Result {
			result, err := version.Move{
				Target: target, ControlPlane: []string{controlPlane}, Workers: []string{workers}, AllowMinor: true,
			}.Check()
			if err != nil {
				t.Fatal(err)
			}
			return result
		}
		result := check(fmt.Sprintf("v1.%d", cp+rapid.IntRange(1, 5).Draw(t, "far")))
		if result.Refusal == version.Allowed {
			return
		}
		_, way, found := strings.Cut(result.Message, "; needed are ")
		if !found {
			t.Fatalf("it names no way: %s", result.Message)
		}
		way, _, _ = strings.Cut(way, ": one rollout each")
		for station := range strings.SplitSeq(strings.ReplaceAll(way, "then ", ""), ", ") {
			if result := check(station); result.Refusal != version.Allowed {
				t.Fatalf("%s of the way %q: %s", station, way, result.Message)
			}
			controlPlane, workers = station+".3", station+".3"
		}
	})
}

func TestC123WorkersAheadAreSaidAndKeepNobodyBehind(t *testing.T) {
	move := version.Move{
		Target: "v1.33", ControlPlane: []string{"v1.32.4"}, Workers: []string{"v1.32.4", "v1.33.1"}, AllowMinor: true,
	}
	got, err := move.Check()
	if err != nil {
		t.Fatal(err)
	}
	want := version.Result{
		Minor: true, Skew: "has workers at v1.33.1, which are newer than the control plane at v1.32.4",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	move.Workers = []string{"v1.32.9"}
	if got, err := move.Check(); err != nil || got.Skew != "" {
		t.Errorf("a newer patch of the same minor is a skew: %q (%v)", got.Skew, err)
	}
}
