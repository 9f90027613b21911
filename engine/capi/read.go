// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package capi

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// Status is a condition's status. The zero value is Unknown: what is absent is not known.
type Status string

// The statuses of a condition.
const (
	Unknown Status = ""
	True    Status = "True"
	False   Status = "False"
)

// reasonUpdating is that of a machine's condition UpToDate while its node has another version than the machine.
const reasonUpdating = "Updating"

// object reads paths of an unstructured object; a path that is absent or of another type reads as absent.
type object struct{ fields map[string]any }

func (o object) text(path ...string) string {
	s, _, err := unstructured.NestedString(o.fields, path...)
	if err != nil {
		return ""
	}
	return s
}

func (o object) count(path ...string) *int32 {
	n, found, err := unstructured.NestedInt64(o.fields, path...)
	if err != nil || !found {
		return nil
	}
	return new(int32(n))
}

// countOr reads a number, and another where the first is not served.
func (o object) countOr(path, older []string) *int32 {
	if n := o.count(path...); n != nil {
		return n
	}
	return o.count(older...)
}

// unseen reports whether a generation is newer than the one that status tells of; where it tells of none it is not.
func (o object) unseen(generation int64) bool {
	seen, found, err := unstructured.NestedInt64(o.fields, "status", "observedGeneration")
	return err == nil && found && seen < generation
}

// condition reads a condition by type. Members that serve v1beta1 keep today's conditions under status.v1beta2.
func (o object) condition(kind string) Status {
	s, _ := o.conditionAndReason(kind)
	return s
}

func (o object) conditionAndReason(kind string) (Status, string) {
	for _, path := range [...][]string{{"status", "v1beta2", "conditions"}, {"status", "conditions"}} {
		list, _, err := unstructured.NestedSlice(o.fields, path...)
		if err != nil {
			continue
		}
		if s, reason, found := find(list, kind); found {
			return s, reason
		}
	}
	return Unknown, ""
}

// specUpToDate reads a machine's condition UpToDate. Since v1.12 Cluster API says False, for the reason Updating, of one
// whose node runs another version than spec.version; its owner then says RollingOut and replaces nothing.
func (o object) specUpToDate() Status {
	s, reason := o.conditionAndReason("UpToDate")
	if s == False && reason == reasonUpdating && o.condition("Updating") != True {
		return True
	}
	return s
}

// conditionOr reads a condition, and another where the first is not served.
func (o object) conditionOr(kind, older string) Status {
	if s := o.condition(kind); s != Unknown {
		return s
	}
	return o.condition(older)
}

func find(conditions []any, kind string) (s Status, reason string, found bool) {
	for _, c := range conditions {
		fields, ok := c.(map[string]any)
		if !ok || fields["type"] != kind {
			continue
		}
		reason, _ = fields["reason"].(string)
		switch fields["status"] {
		case string(True):
			return True, reason, true
		case string(False):
			return False, reason, true
		}
		return Unknown, reason, true
	}
	return Unknown, "", false
}

func orZero(n *int32) int32 {
	if n == nil {
		return 0
	}
	return *n
}
