// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/policy/cluster"
)

func verdict(v capi.Verdict) cluster.Verdict {
	return cluster.Verdict{Status: cluster.Status(v.Status), Message: v.Message}
}

// replicas of an owner that does not say how many is one, as the API server defaults it.
func replicas(n *int32) int {
	if n == nil {
		return 1
	}
	return int(*n)
}

// duration reads an optional duration.
func duration(d *metav1.Duration, absent time.Duration) time.Duration {
	if d == nil {
		return absent
	}
	return d.Duration
}

// instant reads an optional time.
func instant(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}
