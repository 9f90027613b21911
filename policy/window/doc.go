// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package window says when maintenance is allowed: openness is a pure function of calendars and an instant (law 9).
//
// A calendar is a union of recurring windows minus exclusions, in one time zone. Windows are half-open and last for
// elapsed time. Starts are wall-clock times of local dates: one occurrence for each date and time of a schedule, at the
// first pass of a time that the clock shows twice, and at the time shifted by the gap where the clock skips it.
//
//	Spec ──Compile──▶ Calendar ──NewSet──▶ Set ──▶ Open, ClosesAt, Next, Fits, Pack
//
// Nothing here reads the clock. Zone data is embedded, for machines that have none. All instants given back are in UTC.
package window
