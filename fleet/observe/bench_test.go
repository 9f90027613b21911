// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/observe"
)

// BenchmarkFleet10k turns the hub's objects of a rollout of 10,000 clusters into values, with a calendar of 12 zones, a
// limit by label and a Freeze by label.
func BenchmarkFleet10k(b *testing.B) {
	var clusters []*fleetv1.WorkloadCluster
	for i := range 10_000 {
		wc := seen(fmt.Sprintf("mgmt-a/shop/c%05d", i))
		wc.UID = types.UID(wc.Name)
		wc.Labels["site"], wc.Status.TimeZone = fmt.Sprint("site-", i%100), zones[i%len(zones)]
		clusters = append(clusters, wc)
	}
	nights := calendar("nights", "0 2 * * *", 4*time.Hour, perCluster)
	bound := calendar("bound", "0 0 * * 6", 48*time.Hour, binds(selector("site", "site-7")))
	h := hubOf(naming("nights"), []*fleetv1.MaintenanceCalendar{nights, bound}, clusters...)
	for _, cu := range h.Upgrades {
		planned()(cu)
	}
	h.Policy.Spec.Limits = []fleetv1.Limit{{PerLabel: "site", Max: 3}}
	h.Freezes = []*fleetv1.Freeze{freeze("fleet", "fz", fleetv1.FreezeScope{Selector: selector("site", "site-9")})}
	h.Compiled = &observe.Calendars{}
	for b.Loop() {
		observe.Fleet(h)
	}
}

var zones = []string{
	"Europe/Berlin", "Europe/London", "Asia/Tokyo", "America/New_York", "America/Chicago", "America/Denver", "Asia/Kolkata",
	"Australia/Sydney", "Africa/Lagos", "Africa/Cairo", "America/Sao_Paulo", "Asia/Singapore",
}
