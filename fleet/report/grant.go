// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy/cluster"
)

// retired are the owners, by ID, whose release was taken off, or is about to be.
func retired(owners []fleetv1.OwnerProgress, l Look) map[string]fleetv1.OwnerProgress {
	rows := map[string]fleetv1.OwnerProgress{}
	for _, o := range owners {
		if o.PreviousRelease != "" {
			rows[o.Kind+"/"+o.Name] = fleetv1.OwnerProgress{
				Kind: o.Kind, Name: o.Name, Role: o.Role, PreviousRelease: o.PreviousRelease,
			}
		}
	}
	if l.Step.Action != cluster.RetireOwner {
		return rows
	}
	for _, s := range l.Standing {
		if s.ID != l.Step.Owner || s.Release == "" {
			continue
		}
		kind, name, _ := strings.Cut(s.ID, "/")
		row := fleetv1.OwnerProgress{
			Kind: kind, Name: name, Role: fleetv1.RoleControlPlane,
			PreviousRelease: fleetv1.BoundTo(fleetv1.MaxText, s.Release),
		}
		if kind == "MachineDeployment" {
			row.Role = fleetv1.RoleWorkers
		}
		rows[s.ID] = row
	}
	return rows
}

// remember stores what is to be remembered of a machine that was granted by itself.
func remember(row *fleetv1.MachineProgress, records map[string]cluster.Record) {
	r, found := records[row.Name]
	if !found {
		return
	}
	row.Attempts = max(row.Attempts, int32(r.Attempts))
	row.LastError = fleetv1.Bound(r.LastError)
	row.Grant = &fleetv1.MachineGrant{
		At: metav1.NewTime(r.At), From: r.From, Seen: r.Seen, ChangeIDs: r.ChangeIDs, Attempts: int32(r.Attempts),
		Put: int32(r.Put), BlindSince: optional(r.BlindSince), Failures: int32(r.Failures), FailedAt: optional(r.FailedAt),
		LastError: fleetv1.Bound(r.LastError),
	}
}

func optional(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return new(metav1.NewTime(t))
}
