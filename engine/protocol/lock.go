// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import "fmt"

// LockDataKey is the key of the lock's ConfigMap under which the holder stands.
const LockDataKey = "lock-information"

// LockName is the name of the ConfigMap that locks a cluster's control plane.
func LockName(cluster string) string { return cluster + "-cp-inplace-upgrade-lock" }

// LockRecord names the machine that holds the lock. Its JSON has these two fields in this order, byte for byte as
// the existing controllers write it.
type LockRecord struct {
	MachineName      string `json:"machineName"`
	MachineNamespace string `json:"machineNamespace"`
}

// ParseLock reads a lock record; an absent or nameless one is an error.
func ParseLock(text string) (LockRecord, error) {
	var r LockRecord
	if err := parse(LockDataKey, text, &r); err != nil {
		return LockRecord{}, err
	}
	if r.MachineName == "" {
		return LockRecord{}, fmt.Errorf("%s %q: no machine name; accepted: {\"machineName\":…,\"machineNamespace\":…}",
			LockDataKey, text)
	}
	return r, nil
}

// Format writes the record as the ConfigMap carries it.
func (r LockRecord) Format() string { return format(r) }
