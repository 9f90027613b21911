// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

// Why something waits for the clock, for a person, or for others.
const (
	// ReasonWindowClosed: a calendar that applies to the cluster is closed (law 9).
	ReasonWindowClosed = "WindowClosed"
	// ReasonDoesNotFit: the calendars are open, and what is left of the opening is too short for a machine (law 10).
	ReasonDoesNotFit = "DoesNotFit"
	// ReasonWindowTooShort: no opening within a year is long enough for a machine (law 10).
	ReasonWindowTooShort = "WindowTooShort"
	// ReasonCalendarNotFound: a calendar that the policy names does not exist, which is closed (law 9).
	ReasonCalendarNotFound = "CalendarNotFound"
	// ReasonCalendarInvalid: a calendar cannot be read, which is closed (law 9).
	ReasonCalendarInvalid = "CalendarInvalid"
	// ReasonTimeZoneMissing: a calendar takes the time zone of the cluster, which has none.
	ReasonTimeZoneMissing = "TimeZoneMissing"
	// ReasonFrozen: a Freeze stops it (law 22).
	ReasonFrozen = "Frozen"
	// ReasonWouldNotFinishBeforeFreeze: it would not be done in its windows before a Freeze that is known (law 10).
	ReasonWouldNotFinishBeforeFreeze = "WouldNotFinishBeforeFreeze"
	// ReasonAwaitingApproval: the wave needs the word of more people.
	ReasonAwaitingApproval = "AwaitingApproval"
	// ReasonApprovalRejected: a person said no.
	ReasonApprovalRejected = "ApprovalRejected"
	// ReasonSoaking: the wave before is watched for as long as its soakDuration (law 8).
	ReasonSoaking = "Soaking"
	// ReasonSoakStopped: the health of a cluster that soaks is not known, or it is not healthy (law 8).
	ReasonSoakStopped = "SoakStopped"
	// ReasonGroupLimit: as many clusters are in flight in its management cluster, or with its label, as limits allow.
	ReasonGroupLimit = "GroupLimit"
	// ReasonBudgetReserved: if all that is in flight failed, one more failure would exceed the budget (law 6).
	ReasonBudgetReserved = "BudgetReserved"
	// ReasonOutranked: another policy of higher priority, or an older one, wants the cluster now.
	ReasonOutranked = "Outranked"
	// ReasonMaxUnknown: more clusters in flight cannot be seen than unreachable.maxUnknown (law 14).
	ReasonMaxUnknown = "MaxUnknown"
	// ReasonHubIsolated: more than half of the management clusters fell silent at once: the hub is cut off (law 14).
	ReasonHubIsolated = "HubIsolated"
	// ReasonDeadlineExceeded: a wave was not complete by its deadline (law 13).
	ReasonDeadlineExceeded = "DeadlineExceeded"
	// ReasonCanaryTimedOut: the canaries were not through by their deadline (law 7).
	ReasonCanaryTimedOut = "CanaryTimedOut"
	// ReasonCatchingUp: the waves are through, and clusters that were put off are being upgraded.
	ReasonCatchingUp = "CatchingUp"
	// ReasonNotCaughtUp: catch-up is over, and some clusters that were put off were never upgraded.
	ReasonNotCaughtUp = "NotCaughtUp"
	// ReasonControllerDown: the hub did not run while a window was open.
	ReasonControllerDown = "ControllerDown"
)

// Why a cluster is Deferred.
const (
	// ReasonUnreachable: its management cluster was silent when its turn came.
	ReasonUnreachable = "Unreachable"
	// ReasonDeferredByOwner: its owner put it off, by defer-until or hold.
	ReasonDeferredByOwner = "DeferredByOwner"
)
