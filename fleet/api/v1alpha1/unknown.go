// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"sigs.k8s.io/json"
)

// shownUnknown bounds the misspelt fields that a message names.
const shownUnknown = 5

var index = regexp.MustCompile(`\[[0-9]+\]`)

// UnmarshalJSON reads a spec and keeps the paths of the fields that it does not know in Unknown.
func (s *RolloutPolicySpec) UnmarshalJSON(data []byte) error {
	type plain RolloutPolicySpec
	s.Unknown = decode(data, (*plain)(s))
	return nil
}

// UnmarshalJSON reads a spec and keeps the paths of the fields that it does not know in Unknown.
func (s *ManagementClusterSpec) UnmarshalJSON(data []byte) error {
	type plain ManagementClusterSpec
	s.Unknown = decode(data, (*plain)(s))
	return nil
}

// UnmarshalJSON reads a spec and keeps the paths of the fields that it does not know in Unknown.
func (s *MaintenanceCalendarSpec) UnmarshalJSON(data []byte) error {
	type plain MaintenanceCalendarSpec
	s.Unknown = decode(data, (*plain)(s))
	return nil
}

// UnmarshalJSON reads a spec and keeps the paths of the fields that it does not know in Unknown.
func (s *FreezeSpec) UnmarshalJSON(data []byte) error {
	type plain FreezeSpec
	s.Unknown = decode(data, (*plain)(s))
	return nil
}

// UnmarshalJSON reads a spec and keeps the paths of the fields that it does not know in Unknown.
func (s *ApprovalSpec) UnmarshalJSON(data []byte) error {
	type plain ApprovalSpec
	s.Unknown = decode(data, (*plain)(s))
	return nil
}

// WhyUnknown says which fields of the policy are unknown, and where the accepted ones are listed; "" when none is.
func (s *RolloutPolicySpec) WhyUnknown() string { return why("rolloutpolicy", s.Unknown) }

// WhyUnknown says which fields of the ManagementCluster are unknown, and where the accepted ones are listed; "" when
// none is.
func (s *ManagementClusterSpec) WhyUnknown() string { return why("managementcluster", s.Unknown) }

// WhyUnknown says which fields of the MaintenanceCalendar are unknown, and where the accepted ones are listed; "" when none is.
func (s *MaintenanceCalendarSpec) WhyUnknown() string { return why("maintenancecalendar", s.Unknown) }

// WhyUnknown says which fields of the Freeze are unknown, and where the accepted ones are listed; "" when none is.
func (s *FreezeSpec) WhyUnknown() string { return why("freeze", s.Unknown) }

// WhyUnknown says which fields of the Approval are unknown, and where the accepted ones are listed; "" when none is.
func (s *ApprovalSpec) WhyUnknown() string { return why("approval", s.Unknown) }

// UnreadablePrefix begins the entry of Unknown for a value that cannot be read; the fields after it may be missing, too.
const UnreadablePrefix = "spec: "

// decode reads JSON as the API server does, names case-sensitive, and returns the paths below spec that into lacks. A value
// that cannot be read is an entry, too: an error would keep every object of the kind from being listed.
func decode(data []byte, into any) []string {
	misspelt, err := json.UnmarshalStrict(data, into, json.DisallowUnknownFields)
	var paths []string
	if err != nil {
		paths = append(paths, UnreadablePrefix+err.Error())
	}
	for _, one := range misspelt {
		var field json.FieldError
		if errors.As(one, &field) {
			paths = append(paths, "spec."+field.FieldPath())
		}
	}
	return paths
}

func why(kind string, unknown []string) string {
	if len(unknown) == 0 {
		return ""
	}
	first := unknown[0]
	if text, is := strings.CutPrefix(first, UnreadablePrefix); is {
		return fmt.Sprintf("spec cannot be read: %s; accepted: what kubectl explain %s.spec says", text, kind)
	}
	parent := index.ReplaceAllString(first[:strings.LastIndex(first, ".")], "")
	text := fmt.Sprintf("unknown field %s; accepted: what kubectl explain %s.%s lists",
		strings.Join(unknown[:min(len(unknown), shownUnknown)], ", "), kind, parent)
	if more := len(unknown) - shownUnknown; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}
