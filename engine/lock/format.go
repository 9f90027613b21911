// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package lock

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// encode writes the holders, of whom there is one at least, into a lock that so many may hold.
func encode(holders []Holder, allowed int) (map[string]string, error) {
	first := protocol.LockRecord{MachineName: holders[0].Name, MachineNamespace: holders[0].Namespace}
	data := map[string]string{protocol.LockDataKey: first.Format()}
	if allowed <= 1 {
		return data, nil
	}
	all, err := json.Marshal(holders)
	if err != nil {
		return nil, fmt.Errorf("writing the holders of a lock: %w", err)
	}
	data[HoldersDataKey] = string(all)
	return data, nil
}

// decode reads the holders. A lock of a cluster that was there before under the same name cannot be read: its holders
// are machines of that one.
func decode(config *corev1.ConfigMap, c capi.Cluster) ([]Holder, error) {
	for _, owner := range config.OwnerReferences {
		if owner.Kind == "Cluster" && owner.Name == c.Name && owner.UID != c.UID {
			return nil, fmt.Errorf("it belongs to a cluster %s with the UID %s, this one's is %s", c.Name, owner.UID, c.UID)
		}
	}
	if text, many := config.Data[HoldersDataKey]; many {
		return decodeMany(text, c.Namespace)
	}
	record, err := protocol.ParseLock(config.Data[protocol.LockDataKey])
	if err != nil {
		return nil, err
	}
	return []Holder{{
		Name: record.MachineName, Namespace: cmp.Or(record.MachineNamespace, c.Namespace),
		UID: marked(config, record.MachineName),
	}}, nil
}

func decodeMany(text, namespace string) ([]Holder, error) {
	var holders []Holder
	if err := json.Unmarshal([]byte(text), &holders); err != nil {
		return nil, fmt.Errorf("%s %q: %w", HoldersDataKey, text, err)
	}
	if len(holders) == 0 || slices.ContainsFunc(holders, func(h Holder) bool { return h.Name == "" }) {
		return nil, fmt.Errorf("%s %q: no machine name", HoldersDataKey, text)
	}
	for i := range holders {
		holders[i].Namespace = cmp.Or(holders[i].Namespace, namespace)
	}
	return holders, nil
}

// mark says which machine of its name the first holder is.
func mark(config *corev1.ConfigMap, h Holder) {
	if h.UID == "" {
		delete(config.Annotations, MachineKey)
		return
	}
	metav1.SetMetaDataAnnotation(&config.ObjectMeta, MachineKey, h.Name+"/"+string(h.UID))
}

// marked is the UID of the holder of that name; empty where the mark is absent or of another machine.
func marked(config *corev1.ConfigMap, name string) types.UID {
	machine, uid, _ := strings.Cut(config.Annotations[MachineKey], "/")
	if machine != name {
		return ""
	}
	return types.UID(uid)
}
