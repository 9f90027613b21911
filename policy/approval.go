// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"cmp"
	"slices"
	"strings"
)

// approvals are the people who approve of a wave, by name, and why it must wait for more; nil: it need not. They are
// looked at before each start: an approval that expires, or a plan that is another, stops the next one.
func (b *board) approvals(wave int) (given []string, hold *Waiting) {
	w := &b.Waves[wave]
	var rejected *Approval
	words := b.words(w.Name)
	for i := range words {
		switch a := &words[i]; {
		case !a.Rejected:
			given = append(given, a.By)
		case rejected == nil:
			rejected = a
		}
	}
	switch {
	case w.Approvals <= 0:
		return given, nil
	case rejected != nil:
		hold = wait(ReasonApprovalRejected, "%s rejected wave %s", rejected.By, w.Name)
		if rejected.Reason != "" {
			hold.Message += ": " + rejected.Reason
		}
		return given, hold
	case len(given) >= w.Approvals:
		return given, nil
	}
	hold = wait(ReasonAwaitingApproval, "wave %s has %d of %d approvals of plan %s", w.Name, len(given), w.Approvals,
		b.Digest)
	if len(given) > 0 {
		hold.Message += ": of " + strings.Join(given, ", ")
	}
	return given, hold
}

// words are what counts for a wave and the plan as it stands: the newest word of each author, if it has not expired,
// by author. One that nobody vouched for, or of who asked for the change, is no word; one that has expired does not
// bring an older one back.
func (b *board) words(wave string) []Approval {
	var words []Approval
	for _, a := range b.Approvals {
		if a.Wave == wave && a.Digest == b.Digest && a.Verified && a.By != "" && a.By != b.RequestedBy {
			words = append(words, a)
		}
	}
	slices.SortStableFunc(words, func(x, y Approval) int {
		return cmp.Or(strings.Compare(x.By, y.By), y.At.Compare(x.At), compareRejected(x, y), strings.Compare(x.Name, y.Name))
	})
	words = slices.CompactFunc(words, func(x, y Approval) bool { return x.By == y.By })
	return slices.DeleteFunc(words, func(a Approval) bool {
		b.edge(a.ExpiresAt)
		return !a.ExpiresAt.IsZero() && !b.now.Before(a.ExpiresAt)
	})
}

// compareRejected puts a rejection before an approval of the same instant.
func compareRejected(x, y Approval) int {
	switch {
	case x.Rejected == y.Rejected:
		return 0
	case x.Rejected:
		return -1
	default:
		return 1
	}
}

// approved is whether the current wave has the approvals that it needs.
func approved(b *board, _ Cluster) *Waiting {
	_, hold := b.approvals(b.current)
	return hold
}
