// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-dev/windlass/cmd/windlass/spelling"
)

// namesShown bounds the names that an error offers.
const namesShown = 5

// UnknownPolicyError says that no policy has the name asked for.
type UnknownPolicyError struct {
	// Policy asked for, in Namespace; an empty one stands for all.
	Policy, Namespace string
	// Known names, in any order.
	Known []string
}

// Error names the policy, where it was looked for and what would be accepted: the closest names first.
func (e *UnknownPolicyError) Error() string {
	where := "in any namespace"
	if e.Namespace != "" {
		where = fmt.Sprintf("in namespace %q", e.Namespace)
	}
	text := fmt.Sprintf("no RolloutPolicy is called %q %s", e.Policy, where)
	names := e.closest()
	switch {
	case len(names) == 0:
		return text + ": there is none there; choose another with --namespace, or --all-namespaces"
	case spelling.Distance(e.Policy, names[0]) <= max(2, len(e.Policy)/3):
		return fmt.Sprintf("%s; did you mean %q? Known: %s", text, names[0], e.list(names))
	}
	return fmt.Sprintf("%s; give one of %s, or none for all", text, e.list(names))
}

func (e *UnknownPolicyError) list(names []string) string {
	shown := strings.Join(names[:min(len(names), namesShown)], ", ")
	if more := len(names) - namesShown; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	return shown
}

func (e *UnknownPolicyError) closest() []string {
	names := slices.Compact(slices.Sorted(slices.Values(e.Known)))
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Compare(spelling.Distance(e.Policy, a), spelling.Distance(e.Policy, b))
	})
	return names
}
