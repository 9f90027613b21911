// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"hash/fnv"
	"strconv"

	"k8s.io/apimachinery/pkg/types"
)

// spreadShare of a pause between attempts is added at most, so that machines that failed together do not try again
// together.
const spreadShare = 0.1

// Spread returns a number in [0, 1) that differs between machines and attempts and is always the same for one of them:
// every look, and every process, then names the same instant for the next attempt.
func Spread(machine types.UID, attempt int) float64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(string(machine) + "/" + strconv.Itoa(attempt))) // never fails
	return float64(h.Sum32()) / (1 << 32)
}
